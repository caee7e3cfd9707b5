/* Influences of clusters, and the sums of the squares of their numerators: what is described by nodes (see _types.h), for
 * WIDE replicates before it turns to the next ones. Numerators are made a few clusters at a time, and none of them is
 * written down but those that are asked for. Nothing is divided but 1 by the count of a point of mean losses.
 */

/* A line of a group of replicates, in which it ends at different points: before `from` in none of them, and before `stop`
 * in all. `whole_…` is what all of its points are worth, and `slot` its place among the lines of its sheaf.
 */
struct OF(edge) {
    int selective, slot;
    int64_t from, stop;
    vec row[LINE_ROWS], whole_count, whole_loss;
};
#define edge struct OF(edge)

/* Lines through the points of one table, which are gone through for all of them at once: the longest first. */
struct OF(sheaf) {
    int lines, mean; /* and whether some are of mean losses */
    edge line[MOST_LINES];
};
#define sheaf struct OF(sheaf)

/* The points before a step, after it, and after the next one, with the mean loss and what it is divided by; and what the
 * points of mean losses before the step are worth by a count and by a loss, and that of the step.
 */
struct OF(walk) {
    vec x[3], loss[3], y[3], inverse[3], before_count, before_loss, by_count, by_loss;
};
#define walk struct OF(walk)

/* The clusters whose sums are held together; where the points of the steps are kept, or what their answers are worth, and
 * the first entries of the next clusters. Where all clusters are one window, nothing need be kept.
 */
struct OF(span) {
    int64_t from, end, *next;
    vec *kept;
};
#define span struct OF(span)

/* -1 if an end is none of the table. */
static inline int OF(line_of)(const struct node *node, int64_t first, int64_t n, edge *l) {
    int64_t steps = node->s->steps;
    for (int i = 0; i < LINE_ROWS; i++) l->row[i] = OF(load_some)(node->row[i] + first, n);
    l->selective = node->flag, l->from = steps, l->stop = 0, l->whole_count = l->whole_loss = (vec){0};
    for (int64_t lane = 0; lane < WIDE && lane < n; lane++) {
        double end = l->row[END_POINT][lane];
        if (!(end >= 0 && end <= (double)steps)) return -1;
        if ((int64_t)end < l->from) l->from = (int64_t)end;
        if ((int64_t)end >= l->stop) l->stop = (int64_t)end + 1;
    }
    if (l->stop > steps) l->stop = steps;
    return 0;
}

/* The lines that a node leads. -1 if an end is none of the table. */
static int OF(sheaf_of)(const struct program *p, int64_t leader, int64_t first, int64_t n, sheaf *h) {
    h->lines = h->mean = 0;
    for (int64_t i = leader; i < p->nodes; i++) {
        const struct node *node = p->node + i;
        edge l;
        if (node->kind != AREA || node->leader != leader) continue;
        if (OF(line_of)(node, first, n, &l) < 0) return -1;
        l.slot = h->lines;
        h->mean |= l.selective;
        int place = h->lines++;
        for (; place > 0 && h->line[place - 1].stop < l.stop; place--) h->line[place] = h->line[place - 1];
        h->line[place] = l;
    }
    return 0;
}

static inline walk OF(set_out)(const struct steps *s) {
    const vec zero = {0};
    walk w = {{zero, zero, zero}, {zero, zero, zero + s->nothing}, {zero, zero, zero}, {zero, zero, zero}, zero, zero, zero, zero};
    return w;
}

/* Look one step further, to the point after this one. Points are kept, or taken from where they were kept. */
static inline void OF(look)(const struct steps *s, const uint8_t *lanes, int64_t step, int mean, vec *kept, int known, walk *w) {
    const vec zero = {0}, one = zero + 1.0;
    if (step >= s->steps) return; /* after the last point comes the last one again */
    if (known) {
        w->x[2] = kept[2 * step], w->loss[2] = kept[2 * step + 1];
    } else {
        OF(add)(s, lanes, step, &w->x[2], &w->loss[2]);
        if (kept) kept[2 * step] = w->x[2], kept[2 * step + 1] = w->loss[2];
    }
    if (!mean) return;
    mask held = w->x[2] > zero;
    w->inverse[2] = (vec)(held & (mask)(1.0 / OF(where)(held, w->x[2], one)));
    w->y[2] = w->loss[2] * w->inverse[2];
}

/* One step on. The line is flat up to the first point with answers, whose loss counts half as much again for it. */
static inline void OF(go_on)(const struct steps *s, const uint8_t *lanes, int64_t step, int mean, vec *kept, int known, walk *w) {
    const vec zero = {0};
    w->x[0] = w->x[1], w->loss[0] = w->loss[1], w->y[0] = w->y[1];
    w->x[1] = w->x[2], w->loss[1] = w->loss[2], w->y[1] = w->y[2], w->inverse[1] = w->inverse[2];
    OF(look)(s, lanes, step + 1, mean, kept, known, w);
    if (!mean) return;
    vec by_loss = (w->x[2] - w->x[0]) * 0.5 * w->inverse[1];
    w->by_count = (w->y[2] - w->y[0]) * -0.5 - by_loss * w->y[1];
    w->by_loss = by_loss + (vec)((w->x[0] == zero) & (w->x[1] > zero) & (mask)(zero + 0.5));
}

/* What all points of each line of mean losses are worth. */
static void OF(sum_lines)(const struct steps *s, const uint8_t *lanes, sheaf *h, vec *kept, int known) {
    walk w = OF(set_out)(s);
    OF(look)(s, lanes, 0, 1, kept, known, &w);
    for (int64_t step = 0; step <= s->steps; step++) {
        vec j = (vec){0} + (double)step;
        for (int i = 0; i < h->lines; i++) {
            edge *l = h->line + i;
            if (step < l->from) continue;
            mask ends = j == l->row[END_POINT];
            l->whole_count = OF(where)(ends, w.before_count, l->whole_count);
            l->whole_loss = OF(where)(ends, w.before_loss, l->whole_loss);
        }
        if (step == s->steps) break;
        OF(go_on)(s, lanes, step, 1, kept, known, &w);
        w.before_count += w.by_count;
        w.before_loss += w.by_loss;
    }
    for (int i = 0; i < h->lines; i++) {
        edge *l = h->line + i;
        l->whole_count = l->whole_count + l->row[LEFT_COUNT] + l->row[AT_COUNT] + l->row[END_COUNT];
        l->whole_loss = l->whole_loss + l->row[LEFT_LOSS] + l->row[AT_LOSS] + l->row[END_LOSS];
    }
}

/* What an answer and a loss at a step are worth to a line. */
static inline void OF(worth)(const edge *l, int64_t step, const walk *w, vec *count, vec *loss) {
    if (l->selective) {
        *count = l->whole_count - w->before_count;
        *loss = l->whole_loss - w->before_loss;
    } else {
        *count = l->row[END_COUNT] + (w->loss[1] * 0.5 + 0.5 * w->loss[0]);
        *loss = l->row[END_LOSS] - (w->x[1] * 0.5 + 0.5 * w->x[0]);
    }
    if (step < l->from) return;
    vec j = (vec){0} + (double)step;
    mask inside = j < l->row[END_POINT], here = j == l->row[END_POINT];
    *count = (vec)((inside & (mask)*count) | (here & (mask)l->row[AT_COUNT]));
    *loss = (vec)((inside & (mask)*loss) | (here & (mask)l->row[AT_LOSS]));
}

/* Nothing, where sums over what clusters hold begin: of single entries, only where there is none. */
static inline void OF(clear)(const struct steps *s, const span *v, vec *made, int64_t lines) {
    if (!s->single) memset(made, 0, sizeof(vec) * (size_t)((v->end - v->from) * lines));
    else
        for (int64_t cluster = v->from; cluster < v->end; cluster++)
            if (s->answers[cluster] == 0) memset(made + (cluster - v->from) * lines, 0, sizeof(vec) * (size_t)lines);
}

/* Where the entries of a step that are of the clusters of a window end. */
static inline int64_t OF(stop)(const struct steps *s, const span *v, int64_t step, int64_t i) {
    if (v->end == s->clusters) return s->begin[step + 1];
    while (i < s->begin[step + 1] && s->cluster[i] < v->end) i++;
    return v->next[step] = i;
}

/* From what an answer and a loss at a step are worth to some lines to sums over what the clusters of a window hold. */
static inline __attribute__((always_inline)) void OF(spread)(const struct steps *s, const span *v, int64_t step, int lines,
                                                             int some, const int *slot, const vec *count, const vec *loss,
                                                             vec *made) {
    int64_t i = v->from ? v->next[step] : s->begin[step], stop = OF(stop)(s, v, step, i);
    for (; i < stop; i++) {
        vec *to = made + (s->cluster[i] - v->from) * lines;
        double counts = s->count[i], losses = s->loss[i];
        if (s->single) {
            for (int k = 0; k < some; k++) to[slot[k]] = count[k] * counts + loss[k] * losses;
            for (int k = some; k < lines; k++) to[slot[k]] = (vec){0};
        } else if (s->dense) /* two sums, as of two matrices */
            for (int k = 0; k < some; k++) to[slot[k]] = to[slot[k]] + counts * count[k] + losses * loss[k];
        else for (int k = 0; k < some; k++) to[slot[k]] += count[k] * counts + loss[k] * losses;
    }
}

/* Sums over what the clusters of a window hold, made[cluster][slot]. */
static void OF(areas)(const struct steps *s, const uint8_t *lanes, const span *v, sheaf *h, vec *made) {
    vec *kept = v->kept, count[MOST_LINES], loss[MOST_LINES];
    const int known = kept && (h->mean || v->from), lines = h->lines;
    int slot[MOST_LINES], left = lines;
    for (int i = 0; i < lines; i++) slot[i] = h->line[i].slot;
    OF(clear)(s, v, made, lines);
    if (h->mean) OF(sum_lines)(s, lanes, h, kept, v->from > 0);
    walk w = OF(set_out)(s);
    OF(look)(s, lanes, 0, h->mean, kept, known, &w);
    for (int64_t step = 0; step < s->steps; step++) {
        while (left && step >= h->line[left - 1].stop) left--;
        if (!left && !s->single) return;
        OF(go_on)(s, lanes, step, h->mean, kept, known, &w);
        for (int i = 0; i < left; i++) OF(worth)(h->line + i, step, &w, count + i, loss + i);
        if (left == 4) OF(spread)(s, v, step, lines, 4, slot, count, loss, made);
        else if (left == 2) OF(spread)(s, v, step, lines, 2, slot, count, loss, made);
        else OF(spread)(s, v, step, lines, left, slot, count, loss, made);
        if (h->mean) w.before_count += w.by_count, w.before_loss += w.by_loss;
    }
}

/* What an answer and a loss at each level are worth to the summed risks of the oracle order, room[step][2]: see
 * influence.py. -1 if a table is too short.
 */
static int OF(oracle_worth)(const struct node *node, const uint8_t *lanes, vec *room) {
    const vec zero = {0};
    const struct steps *s = node->s;
    const double *level = node->levels.loss, *harmonic = node->levels.harmonic, *trigamma = node->levels.trigamma;
    vec count = zero, loss = zero + s->nothing;
    for (int64_t step = 0; step < s->steps; step++) {
        OF(add)(s, lanes, step, &count, &loss);
        room[2 * step] = count;
        room[2 * step + 1] = loss;
    }
    if (OF(any)(count >= (double)node->levels.length)) return -1;
    vec by_count = zero, by_loss = zero, next_below = zero, next_rise = zero;
    for (int64_t step = s->steps - 1; step >= 0; step--) {
        vec here = room[2 * step], before = step ? room[2 * step - 2] : zero, total = step ? room[2 * step - 1] : zero;
        vec rise, slow;
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
            each += room[2 * step + 1] / (2.0 * (answered * answered));
            lost = zero - 1.0 / (2.0 * answered);
        }
        by_count += each;
        by_loss += lost;
        next_below = below;
        next_rise = rise;
        room[2 * step] = by_count;
        room[2 * step + 1] = by_loss;
    }
    return 0;
}

/* Influences of the clusters of a window on the summed risks, and the sums of those that are drawn, up to here. */
static void OF(oracle_risks)(const struct node *node, const uint8_t *lanes, int64_t first, int64_t n, const span *v,
                             vec *influence, vec *part, vec *total) {
    const struct steps *s = node->s;
    OF(clear)(s, v, influence, 1);
    for (int64_t step = 0; step < s->steps; step++)
        OF(spread)(s, v, step, 1, 1, (int[]){0}, v->kept + 2 * step, v->kept + 2 * step + 1, influence);
    vec by_units = OF(load_some)(node->row[RISKS_BY_UNITS] + first, n);
    for (int64_t cluster = v->from; cluster < v->end; cluster++, influence++) {
        if (cluster % CLUSTER_BLOCK == 0) *total += *part, *part = -(vec){0}; /* -0.0, as the first term may be */
        *influence += by_units * s->units[cluster];
        *part += OF(weight)(lanes, (int32_t)cluster) * *influence;
    }
}

/* The window that begins with a cluster, and what a node keeps from one to the next: `room` is for a moment. */
static span OF(span_from)(const struct program *p, const struct node *node, int64_t from, vec *room) {
    int64_t end = p->clusters - from < p->window ? p->clusters : from + p->window;
    int few = node->kind == ORACLE || node->s->steps <= MOST_KEPT;
    if (p->window == p->clusters) return (span){from, end, NULL, few ? room : NULL};
    vec *kept = room + p->room + node->kept;
    return (span){from, end, (int64_t *)(kept + 2 * node->s->steps), kept};
}

/* The means over the clusters that are drawn of influences on summed risks. Where all clusters are one window, the
 * influences are left where they are made. -1 if a table is too short.
 */
static int OF(oracle_means)(const struct program *p, const uint8_t *lanes, int64_t first, int64_t n, vec *made, vec *mean,
                            vec *room) {
    for (int64_t i = 0; i < p->nodes; i++) {
        const struct node *node = p->node + i;
        vec part = -(vec){0}, total = {0};
        if (node->kind != ORACLE) continue;
        for (int64_t from = 0; from < p->clusters; from += p->window) {
            span v = OF(span_from)(p, node, from, room);
            if (from == 0 && OF(oracle_worth)(node, lanes, v.kept) < 0) return -1;
            OF(oracle_risks)(node, lanes, first, n, &v, made + node->made, &part, &total);
        }
        mean[i] = (total + part) / OF(load_some)(node->row[DRAWN] + first, n);
    }
    return 0;
}

/* Sums over what the clusters of a window hold, of all nodes that need them. -1 if an end is none of the table. */
static int OF(fill)(const struct program *p, const uint8_t *lanes, int64_t first, int64_t n, int64_t from, vec *made, vec *room) {
    for (int64_t i = 0; i < p->nodes; i++) {
        const struct node *node = p->node + i;
        vec part = {0}, total = {0};
        if (node->kind == AREA && node->leader == i) {
            sheaf h;
            span v = OF(span_from)(p, node, from, room);
            if (OF(sheaf_of)(p, i, first, n, &h) < 0) return -1;
            OF(areas)(node->s, lanes, &v, &h, made + node->made);
        } else if (node->kind == ORACLE && p->window < p->clusters) {
            span v = OF(span_from)(p, node, from, room);
            OF(oracle_risks)(node, lanes, first, n, &v, made + node->made, &part, &total);
        }
    }
    return 0;
}

/* The numerators of some clusters, from those before them in the program. */
static inline __attribute__((always_inline)) void OF(evaluate)(const struct program *p, int64_t i, int64_t from, int64_t size,
                                                               int64_t first, int64_t n, const vec *made, vec mean, vec *values) {
    const struct node *node = p->node + i;
    const vec *a = values + node->a * TILE, *b = values + node->b * TILE;
    const int64_t lines = node->lines;
    vec *to = values + i * TILE;
    made += node->made + from % p->window * lines;
    if (node->kind == GIVEN) {
        for (int64_t c = 0; c < size; c++) to[c] = OF(load_some)(node->row[0] + (from + c) * p->replicates + first, n);
    } else if (node->kind == SUM) {
        const double *numbers = node->row[NUMBERS] + from, *more = node->row[MORE_NUMBERS];
        vec factor = OF(load_some)(node->row[FACTOR] + first, n);
        if (node->flag) for (int64_t c = 0; c < size; c++) to[c] = a[c] + numbers[c] * factor;
        else for (int64_t c = 0; c < size; c++) to[c] = numbers[c] * factor;
        if (more == NULL || node->row[MORE_FACTOR] == NULL) return;
        vec times = OF(load_some)(node->row[MORE_FACTOR] + first, n);
        for (int64_t c = 0; c < size; c++) to[c] += more[from + c] * times;
    } else if (node->kind == APART) {
        vec times = OF(load_some)(node->row[TIMES] + first, n);
        for (int64_t c = 0; c < size; c++) to[c] = a[c] - times * b[c];
    } else if (node->kind == ORACLE) {
        for (int64_t c = 0; c < size; c++) to[c] = made[c] - node->row[HELD][from + c] * mean;
    } else {
        const double *units = node->s->units + from;
        vec by_units = OF(load_some)(node->row[BY_UNITS] + first, n);
        for (int64_t c = 0; c < size; c++) to[c] = made[c * lines] + by_units * units[c];
        if (node->row[LIFT] == NULL) return;
        vec lift = OF(load_some)(node->row[LIFT] + first, n);
        for (int64_t c = 0; c < size; c++) to[c] += lift * a[c];
    }
}

/* The numerators of some clusters by all nodes, and the sums of their squares, each drawn as often as `lanes` say. */
static inline __attribute__((always_inline)) void OF(some_squares)(const struct program *p, const uint8_t *lanes, int64_t from,
                                                                   int64_t size, int64_t first, int64_t n, const vec *made,
                                                                   const vec *mean, vec *values, vec *part) {
    vec drawn[TILE];
    for (int64_t c = 0; c < size; c++) drawn[c] = OF(weight)(lanes, (int32_t)(from + c));
    for (int64_t i = 0; i < p->nodes; i++) {
        const vec *value = values + i * TILE;
        OF(evaluate)(p, i, from, size, first, n, made, mean[i], values);
        if (p->node[i].squares == NULL) continue;
        vec sum = part[i];
        for (int64_t c = 0; c < size; c++) sum += drawn[c] * (value[c] * value[c]);
        part[i] = sum;
    }
}

/* The sums of squares that are wanted, a cluster drawn twice counted twice, with the clusters of one window more; and the
 * last numerators, if they are.
 */
static void OF(sum_squares)(const struct program *p, const uint8_t *lanes, int64_t first, int64_t n, int64_t from,
                            const vec *made, const vec *mean, vec *room) {
    const vec zero = {0};
    const int64_t end = p->clusters - from < p->window ? p->clusters : from + p->window;
    vec *values = room, *last = values + (p->nodes - 1) * TILE, *part = values + p->nodes * TILE, *total = part + p->nodes;
    for (int64_t i = 0; from == 0 && i < p->nodes; i++) total[i] = part[i] = zero;
    for (; from < end; from += TILE) {
        int64_t size = end - from < TILE ? end - from : TILE;
        if (from % CLUSTER_BLOCK == 0)
            for (int64_t i = 0; i < p->nodes; i++) total[i] += part[i], part[i] = zero;
        if (size == TILE) OF(some_squares)(p, lanes, from, TILE, first, n, made, mean, values, part);
        else OF(some_squares)(p, lanes, from, size, first, n, made, mean, values, part);
        for (int64_t c = 0; p->out && c < size; c++)
            OF(store_some)(p->out + (from + c) * p->replicates + first, last[c], n);
    }
    for (int64_t i = 0; end == p->clusters && i < p->nodes; i++)
        if (p->node[i].squares) OF(store_some)(p->node[i].squares + first, total[i] + part[i], n);
}

/* All that a program asks for. `scratch` holds as many vectors as `room_for` in _nodes.h says. -1 if an end or a count is
 * beyond a table.
 */
static int OF(influences)(const struct program *p, const uint8_t *tiles, double *scratch) {
    vec *made = (vec *)scratch, *mean = made + p->made, *room = mean + p->nodes;
    EACH_GROUP(p->replicates) {
        const uint8_t *lanes = tiles + block * p->clusters * LANES + lane0;
        if (OF(oracle_means)(p, lanes, first, n, made, mean, room) < 0) return -1;
        for (int64_t from = 0; from < p->clusters; from += p->window) {
            if (OF(fill)(p, lanes, first, n, from, made, room) < 0) return -1;
            OF(sum_squares)(p, lanes, first, n, from, made, mean, room);
        }
    }
    return 0;
}
