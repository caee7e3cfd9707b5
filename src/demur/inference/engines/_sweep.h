/* Sums over the steps of a table (plateaus of confidence, or levels of loss) in many replicates at once.
 *
 * A vector holds WIDE replicates side by side, and one call goes through all steps with WIDE replicates of a block
 * before it turns to the next. Every sum is added in the order of the entries, as the numpy engine adds it. Nothing is
 * contracted or reordered: only -0 and 0 may change places, where a sum of nothing is 0.
 */
typedef double OF(vector) __attribute__((vector_size(8 * WIDE)));
typedef int64_t OF(mask) __attribute__((vector_size(8 * WIDE)));
#define vec OF(vector)
#define mask OF(mask)

/* How often the replicates hold a cluster. Compilers take bytes to doubles one by one if they are not told otherwise. */
static inline vec OF(weight)(const uint8_t *lanes, int32_t cluster) {
    const uint8_t *drawn = lanes + (int64_t)cluster * LANES;
#if WIDE == 8
    return (vec)_mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)drawn)));
#elif WIDE == 4
    int bytes;
    memcpy(&bytes, drawn, sizeof bytes);
    return (vec)_mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(bytes)));
#else
    return (vec){drawn[0], drawn[1]};
#endif
}

static inline vec OF(load)(const double *from) {
    vec values;
    memcpy(&values, from, sizeof values);
    return values;
}

static inline void OF(store)(double *to, vec values) { memcpy(to, &values, sizeof values); }

/* The values of n replicates; 0 in lanes that no replicate is in. Those of the next group, in more arrays than processors
 * foresee, are asked for meanwhile.
 */
static inline vec OF(load_some)(const double *from, int64_t n) {
    __builtin_prefetch(from + WIDE);
    if (n >= WIDE) return OF(load)(from);
    vec values = {0};
    memcpy(&values, from, sizeof(double) * (size_t)n);
    return values;
}

static inline void OF(store_some)(double *to, vec values, int64_t n) {
    if (n >= WIDE) OF(store)(to, values);
    else memcpy(to, &values, sizeof(double) * (size_t)n);
}

static inline vec OF(where)(mask chosen, vec yes, vec no) {
    return (vec)((chosen & (mask)yes) | (~chosen & (mask)no));
}

static inline int OF(any)(mask flags) {
#if WIDE == 8
    return _mm512_movepi64_mask((__m512i)flags) != 0;
#elif WIDE == 4
    return _mm256_movemask_pd((__m256d)flags) != 0;
#else
    return (flags[0] | flags[1]) != 0;
#endif
}

/* Where a replicate is after a plateau: answers, their summed loss, twice both areas up to here, the mean loss. */
struct OF(at) {
    vec count, loss, selective, generalized, risk;
};
#define at struct OF(at)

static inline at OF(start)(const struct steps *s) {
    at here = {{0}, {0}, {0}, {0}, {0}};
    here.loss += s->nothing; /* -0.0 where numpy's sums begin with their first term, which may be -0.0 */
    return here;
}

static inline at OF(load_at)(const double *state) {
    at here = {OF(load)(state), OF(load)(state + LANES), OF(load)(state + 2 * LANES), OF(load)(state + 3 * LANES),
               OF(load)(state + 4 * LANES)};
    return here;
}

static inline void OF(store_at)(double *state, at here) {
    OF(store)(state, here.count);
    OF(store)(state + LANES, here.loss);
    OF(store)(state + 2 * LANES, here.selective);
    OF(store)(state + 3 * LANES, here.generalized);
    OF(store)(state + 4 * LANES, here.risk);
}

/* Add the entries of one step. */
static inline void OF(add)(const struct steps *s, const uint8_t *lanes, int64_t step, vec *count, vec *loss) {
    for (int64_t i = s->begin[step]; i < s->begin[step + 1]; i++) {
        vec drawn = OF(weight)(lanes, s->cluster[i]);
        *loss += drawn * s->loss[i];
        *count += drawn * s->count[i];
    }
}

/* One plateau on. The line is flat from coverage 0 to the first point a replicate holds, whose height counts twice. */
static inline at OF(next)(const struct steps *s, const uint8_t *lanes, int64_t step, at from) {
    const vec zero = {0};
    at to = from;
    OF(add)(s, lanes, step, &to.count, &to.loss);
    mask held = to.count > zero;
    to.risk = (vec)(held & (mask)(to.loss / OF(where)(held, to.count, zero + 1.0)));
    vec heights = to.risk + from.risk, width = to.count - from.count;
    heights = OF(where)(held & (from.count == zero), heights + to.risk, heights);
    to.selective += heights * width;
    to.generalized += (to.loss + (step ? from.loss : zero)) * width;
    return to;
}

/* The same once every replicate has begun: nothing needs to be asked. */
static inline at OF(next_begun)(const struct steps *s, const uint8_t *lanes, int64_t step, at from) {
    at to = from;
    OF(add)(s, lanes, step, &to.count, &to.loss);
    to.risk = to.loss / to.count;
    vec width = to.count - from.count;
    to.selective += (to.risk + from.risk) * width;
    to.generalized += (to.loss + from.loss) * width;
    return to;
}

/* Whether all of the n replicates that are here have answers. */
static inline int OF(begun)(vec count, int64_t n) {
    for (int64_t lane = 0; lane < WIDE && lane < n; lane++)
        if (!(count[lane] > 0)) return 0;
    return 1;
}

static inline at OF(advance)(const struct steps *s, const uint8_t *lanes, int64_t step, int64_t stop, int64_t n, at here) {
    if (step == 0 || !OF(begun)(here.count, n))
        for (; step < stop; step++) here = OF(next)(s, lanes, step, here);
    else
        for (; step < stop; step++) here = OF(next_begun)(s, lanes, step, here);
    return here;
}

#define EACH_GROUP(replicates)                                              \
    for (int64_t first = 0; first < (replicates); first += WIDE)            \
        for (int64_t n = (replicates) - first, block = first / LANES, lane0 = first % LANES, once = 1; once; once = 0)

/* Sums over the clusters of each replicate, of a whole number that each cluster has. */
static void OF(sums)(const uint8_t *tiles, int64_t clusters, int64_t replicates, const double *by_cluster, double *out) {
    EACH_GROUP(replicates) {
        const uint8_t *lanes = tiles + block * clusters * LANES + lane0;
        vec sum = {0};
        for (int64_t cluster = 0; cluster < clusters; cluster++)
            sum += OF(weight)(lanes, (int32_t)cluster) * by_cluster[cluster];
        OF(store_some)(out + first, sum, n);
    }
}

/* Where each replicate is at the start of every chunk of plateaus, and at the end: state[block][chunk][5][lane]. */
static void OF(sweep)(const struct steps *s, const uint8_t *tiles, int64_t replicates, int64_t chunk, double *state) {
    int64_t chunks = (s->steps + chunk - 1) / chunk;
    EACH_GROUP(replicates) {
        const uint8_t *lanes = tiles + block * s->clusters * LANES + lane0;
        double *to = state + block * (chunks + 1) * 5 * LANES + lane0;
        at here = OF(start)(s);
        for (int64_t step = 0; step < s->steps; step += chunk, to += 5 * LANES) {
            OF(store_at)(to, here);
            int64_t stop = step + chunk < s->steps ? step + chunk : s->steps;
            here = OF(advance)(s, lanes, step, stop, n, here);
        }
        OF(store_at)(to, here);
    }
}

/* What replicates are asked, and how far each lane has come: needs[question][replicate] do not fall from one question
 * to the next, and out[field][question][replicate] takes the answers.
 */
struct OF(search) {
    const double *needs;
    double *out;
    int64_t questions, replicates, asked[WIDE];
};
#define search struct OF(search)

/* Whether a lane's next question is answered within so many answers. */
static inline int OF(answered)(const search *q, int64_t lane, double count) {
    return q->asked[lane] < q->questions && count >= q->needs[q->asked[lane] * q->replicates + lane];
}

static inline void OF(answer)(search *q, int64_t lane, int64_t step, const at *here, const at *before) {
    double found[] = {(double)step, here->count[lane], here->loss[lane], here->risk[lane], before->count[lane],
                      before->loss[lane], before->risk[lane], before->selective[lane], before->generalized[lane]};
    double *out = q->out + q->asked[lane]++ * q->replicates + lane;
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) out[i * (size_t)(q->questions * q->replicates)] = found[i];
}

/* Whether any lane's next question is answered before the next chunk of plateaus. */
static inline int OF(wanted)(const search *q, int64_t used, const double *next) {
    int some = 0;
    for (int64_t lane = 0; lane < used; lane++) some |= OF(answered)(q, lane, next[lane]);
    return some;
}

/* Questions that the lanes of a group are asked together, and the steps that answer them: which they are, the answers up to
 * there and their loss.
 */
struct OF(asked) {
    int64_t number;
    vec need[ASKED_AT_ONCE], place[ASKED_AT_ONCE], count[ASKED_AT_ONCE], loss[ASKED_AT_ONCE];
};
#define asked struct OF(asked)

/* Answers from one chunk of steps, for the lanes that have them in it; from which question on some have them later. */
static inline int64_t OF(ask)(asked *a, int64_t open, int64_t step, int64_t length, const vec *counts, const vec *losses,
                              vec start) {
    vec stop = counts[length - 1];
    for (int64_t question = open; question < a->number && OF(any)(a->need[question] <= stop); question++) {
        vec need = a->need[question];
        mask here = (need > start) & (need <= stop), place = {0};
        double count[WIDE], loss[WIDE];
        if (!OF(any)(need > stop)) open = question + 1;
        if (length == 1) OF(store)(count, counts[0]), OF(store)(loss, losses[0]);
        else {
            for (int64_t i = 0; i < length; i++) place -= counts[i] < need;
            place &= here; /* where it is not, any place will do */
            for (int64_t lane = 0; lane < WIDE; lane++) {
                count[lane] = counts[place[lane]][lane];
                loss[lane] = losses[place[lane]][lane];
            }
        }
        a->place[question] = OF(where)(here, (double)step + __builtin_convertvector(place, vec), a->place[question]);
        a->count[question] = OF(where)(here, OF(load)(count), a->count[question]);
        a->loss[question] = OF(where)(here, OF(load)(loss), a->loss[question]);
    }
    return open;
}

/* What is told of the steps: which they are, the answers and their loss; or, with scales, both risks there. */
static inline void OF(tell)(const struct questions *q, const asked *a, int64_t from, int64_t first, int64_t n, double steps) {
    int64_t apart = q->number * q->replicates;
    for (int64_t i = 0; i < a->number; i++) {
        double *out = q->out + (from + i) * q->replicates + first;
        if (q->scales != NULL) {
            vec loss = OF(where)(a->place[i] < steps, a->loss[i], (vec){0} + NAN);
            OF(store_some)(out, loss / (a->count[i] * q->scales[0]), n);
            OF(store_some)(out + apart, loss / OF(load_some)(q->scales + 1 + first, n), n);
        } else {
            OF(store_some)(out, a->place[i], n);
            OF(store_some)(out + apart, a->count[i], n);
            OF(store_some)(out + 2 * apart, a->loss[i], n);
        }
    }
}

/* The first plateau with at least so many answers. Chunks in which nothing is found are not gone through. */
static void OF(reach)(const struct steps *s, const uint8_t *tiles, int64_t chunk, const double *state,
                      const struct questions *q) {
    int64_t chunks = (s->steps + chunk - 1) / chunk, width = 5 * LANES;
    vec counts[LONGEST_CHUNK], losses[LONGEST_CHUNK];
    asked a;
    for (int64_t some = 0; some < q->number; some += ASKED_AT_ONCE) EACH_GROUP(q->replicates) {
        const uint8_t *lanes = tiles + block * s->clusters * LANES + lane0;
        const double *from = state + block * (chunks + 1) * width + lane0;
        a.number = q->number - some < ASKED_AT_ONCE ? q->number - some : ASKED_AT_ONCE;
        for (int64_t i = 0; i < a.number; i++) {
            a.need[i] = OF(load_some)(q->needs + (some + i) * q->replicates + first, n);
            a.place[i] = (vec){0} + (double)s->steps;
            a.count[i] = OF(load)(from + chunks * width);
            a.loss[i] = OF(load)(from + chunks * width + LANES);
        }
        for (int64_t step = 0, open = 0; step < s->steps && open < a.number; step += chunk, from += width) {
            vec count = OF(load)(from), loss = OF(load)(from + LANES), start = step ? count : count - INFINITY;
            if (!OF(any)(a.need[open] <= OF(load)(from + width))) continue;
            int64_t length = step + chunk < s->steps ? chunk : s->steps - step;
            if (chunk == 1) counts[0] = OF(load)(from + width), losses[0] = OF(load)(from + width + LANES); /* is known */
            for (int64_t i = 0; chunk > 1 && i < length; i++) {
                OF(add)(s, lanes, step + i, &count, &loss);
                counts[i] = count, losses[i] = loss;
            }
            open = OF(ask)(&a, open, step, length, counts, losses, start);
        }
        OF(tell)(q, &a, some, first, n, (double)s->steps);
    }
}
#undef asked

/* The same with the mean loss, and with what was before: answers, their loss and its mean, and twice both areas. */
static void OF(find)(const struct steps *s, const uint8_t *tiles, int64_t chunk, const double *state,
                     const struct questions *to) {
    int64_t chunks = (s->steps + chunk - 1) / chunk;
    at path[LONGEST_CHUNK + 1]; /* before the chunk, and after each of its plateaus */
    EACH_GROUP(to->replicates) {
        const uint8_t *lanes = tiles + block * s->clusters * LANES + lane0;
        const double *from = state + block * (chunks + 1) * 5 * LANES + lane0;
        search q = {.needs = to->needs + first, .out = to->out + first, .questions = to->number,
                    .replicates = to->replicates};
        int64_t used = n < WIDE ? n : WIDE, length = 0;
        for (int64_t step = 0; step < s->steps; step += chunk, from += 5 * LANES) {
            if (!OF(wanted)(&q, used, from + 5 * LANES)) continue;
            length = step + chunk < s->steps ? chunk : s->steps - step;
            path[0] = OF(load_at)(from);
            if (chunk == 1) path[1] = OF(load_at)(from + 5 * LANES);
            else for (int64_t i = 0; i < length; i++) path[i + 1] = OF(next)(s, lanes, step + i, path[i]);
            if (step == 0) path[0].loss = (vec){0}; /* before everything, a sum of nothing */
            for (int64_t lane = 0; lane < used; lane++)
                for (int64_t i = 1; OF(answered)(&q, lane, path[length].count[lane]);) {
                    while (!OF(answered)(&q, lane, path[i].count[lane])) i++;
                    OF(answer)(&q, lane, step + i - 1, path + i, path + i - 1);
                }
        }
        path[0] = OF(load_at)(from);
        for (int64_t lane = 0; lane < used; lane++)
            while (q.asked[lane] < to->number) OF(answer)(&q, lane, s->steps, path, path);
    }
}

/* The oracle order: sums of its risks, twice its generalized area, the lowest loss held, all losses. out[4][replicate].
 * -1 if a table is too short.
 */
static int OF(oracle)(const struct steps *s, const uint8_t *tiles, int64_t replicates, const struct levels *v,
                      double *out) {
    const vec zero = {0};
    const double *level = v->loss, *harmonic = v->harmonic;
    EACH_GROUP(replicates) {
        const uint8_t *lanes = tiles + block * s->clusters * LANES + lane0;
        vec count = zero, loss = zero + s->nothing, risks = zero, area = zero, lowest = zero + (s->steps ? level[0] : 0);
        for (int64_t step = 0; step < s->steps; step++) {
            vec k = count, total = step ? loss : zero, rise;
            OF(add)(s, lanes, step, &count, &loss);
            if (OF(any)(count >= (double)v->length)) return -1;
            vec width = count - k;
            lowest = OF(where)((k == zero) & (count > zero), zero + level[step], lowest);
            for (int lane = 0; lane < WIDE; lane++)
                rise[lane] = harmonic[(int64_t)count[lane]] - harmonic[(int64_t)k[lane]];
            risks += level[step] * width + (total - level[step] * k) * rise;
            area += width * (2.0 * total + width * level[step]);
        }
        OF(store_some)(out + first, risks, n);
        OF(store_some)(out + replicates + first, area, n);
        OF(store_some)(out + 2 * replicates + first, lowest, n);
        OF(store_some)(out + 3 * replicates + first, loss, n);
    }
    return 0;
}

#include "_influences.h"

#undef vec
#undef mask
#undef at
#undef search
#undef edge
#undef sheaf
#undef walk
#undef span
#undef EACH_GROUP
