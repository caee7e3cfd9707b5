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

/* The values of n replicates; 0 in lanes that no replicate is in. */
static inline vec OF(load_some)(const double *from, int64_t n) {
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
    int64_t some = 0;
    for (int lane = 0; lane < WIDE; lane++) some |= flags[lane];
    return some != 0;
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

/* Take the entries of one step away again, which is exact for whole numbers. */
static inline void OF(subtract)(const struct steps *s, const uint8_t *lanes, int64_t step, vec *count, vec *loss) {
    for (int64_t i = s->begin[step]; i < s->begin[step + 1]; i++) {
        vec drawn = OF(weight)(lanes, s->cluster[i]);
        *loss -= drawn * s->loss[i];
        *count -= drawn * s->count[i];
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

static inline void OF(answer)(search *q, int64_t lane, int fields, const double *found) {
    double *out = q->out + q->asked[lane]++ * q->replicates + lane;
    for (int i = 0; i < fields; i++) out[i * q->questions * q->replicates] = found[i];
}

static inline void OF(answer_in_full)(search *q, int64_t lane, int64_t step, const at *here, const at *before) {
    double found[] = {(double)step, here->count[lane], here->loss[lane], here->risk[lane], before->count[lane],
                      before->loss[lane], before->risk[lane], before->selective[lane], before->generalized[lane]};
    OF(answer)(q, lane, sizeof found / sizeof *found, found);
}

/* Whether any lane's next question is answered before the next chunk of plateaus. */
static inline int OF(wanted)(const search *q, int64_t used, const double *next) {
    int some = 0;
    for (int64_t lane = 0; lane < used; lane++) some |= OF(answered)(q, lane, next[lane]);
    return some;
}

/* The first plateau with at least so many answers: which it is, the answers and their loss.
 * Chunks in which no replicate finds anything are not gone through.
 */
static void OF(reach)(const struct steps *s, const uint8_t *tiles, int64_t replicates, int64_t chunk, const double *state,
                      int64_t questions, const double *needs, double *out) {
    int64_t chunks = (s->steps + chunk - 1) / chunk;
    vec counts[LONGEST_CHUNK], losses[LONGEST_CHUNK];
    EACH_GROUP(replicates) {
        const uint8_t *lanes = tiles + block * s->clusters * LANES + lane0;
        const double *from = state + block * (chunks + 1) * 5 * LANES + lane0;
        search q = {.needs = needs + first, .out = out + first, .questions = questions, .replicates = replicates};
        int64_t used = n < WIDE ? n : WIDE;
        for (int64_t step = 0; step < s->steps; step += chunk, from += 5 * LANES) {
            if (!OF(wanted)(&q, used, from + 5 * LANES)) continue;
            int64_t length = step + chunk < s->steps ? chunk : s->steps - step;
            vec count = OF(load)(from), loss = OF(load)(from + LANES);
            for (int64_t i = 0; i < length; i++) {
                OF(add)(s, lanes, step + i, &count, &loss);
                counts[i] = count;
                losses[i] = loss;
            }
            for (int64_t lane = 0; lane < used; lane++)
                for (int64_t i = 0; OF(answered)(&q, lane, count[lane]);) {
                    double need = q.needs[q.asked[lane] * replicates + lane];
                    while (!(counts[i][lane] >= need)) i++;
                    OF(answer)(&q, lane, 3, (double[]){(double)(step + i), counts[i][lane], losses[i][lane]});
                }
        }
        for (int64_t lane = 0; lane < used; lane++)
            while (q.asked[lane] < questions)
                OF(answer)(&q, lane, 3, (double[]){(double)s->steps, from[lane], from[lane + LANES]});
    }
}

/* The same with the mean loss, and with what was before: answers, their loss and its mean, and twice both areas. */
static void OF(find)(const struct steps *s, const uint8_t *tiles, int64_t replicates, int64_t chunk, const double *state,
                     int64_t questions, const double *needs, double *out) {
    int64_t chunks = (s->steps + chunk - 1) / chunk;
    at path[LONGEST_CHUNK + 1]; /* before the chunk, and after each of its plateaus */
    EACH_GROUP(replicates) {
        const uint8_t *lanes = tiles + block * s->clusters * LANES + lane0;
        const double *from = state + block * (chunks + 1) * 5 * LANES + lane0;
        search q = {.needs = needs + first, .out = out + first, .questions = questions, .replicates = replicates};
        int64_t used = n < WIDE ? n : WIDE, length = 0;
        for (int64_t step = 0; step < s->steps; step += chunk, from += 5 * LANES) {
            if (!OF(wanted)(&q, used, from + 5 * LANES)) continue;
            length = step + chunk < s->steps ? chunk : s->steps - step;
            path[0] = OF(load_at)(from);
            for (int64_t i = 0; i < length; i++) path[i + 1] = OF(next)(s, lanes, step + i, path[i]);
            if (step == 0) path[0].loss = (vec){0}; /* before everything, a sum of nothing */
            for (int64_t lane = 0; lane < used; lane++)
                for (int64_t i = 1; OF(answered)(&q, lane, path[length].count[lane]);) {
                    while (!OF(answered)(&q, lane, path[i].count[lane])) i++;
                    OF(answer_in_full)(&q, lane, step + i - 1, path + i, path + i - 1);
                }
        }
        path[0] = OF(load_at)(from);
        for (int64_t lane = 0; lane < used; lane++)
            while (q.asked[lane] < questions) OF(answer_in_full)(&q, lane, s->steps, path, path);
    }
}

/* Whether the replicates answer fewer units than the tables that are looked up have entries. */
static int OF(within)(const struct steps *s, const uint8_t *lanes, const struct levels *v) {
    vec answered = {0};
    for (int64_t cluster = 0; cluster < s->clusters; cluster++)
        answered += OF(weight)(lanes, (int32_t)cluster) * s->answers[cluster];
    return !OF(any)(answered >= (double)v->length);
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
        if (!OF(within)(s, lanes, v)) return -1;
        vec count = zero, loss = zero + s->nothing, risks = zero, area = zero, lowest = zero + (s->steps ? level[0] : 0);
        for (int64_t step = 0; step < s->steps; step++) {
            vec k = count, total = step ? loss : zero, rise;
            OF(add)(s, lanes, step, &count, &loss);
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

/* From derivatives by cumulated sums, by_count[step] and by_loss[step], to influences of the clusters:
 * an answer at one step is at or above every later one, so that the derivatives are already summed from the last back.
 */
static void OF(spread)(const struct steps *s, int64_t steps, const vec *by_count, const vec *by_loss, vec *influence) {
    memset(influence, 0, sizeof(vec) * (size_t)s->clusters);
    for (int64_t step = 0; step < steps; step++) {
        vec each = by_count[step], loss = by_loss[step];
        for (int64_t i = s->begin[step]; i < s->begin[step + 1]; i++) {
            vec *to = influence + s->cluster[i];
            if (s->dense) *to = *to + s->count[i] * each + s->loss[i] * loss; /* two sums, as of two matrices */
            else *to += each * s->count[i] + loss * s->loss[i];
        }
    }
}

/* Per unit: with what the number of units is worth to each cluster, and what the end is worth that moves with it; and
 * the sums of squares.
 */
static void OF(finish)(const struct steps *s, const struct finish *f, const uint8_t *lanes, const vec *influence,
                       int64_t replicates, int64_t first, int64_t n) {
    vec by_units = OF(load_some)(f->by_units + first, n), scale = OF(load_some)(f->scale + first, n);
    vec lift = {0}, factor = {0}, squares = {0}, part = {0};
    if (f->moves != NULL) {
        lift = OF(load_some)(f->lift + first, n);
        factor = OF(load_some)(f->factor + first, n);
    }
    for (int64_t cluster = 0; cluster < s->clusters; cluster++) {
        int64_t place = cluster * replicates + first;
        vec value = (influence[cluster] + by_units * s->units[cluster]) / scale;
        if (f->moves != NULL) value += lift * (OF(load_some)(f->moves + place, n) * factor);
        OF(store_some)(f->out + place, value, n);
        value = OF(weight)(lanes, (int32_t)cluster) * (value * value);
        if (cluster % CLUSTER_BLOCK == 0) {
            squares += part;
            part = value;
        } else part += value;
    }
    OF(store_some)(f->squares + first, squares + part, n);
}

/* Where the points of a line are in each replicate of a group, and what those at its ends are worth: see Line. */
struct OF(ends) {
    vec row[LINE_ROWS];
    int64_t steps, from, to; /* how many steps count, and between which of them no lane is a special case */
};
#define ends struct OF(ends)

/* -1 if a place is none of the table. */
static inline int OF(ends_of)(const struct steps *s, const struct line *line, int64_t first, int64_t n, ends *e) {
    for (int i = 0; i < LINE_ROWS; i++) e->row[i] = OF(load_some)(line->row[i] + first, n);
    e->steps = 0, e->from = -1, e->to = s->steps;
    for (int64_t lane = 0; lane < WIDE && lane < n; lane++) {
        double place = e->row[PLACE][lane], begin = e->row[BEGIN][lane];
        if (!(place >= 0 && place <= s->steps && begin >= 0 && begin <= s->steps)) return -1;
        if ((int64_t)place + 1 > e->steps) e->steps = (int64_t)place + 1;
        if ((int64_t)place < e->to) e->to = (int64_t)place;
        if ((int64_t)begin > e->from) e->from = (int64_t)begin;
    }
    if (e->steps > s->steps) e->steps = s->steps;
    return 0;
}

/* The height of the line at a step: a mean loss, which nothing has before a replicate begins, or a loss per unit. */
static inline vec OF(height_at)(const ends *e, int64_t step, vec count, vec loss, const int selective) {
    const vec zero = {0};
    if (!selective) return loss / e->row[UNITS];
    if (step >= e->from) return loss / count;
    return OF(where)(count > zero, loss / OF(where)(count > zero, count, zero + 1.0), e->row[START]);
}

/* By the count up to a step, and by the loss up to it, where a lane may be at an end of its line. */
static inline void OF(slopes_at_ends)(const ends *e, int64_t step, vec x, vec y, vec *slope, vec *each, const int selective) {
    const vec zero = {0};
    vec j = zero + (double)step;
    mask inside = j < e->row[PLACE], left = j + 1.0 == e->row[PLACE], here = j == e->row[PLACE], held = x > zero;
    *each = OF(where)(left, *each + e->row[LEFT_HEIGHT], *each);
    *slope = OF(where)(left, *slope - e->row[LEFT_SLOPE], *slope);
    *each = (vec)((inside & (mask)*each) | (here & (mask)e->row[AT_HEIGHT]));
    *slope = (vec)((inside & (mask)*slope) | (here & (mask)e->row[AT_SLOPE]));
    if (selective) {
        *each = OF(where)(j == e->row[BEGIN], *each + e->row[EXTRA], *each);
        *each = OF(where)(held, *each / OF(where)(held, x, zero + 1.0), *each);
        *slope -= *each * (vec)(held & (mask)y);
    } else *each /= e->row[UNITS];
}

/* Derivatives by the count and by the loss up to each step, summed from the last step back: by_count and by_loss, which
 * first hold positions and heights of the points. Of whole numbers, whose sums are exact, each point can be
 * had `back` from the next one.
 */
static inline void OF(slopes)(const struct steps *s, const uint8_t *lanes, const ends *e, vec *by_count, vec *by_loss,
                              const int selective, const int back) {
    const vec zero = {0};
    vec count = zero, loss = zero + s->nothing, sum = zero, lost = zero;
    for (int64_t step = 0; step < e->steps; step++) {
        OF(add)(s, lanes, step, &count, &loss);
        if (back) continue;
        by_count[step] = count;
        by_loss[step] = OF(height_at)(e, step, count, loss, selective);
    }
    vec x = count, y = e->steps ? OF(height_at)(e, e->steps - 1, count, loss, selective) : zero;
    vec next_x = e->row[END], next_y = e->row[HEIGHT];
    for (int64_t step = e->steps - 1; step >= 0; step--) {
        vec before_x = zero, before_y = e->row[START];
        if (step && back) {
            OF(subtract)(s, lanes, step, &count, &loss);
            before_x = count;
            before_y = OF(height_at)(e, step - 1, count, loss, selective);
        } else if (step) {
            before_x = by_count[step - 1];
            before_y = by_loss[step - 1];
        }
        if (step > e->from && step + 1 < e->to) {
            vec each = (next_x - before_x) * 0.5, slope = (next_y - before_y) * -0.5;
            each /= selective ? x : e->row[UNITS];
            lost += each;
            sum += selective ? slope - each * y : slope;
        } else {
            mask inside = zero + (double)(step + 1) < e->row[PLACE];
            vec each = (OF(where)(inside, next_x, e->row[END]) - before_x) * 0.5;
            vec slope = (OF(where)(inside, next_y, e->row[HEIGHT]) - before_y) * -0.5;
            OF(slopes_at_ends)(e, step, x, y, &slope, &each, selective);
            lost += each;
            sum += slope;
        }
        by_count[step] = sum;
        by_loss[step] = lost;
        next_x = x, next_y = y;
        x = before_x, y = before_y;
    }
}

/* Influences on an area up to a cut: see influence.py for the derivatives. `scratch` holds 2 * steps + clusters vectors.
 * -1 if a place is none of the table.
 */
static int OF(area)(const struct steps *s, const uint8_t *tiles, int64_t replicates, const struct line *line,
                    const struct finish *f, double *scratch) {
    vec *by_count = (vec *)scratch, *by_loss = by_count + s->steps, *influence = by_loss + s->steps;
    int back = s->whole && s->entries <= 2 * s->steps; /* of steps with many entries, it is less to keep the points */
    EACH_GROUP(replicates) {
        const uint8_t *lanes = tiles + block * s->clusters * LANES + lane0;
        ends e;
        if (OF(ends_of)(s, line, first, n, &e) < 0) return -1;
        if (line->selective && back) OF(slopes)(s, lanes, &e, by_count, by_loss, 1, 1);
        else if (line->selective) OF(slopes)(s, lanes, &e, by_count, by_loss, 1, 0);
        else if (back) OF(slopes)(s, lanes, &e, by_count, by_loss, 0, 1);
        else OF(slopes)(s, lanes, &e, by_count, by_loss, 0, 0);
        OF(spread)(s, e.steps, by_count, by_loss, influence);
        OF(finish)(s, f, lanes, influence, replicates, first, n);
    }
    return 0;
}

/* Influences on the selective area of the oracle order: see influence.py. -1 if a table is too short. */
static int OF(oracle_area)(const struct steps *s, const uint8_t *tiles, int64_t replicates, const struct levels *v,
                           const struct finish *f, double *scratch) {
    const vec zero = {0};
    const double *level = v->loss, *harmonic = v->harmonic, *trigamma = v->trigamma;
    vec *x = (vec *)scratch, *y = x + s->steps, *influence = y + s->steps;
    EACH_GROUP(replicates) {
        const uint8_t *lanes = tiles + block * s->clusters * LANES + lane0;
        if (!OF(within)(s, lanes, v)) return -1;
        vec count = zero, loss = zero + s->nothing;
        for (int64_t step = 0; step < s->steps; step++) {
            OF(add)(s, lanes, step, &count, &loss);
            x[step] = count;
            y[step] = loss;
        }
        vec by_count = zero, by_loss = zero, next_below = zero, next_rise = zero;
        for (int64_t step = s->steps - 1; step >= 0; step--) {
            vec here = x[step], before = step ? x[step - 1] : zero, total = step ? y[step - 1] : zero, rise, slow;
            for (int lane = 0; lane < WIDE; lane++) {
                rise[lane] = harmonic[(int64_t)here[lane]] - harmonic[(int64_t)before[lane]];
                slow[lane] = trigamma[(int64_t)here[lane]];
            }
            vec below = total - level[step] * before, each = level[step] + below * slow, lost;
            if (step + 1 < s->steps) {
                each -= level[step + 1] * (1.0 + next_rise) + next_below * slow;
                lost = next_rise;
            } else {
                vec answered = OF(where)(here > zero + 1.0, here, zero + 1.0);
                each += y[step] / (2.0 * (answered * answered));
                lost = zero - 1.0 / (2.0 * answered);
            }
            by_count += each;
            by_loss += lost;
            next_below = below;
            next_rise = rise;
            x[step] = by_count;
            y[step] = by_loss;
        }
        OF(spread)(s, s->steps, x, y, influence);
        OF(finish)(s, f, lanes, influence, replicates, first, n);
    }
    return 0;
}

/* Add what the clusters have so far, so many clusters at a time, as cluster_sums in table.py. */
static inline void OF(add_up)(double *part, vec value, int64_t cluster, int64_t n) {
    if (cluster % CLUSTER_BLOCK) value += OF(load_some)(part, n);
    OF(store_some)(part, value, n);
}

static inline void OF(add_parts)(const double *part, int64_t cluster, int64_t clusters, int64_t replicates, double *out) {
    if (cluster % CLUSTER_BLOCK == CLUSTER_BLOCK - 1 || cluster == clusters - 1)
        for (int64_t i = 0; i < replicates; i++) out[i] += part[i];
}

/* Sums over the clusters of each replicate, of influences or of their squares, a cluster drawn twice counted twice.
 * out[replicate], part[replicate].
 */
static void OF(total)(const uint8_t *tiles, int64_t clusters, int64_t replicates, const double *influence, int squared,
                      double *part, double *out) {
    for (int64_t i = 0; i < replicates; i++) out[i] = 0;
    for (int64_t cluster = 0; cluster < clusters; cluster++, influence += replicates) {
        EACH_GROUP(replicates) {
            vec drawn = OF(weight)(tiles + block * clusters * LANES + lane0, (int32_t)cluster);
            vec value = OF(load_some)(influence + first, n);
            OF(add_up)(part + first, drawn * (squared ? value * value : value), cluster, n);
        }
        OF(add_parts)(part, cluster, clusters, replicates, out);
    }
}

/* Influences on a difference or a quotient, (a - times b) / over, and their squares as above: out[cluster][replicate],
 * squares[replicate], part[replicate]. a and b are like out, or have one number for each cluster.
 */
static void OF(difference)(const uint8_t *tiles, const struct difference *d, double *part) {
    int64_t replicates = d->replicates;
    const double *a = d->a, *b = d->b;
    double *out = d->out;
    for (int64_t i = 0; i < replicates; i++) d->squares[i] = 0;
    for (int64_t cluster = 0; cluster < d->clusters; cluster++, out += replicates) {
        EACH_GROUP(replicates) {
            const vec zero = {0};
            vec drawn = OF(weight)(tiles + block * d->clusters * LANES + lane0, (int32_t)cluster);
            vec value = d->by_cluster ? zero + b[cluster] : OF(load_some)(b + first, n);
            if (d->times != NULL) value = OF(load_some)(d->times + first, n) * value;
            value = (d->by_cluster ? zero + a[cluster] : OF(load_some)(a + first, n)) - value;
            if (d->over != NULL) value /= OF(load_some)(d->over + first, n);
            OF(store_some)(out + first, value, n);
            OF(add_up)(part + first, drawn * (value * value), cluster, n);
        }
        OF(add_parts)(part, cluster, d->clusters, replicates, d->squares);
        if (!d->by_cluster) a += replicates, b += replicates;
    }
}

#undef vec
#undef mask
#undef at
#undef search
#undef ends
#undef EACH_GROUP
