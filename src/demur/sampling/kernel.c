/* The compiled engine: draws, running sums, areas with their influences, sums of squares; eight replicates at a time.
 *
 * An array of replicates is in tiles, [group][row][8]. Row 0 of running sums is 0. The file is compiled once for each
 * instruction set; all of them add and multiply in the same order, and give the same bits.
 */
#include <stdint.h>
#include <string.h>

#define LANES 8
#ifdef __AVX512F__
#define WIDE 8 /* replicates that one instruction processes; vectors wider than that are compiled badly */
#elif defined __AVX2__
#define WIDE 4
#else
#define WIDE 2
#endif
#define MOST 64 /* terms and numbers of one call of `squares`, areas of one call of `influences` */

typedef double vec __attribute__((vector_size(8 * WIDE)));
typedef int64_t mask __attribute__((vector_size(8 * WIDE)));
typedef uint8_t bytes __attribute__((vector_size(WIDE)));

#define EACH_VECTOR(groups) for (int64_t v = 0; v < (groups) * LANES; v += WIDE) /* in group v / 8, at lane v % 8 */
#define TILE(array, rows) ((array) + v / LANES * (rows) * LANES + v % LANES)

static inline vec load(const double *from) { vec x; memcpy(&x, from, sizeof x); return x; }
static inline void store(double *to, vec x) { memcpy(to, &x, sizeof x); }
static inline vec drawn(const uint8_t *from) { bytes x; memcpy(&x, from, sizeof x); return __builtin_convertvector(x, vec); }
static inline vec where(mask m, vec yes, vec no) { return (vec)((m & (mask)yes) | (~m & (mask)no)); }
static inline vec at_least_1(vec x) { return where(x > 1, x, (vec){0} + 1); }

static inline uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

int interface(void) { return 1; } /* another number wherever a function changes what it takes */

const char *compiler(void) { return __VERSION__; }

/* The widest instructions of this processor, as numbers of replicates. */
int widest(void) {
#if defined __x86_64__ && defined __GNUC__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return 8;
    if (__builtin_cpu_supports("avx2")) return 4;
#endif
    return 2;
}

/* How often each cluster is drawn in replicates from `first` on; whether one is drawn more than 255 times. */
int draw(uint64_t seed, int64_t first, int64_t replicates, int64_t clusters, uint8_t *w) {
    const uint64_t golden = 0x9E3779B97F4A7C15u;
    int exceeded = 0;
    for (int64_t b = 0; b < replicates; b++) {
        uint64_t key = mix(mix(seed + golden) + (uint64_t)(first + b + 1) * golden);
        uint8_t *column = w + b / LANES * clusters * LANES + b % LANES;
        for (int64_t i = 1; i <= clusters; i++) {
            uint64_t chosen = (uint64_t)((unsigned __int128)mix(key + (uint64_t)i * golden) * (uint64_t)clusters >> 64);
            exceeded |= ++column[chosen * LANES] == 0;
        }
    }
    return exceeded;
}

/* Sums over the clusters of each replicate of a number per cluster. */
void totals(int64_t clusters, int64_t groups, const uint8_t *w, const double *numbers, double *out) {
    EACH_VECTOR(groups) {
        const uint8_t *lanes = TILE(w, clusters);
        vec total = {0};
        for (int64_t p = 0; p < clusters; p++) total += drawn(lanes + p * LANES) * numbers[p];
        store(out + v, total);
    }
}

/* The entries of step j, from 1 on, are begin[j - 1] to begin[j]. */
struct steps {
    int64_t steps, clusters;
    const int64_t *begin;
    const int32_t *cluster;
    const double *count, *loss;
};

void running_sums(const struct steps *s, int64_t groups, const uint8_t *w, double *k, double *L) {
    EACH_VECTOR(groups) {
        const uint8_t *lanes = TILE(w, s->clusters);
        double *to_k = TILE(k, s->steps + 1), *to_L = TILE(L, s->steps + 1);
        vec count = {0}, loss = {0};
        store(to_k, count);
        store(to_L, loss);
        for (int64_t j = 1; j <= s->steps; j++) {
            for (int64_t i = s->begin[j - 1]; i < s->begin[j]; i++) {
                vec times = drawn(lanes + (int64_t)s->cluster[i] * LANES);
                count += times * s->count[i];
                loss += times * s->loss[i];
            }
            store(to_k + j * LANES, count);
            store(to_L + j * LANES, loss);
        }
    }
}

/* The first point with at least so many answers, from 1; one more than there are points where there is none. A search
 * begins where the one before it, in the row above, has ended. */
void reach(int64_t points, int64_t groups, const double *k, int64_t rows, const double *need, int64_t *index) {
    for (int64_t b = 0; b < groups * LANES; b++) {
        const double *column = k + b / LANES * (points + 1) * LANES + b % LANES;
        int64_t low = 1;
        for (int64_t row = 0; row < rows; row++) {
            double least = need[row * groups * LANES + b];
            if (low > 1 && column[(low - 1) * LANES] >= least) low = 1;
            int64_t high = low, step = rows > 1 ? 1 : points;
            while (high <= points && column[high * LANES] < least) low = high + 1, high += step, step *= 2;
            if (high > points) high = points + 1;
            while (low < high) {
                int64_t middle = (low + high) / 2;
                if (column[middle * LANES] < least) low = middle + 1;
                else high = middle;
            }
            index[row * groups * LANES + b] = low;
        }
    }
}

/* Answers and losses at some points; beyond the last one, those at the last. */
void at_points(int64_t points, int64_t groups, const double *k, const double *L, int64_t rows, const int64_t *index,
               double *count, double *loss) {
    for (int64_t i = 0; i < rows * groups * LANES; i++) {
        int64_t b = i % (groups * LANES), j = index[i] < points ? index[i] : points;
        int64_t place = (b / LANES * (points + 1) + j) * LANES + b % LANES;
        count[i] = k[place];
        loss[i] = L[place];
    }
}

/* Where areas end: the point after the end, the end, the height there, what the points on the left and on the right of
 * it count, and the derivative by an answer added at the latter. */
struct cut { const double *index, *end, *height, *left, *right, *by_count; int64_t selective; };

static inline vec inverse_of(vec k) { return 1 / at_least_1(k); }

/* Areas up to a cut: the sum of heights times half the width around each point. */
void area(int64_t steps, int64_t groups, const double *k, const double *L, const struct cut *c, double *value) {
    EACH_VECTOR(groups) {
        const double *from_k = TILE(k, steps + 1), *from_L = TILE(L, steps + 1);
        vec index = load(c->index + v), left = load(c->left + v), right = load(c->right + v), zero = {0};
        vec total = zero, before = zero, kj = zero, Lj = zero;
        for (int64_t j = 0; j <= steps; j++) {
            vec next_k = j < steps ? load(from_k + (j + 1) * LANES) : kj, next_L = j < steps ? load(from_L + (j + 1) * LANES) : Lj;
            vec here = zero + (double)j, width = 0.5 * (next_k - before), height = Lj;
            if (c->selective) {
                width += where((before == zero) & (kj > zero), 0.5 * kj, zero);
                width *= inverse_of(kj);
            }
            width += where(here + 1 == index, left, zero);
            total += where(here < index, width, where(here == index, right, zero)) * height;
            before = kj, kj = next_k, Lj = next_L;
        }
        store(value + v, total);
    }
}

/* Influences of the clusters on several areas of one line, from the last point to the first, as what is added at a point
 * counts there and at all later ones. Compiled for each small number of areas, so that their sums stay in registers. */
static inline __attribute__((always_inline)) void backward(const struct steps *s, int64_t v, const double *k,
        const double *L, const int64_t areas, const struct cut *cuts, double *to) {
    const vec zero = {0};
    vec Q[MOST], R[MOST], a[MOST], b[MOST];
    int inside[MOST], selective = 0;
    for (int64_t m = 0; m < areas; m++) {
        Q[m] = R[m] = zero;
        inside[m] = 0;
        selective |= cuts[m].selective != 0;
        for (int lane = 0; lane < WIDE; lane++) inside[m] |= cuts[m].index[v + lane] <= (double)s->steps;
    }
    vec kj = load(k + s->steps * LANES), Lj = load(L + s->steps * LANES), after = kj;
    vec inverse = selective ? inverse_of(kj) : zero;
    for (int64_t j = s->steps; j > 0; j--) {
        vec k0 = load(k + (j - 1) * LANES), L0 = load(L + (j - 1) * LANES), inverse0 = zero;
        vec risk = zero, middle = zero, weight = zero, here = zero + (double)j;
        if (selective) {
            mask first = k0 == zero;
            inverse0 = inverse_of(k0);
            risk = Lj * inverse;
            middle = where(first, risk, 0.5 * (risk + L0 * inverse0));
            weight = 0.5 * (after - k0 + where(first, kj, zero)) * inverse;
        }
        for (int64_t m = 0; m < areas; m++) {
            const struct cut *c = cuts + m;
            vec height = load(c->height + v);
            if (c->selective && !inside[m]) {
                Q[m] += weight;
                R[m] += weight * risk;
                a[m] = middle - height - R[m];
                b[m] = Q[m];
                continue;
            }
            vec index = load(c->index + v), right = load(c->right + v);
            mask at = here == index, before = here < index;
            if (c->selective) {
                vec q = weight + where(here + 1 == index, load(c->left + v), zero);
                Q[m] = where(at, right, where(before, Q[m] + q, Q[m]));
                R[m] = where(at, right * risk, where(before, R[m] + q * risk, R[m]));
                a[m] = middle - height - R[m];
                b[m] = Q[m];
            } else {
                a[m] = 0.5 * (Lj + L0) - height;
                b[m] = load(c->end + v) - 0.5 * (kj + k0);
                if (!inside[m]) continue;
            }
            a[m] = where(at, load(c->by_count + v), where(before, a[m], zero));
            b[m] = where(at, right, where(before, b[m], zero));
        }
        for (int64_t i = s->begin[j - 1]; i < s->begin[j]; i++) {
            double *cell = to + (int64_t)s->cluster[i] * areas * LANES;
            for (int64_t m = 0; m < areas; m++, cell += LANES)
                store(cell, load(cell) + a[m] * s->count[i] + b[m] * s->loss[i]);
        }
        after = kj, kj = k0, Lj = L0, inverse = inverse0;
    }
}

/* Influences on several areas, [group][cluster][area][8]. */
void influences(const struct steps *s, int64_t groups, const double *k, const double *L, int64_t areas,
                const struct cut *cuts, double *u) {
    memset(u, 0, sizeof *u * (size_t)(groups * s->clusters * areas * LANES));
    EACH_VECTOR(groups) {
        const double *from_k = TILE(k, s->steps + 1), *from_L = TILE(L, s->steps + 1);
        double *to = u + v / LANES * s->clusters * areas * LANES + v % LANES;
        switch (areas) {
        case 1: backward(s, v, from_k, from_L, 1, cuts, to); break;
        case 2: backward(s, v, from_k, from_L, 2, cuts, to); break;
        case 3: backward(s, v, from_k, from_L, 3, cuts, to); break;
        case 4: backward(s, v, from_k, from_L, 4, cuts, to); break;
        default: backward(s, v, from_k, from_L, areas, cuts, to);
        }
    }
}

static inline vec looked_up(const double *table, vec k) {
    vec x;
    for (int lane = 0; lane < WIDE; lane++) x[lane] = table[(int64_t)k[lane]];
    return x;
}

/* The area under the mean loss with every unit a point, along steps of equal loss; the influences of the clusters
 * [group][cluster][8], unless they are not wanted, and their sums. Tables have harmonic numbers and the trigamma function. */
void by_unit(const struct steps *s, int64_t groups, const double *k, const double *L, const double *level,
             const double *harmonic, const double *trigamma, double *value, double *sum, double *u) {
    if (u) memset(u, 0, sizeof *u * (size_t)(groups * s->clusters * LANES));
    EACH_VECTOR(groups) {
        const double *from_k = TILE(k, s->steps + 1), *from_L = TILE(L, s->steps + 1);
        double *to = u ? TILE(u, s->clusters) : 0;
        const vec zero = {0}, one = zero + 1;
        vec kj = load(from_k + s->steps * LANES), Lj = load(from_L + s->steps * LANES);
        vec over = at_least_1(kj), mean = Lj / over, h = looked_up(harmonic, kj), t = looked_up(trigamma, kj);
        vec last = h, later = zero, risks = zero, total = zero, lowest = mean;
        for (int64_t j = s->steps; j > 0; j--) {
            vec k0 = load(from_k + (j - 1) * LANES), L0 = load(from_L + (j - 1) * LANES);
            vec h0 = looked_up(harmonic, k0), t0 = looked_up(trigamma, k0), width = kj - k0;
            vec rise = where(width == one, 1 / at_least_1(kj), h - h0), below = L0 - level[j - 1] * k0;
            later += level[j - 1] + below * t;
            vec by_count = later + level[j - 1] * (last - h) + (mean - level[j - 1]) / (2 * over);
            later -= level[j - 1] * (1 + rise) + below * t0;
            risks += level[j - 1] * width + below * rise;
            total += by_count * width;
            lowest = where(width > zero, zero + level[j - 1], lowest);
            for (int64_t i = s->begin[j - 1]; u && i < s->begin[j]; i++) {
                double *cell = to + (int64_t)s->cluster[i] * LANES;
                store(cell, load(cell) + by_count * s->count[i]);
            }
            kj = k0, Lj = L0, h = h0, t = t0;
        }
        store(value + v, risks + 0.5 * (lowest - mean));
        store(sum + v, total);
    }
}

/* Influences on a term: a row of 8 per cluster, `apart` doubles from one to the next, or one number per cluster. */
struct term { const double *numbers; int64_t apart, single; };

/* Sums over clusters of w (sum of factor x term)^2 for several numbers; number m has the factors begin[m] ... of the
 * terms which[...]. */
void squares(int64_t clusters, int64_t groups, const uint8_t *w, int64_t terms, const struct term *term,
             int64_t numbers, const int64_t *begin, const int64_t *which, const double *factor, double *out) {
    vec x[MOST], total[MOST];
    EACH_VECTOR(groups) {
        const uint8_t *lanes = TILE(w, clusters);
        memset(total, 0, sizeof total);
        for (int64_t p = 0; p < clusters; p++) {
            vec times = drawn(lanes + p * LANES);
            for (int64_t t = 0; t < terms; t++)
                x[t] = term[t].single ? (vec){0} + term[t].numbers[p]
                                      : load(term[t].numbers + (v / LANES * clusters + p) * term[t].apart + v % LANES);
            for (int64_t m = 0; m < numbers; m++) {
                vec u = {0};
                for (int64_t i = begin[m]; i < begin[m + 1]; i++) u += load(factor + i * groups * LANES + v) * x[which[i]];
                total[m] += times * u * u;
            }
        }
        for (int64_t m = 0; m < numbers; m++) store(out + m * groups * LANES + v, total[m]);
    }
}
