/* The computation for 16 replicates at a time. _kernel.c includes this file once per instruction set, with SET its name and
 * WIDE the replicates in one of its vectors:
 * no include guard, and every name that is not static to a function has the set in it.
 */
#define JOIN_(name, set) name##_##set
#define JOIN(name, set) JOIN_(name, set)
#define OF(name) JOIN(name, SET)

#define GOLDEN 0x9E3779B97F4A7C15u
#define DRAWN_AT_ONCE 64

static inline uint64_t OF(mix)(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* The upper 64 bits of word x factor, for a factor below 2^31: no part overflows. */
static inline uint64_t OF(upper)(uint64_t word, uint64_t factor) {
    return ((word >> 32) * factor + (((word & 0xFFFFFFFFu) * factor) >> 32)) >> 32;
}

/* Where in a block the clusters are that some draws of a lane are of, as draws.py says. No draw depends on another, and many
 * are worked out at once.
 */
static inline void OF(draws)(uint64_t key, int64_t from, int64_t n, int64_t clusters, int64_t lane, uint32_t *to) {
    for (int64_t j = 0; j < n; j++) {
        uint64_t drawn = OF(upper)(OF(mix)(key + (uint64_t)(from + j + 1) * GOLDEN), (uint64_t)clusters);
        to[j] = (uint32_t)drawn * LANES + (uint32_t)lane;
    }
}

/* The replicates of a block, which draw in turn: a number that was just counted up is not at hand for some time, and it
 * is rarely the one that the next draw needs if that is another replicate's.
 */
static void OF(draw_block)(const uint64_t *keys, int64_t lanes, int64_t clusters, uint8_t *out) {
    uint32_t drawn[LANES][DRAWN_AT_ONCE];
    memset(out, 0, (size_t)(clusters * LANES));
    for (int64_t i = 0; i < clusters; i += DRAWN_AT_ONCE) {
        int64_t n = clusters - i < DRAWN_AT_ONCE ? clusters - i : DRAWN_AT_ONCE;
        for (int64_t lane = 0; lane < lanes; lane++) OF(draws)(keys[lane], i, n, clusters, lane, drawn[lane]);
        if (lanes == LANES)
            for (int64_t j = 0; j < n; j++)
                for (int64_t lane = 0; lane < LANES; lane++) out[drawn[lane][j]]++;
        else
            for (int64_t j = 0; j < n; j++)
                for (int64_t lane = 0; lane < lanes; lane++) out[drawn[lane][j]]++;
    }
}

/* 1 if a number exceeded a byte, and began again at 0: the numbers of a replicate add up to the clusters. */
static int OF(draw)(uint64_t seed, uint64_t first, int64_t n, int64_t clusters, uint8_t *out) {
    uint64_t start = OF(mix)(seed + GOLDEN), keys[LANES];
    int exceeded = 0;
    for (int64_t done = 0; done < n; done += LANES, out += clusters * LANES) {
        int64_t lanes = n - done < LANES ? n - done : LANES;
        for (int64_t lane = 0; lane < lanes; lane++)
            keys[lane] = OF(mix)(start + (first + (uint64_t)(done + lane) + 1) * GOLDEN);
        OF(draw_block)(keys, lanes, clusters, out);
        uint32_t counted = (uint32_t)(lanes * clusters);
        for (int64_t i = 0; clusters > UINT8_MAX && i < clusters * LANES; i++) counted -= out[i];
        exceeded |= clusters > UINT8_MAX && counted != 0;
    }
    return exceeded;
}

#include "_sweep.h"

static const struct entries OF(entries) = {
    .draw = OF(draw),
    .sums = OF(sums),
    .sweep = OF(sweep),
    .reach = OF(reach),
    .find = OF(find),
    .oracle = OF(oracle),
    .influences = OF(influences),
};

#undef GOLDEN
#undef DRAWN_AT_ONCE
#undef OF
#undef JOIN
#undef JOIN_
