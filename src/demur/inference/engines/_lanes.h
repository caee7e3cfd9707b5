/* The computation for 16 replicates at a time. _kernel.c includes this file once per instruction set, with SET its name and
 * WIDE the replicates in one of its vectors:
 * no include guard, and every name that is not static to a function has the set in it.
 */
#define JOIN_(name, set) name##_##set
#define JOIN(name, set) JOIN_(name, set)
#define OF(name) JOIN(name, SET)

#define GOLDEN 0x9E3779B97F4A7C15u
#define DRAWN_AT_ONCE 256

static inline uint64_t OF(mix)(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* The upper 64 bits of word x factor, for a factor below 2^31: no part overflows. */
static inline uint64_t OF(upper)(uint64_t word, uint64_t factor) {
    return ((word >> 32) * factor + (((word & 0xFFFFFFFFu) * factor) >> 32)) >> 32;
}

/* One replicate: how often each cluster is drawn, as draws.py says. Which ones are drawn does not depend on one another,
 * and is worked out for many at once.
 */
static int OF(draw_row)(uint64_t key, int64_t clusters, uint8_t *row) {
    int exceeded = 0;
    uint64_t drawn[DRAWN_AT_ONCE];
    memset(row, 0, (size_t)clusters);
    for (int64_t i = 0; i < clusters; i += DRAWN_AT_ONCE) {
        int64_t n = clusters - i < DRAWN_AT_ONCE ? clusters - i : DRAWN_AT_ONCE;
        for (int64_t j = 0; j < n; j++)
            drawn[j] = OF(upper)(OF(mix)(key + (uint64_t)(i + j + 1) * GOLDEN), (uint64_t)clusters);
        for (int64_t j = 0; j < n; j++) exceeded |= ++row[drawn[j]] == 0;
    }
    return exceeded;
}

/* Row by row, so that the clusters of one replicate stay near the processor, and then turned to lanes side by side. */
static int OF(draw)(uint64_t seed, uint64_t first, int64_t n, int64_t clusters, uint8_t *rows, uint8_t *out) {
    uint64_t start = OF(mix)(seed + GOLDEN);
    int exceeded = 0;
    for (int64_t done = 0; done < n; done += LANES, out += clusters * LANES) {
        for (int64_t lane = 0; lane < LANES; lane++) {
            uint8_t *row = rows + lane * clusters;
            uint64_t replicate = first + (uint64_t)(done + lane);
            if (done + lane < n) exceeded |= OF(draw_row)(OF(mix)(start + (replicate + 1) * GOLDEN), clusters, row);
            else memset(row, 0, (size_t)clusters);
        }
        for (int64_t cluster = 0; cluster < clusters; cluster++)
            for (int64_t lane = 0; lane < LANES; lane++) out[cluster * LANES + lane] = rows[lane * clusters + cluster];
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
