/* Influences of clusters, and the sums of their squares: what is described by nodes (see _kernel.c), for WIDE replicates
 * before it turns to the next ones. Influences are made a few clusters at a time, and none of them is written down but
 * those that are asked for.
 */

/* Where the points of a line are in each replicate of a group, and what those at its ends are worth: see Line. */
struct OF(ends) {
    vec row[LINE_ROWS];
    int64_t steps, from, to; /* how many steps count, and between which of them no lane is a special case */
};
#define ends struct OF(ends)

/* Lines through the points of one table, which are gone through for all of them at once; and what counts and losses up to
 * a step are worth, summed from the last step back to where they are.
 */
struct OF(sheaf) {
    int lines, selective[MOST_LINES], some[2]; /* whether each is selective, and whether some are not, or are */
    int64_t begun; /* from this step on every replicate has answers */
    vec start, units, by_count[MOST_LINES], by_loss[MOST_LINES];
    ends e[MOST_LINES];
    struct node *node[MOST_LINES];
};
#define sheaf struct OF(sheaf)

/* A few steps: the points before them, after each of them, and after the next one; and what each step is worth inside a
 * line. [0] is of lines whose heights are losses per unit, [1] of those with the mean loss.
 */
struct OF(stretch) {
    int64_t first, size;
    vec x[STRETCH + 2], loss[STRETCH + 2], y[2][STRETCH + 2], each[2][STRETCH], slope[2][STRETCH];
};
#define stretch struct OF(stretch)

/* -1 if a place is none of the table. */
static inline int OF(ends_of)(const struct steps *s, const struct node *line, int64_t first, int64_t n, ends *e) {
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

/* By the count up to a step, and by the loss up to it, where a lane may be at an end of its line. */
static void OF(slopes_at_ends)(const ends *e, int64_t step, vec x, vec y, vec *slope, vec *each, int selective) {
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

/* Heights of the points, and what the steps are worth inside a line. Before a replicate begins it has no mean loss: the
 * line is as high as where it starts.
 */
static inline void OF(inside)(const sheaf *h, stretch *t) {
    const vec zero = {0};
    if (h->some[0]) {
        for (int64_t i = 0; i < t->size + 2; i++) t->y[0][i] = t->loss[i] / h->units;
        for (int64_t i = 0; i < t->size; i++) {
            t->each[0][i] = (t->x[i + 2] - t->x[i]) * 0.5 / h->units;
            t->slope[0][i] = (t->y[0][i + 2] - t->y[0][i]) * -0.5;
        }
    }
    if (!h->some[1]) return;
    for (int64_t i = 0; i < t->size + 2; i++) {
        mask held = t->x[i] > zero;
        if (t->first + i > h->begun) t->y[1][i] = t->loss[i] / t->x[i];
        else t->y[1][i] = OF(where)(held, t->loss[i] / OF(where)(held, t->x[i], zero + 1.0), h->start);
    }
    for (int64_t i = 0; i < t->size; i++) {
        vec each = (t->x[i + 2] - t->x[i]) * 0.5 / t->x[i + 1];
        t->each[1][i] = each;
        t->slope[1][i] = (t->y[1][i + 2] - t->y[1][i]) * -0.5 - each * t->y[1][i + 1];
    }
}

/* What counts and losses up to these steps are worth to one line, worth[step][2]; how many of them are steps of it. */
static inline int64_t OF(along)(sheaf *h, int line, const stretch *t, vec *worth) {
    const ends *e = h->e + line;
    const int kind = h->selective[line];
    int64_t size = e->steps - t->first < t->size ? e->steps - t->first : t->size;
    vec by_count = h->by_count[line], by_loss = h->by_loss[line];
    for (int64_t i = size - 1; i >= 0; i--) {
        int64_t step = t->first + i;
        vec each = t->each[kind][i], slope = t->slope[kind][i];
        if (step <= e->from || step + 1 >= e->to) {
            mask inside = (vec){0} + (double)(step + 1) < e->row[PLACE];
            vec before = step ? t->y[kind][i] : e->row[START];
            each = (OF(where)(inside, t->x[i + 2], e->row[END]) - t->x[i]) * 0.5;
            slope = (OF(where)(inside, t->y[kind][i + 2], e->row[HEIGHT]) - before) * -0.5;
            OF(slopes_at_ends)(e, step, t->x[i + 1], t->y[kind][i + 1], &slope, &each, kind);
        }
        worth[2 * i] = by_count += slope;
        worth[2 * i + 1] = by_loss += each;
    }
    h->by_count[line] = by_count;
    h->by_loss[line] = by_loss;
    return size;
}

/* From the last step back: what counts and losses up to each step are worth, to[line][step][2], or only after each stretch
 * but the last, to[stretch][line][2]. The points of whole numbers, whose sums are exact, are had back from the last one;
 * others are kept from the first on, in points[step][2].
 */
static void OF(sum_back)(const struct steps *s, const uint8_t *lanes, sheaf *h, vec *points, vec *to, int keep) {
    const vec zero = {0};
    int back = s->whole && s->entries <= 2 * s->steps; /* of steps with many entries, it is less to keep the points */
    vec count = zero, loss = zero + s->nothing, worth[2 * STRETCH];
    for (int64_t cluster = 0; back && cluster < s->clusters; cluster++) {
        vec drawn = OF(weight)(lanes, (int32_t)cluster);
        count += drawn * s->answers[cluster];
        loss += drawn * s->losses[cluster];
    }
    for (int64_t step = 0; !back && step < s->steps; step++) {
        OF(add)(s, lanes, step, &count, &loss);
        points[2 * step] = count, points[2 * step + 1] = loss;
    }
    stretch t;
    t.first = s->steps, t.x[1] = t.loss[1] = zero; /* what is after the last point is not looked at */
    for (int64_t first = (s->steps - 1) / STRETCH * STRETCH; first >= (keep ? 0 : STRETCH); first -= STRETCH) {
        t.size = t.first - first;
        t.x[t.size + 1] = t.x[1], t.loss[t.size + 1] = t.loss[1];
        t.first = first;
        for (int64_t i = t.size; i >= 0; i--) {
            int64_t step = first + i - 1; /* the point is that after this step */
            if (!back) count = step < 0 ? zero : points[2 * step], loss = step < 0 ? zero : points[2 * step + 1];
            t.x[i] = count, t.loss[i] = loss;
            if (back && i) OF(subtract)(s, lanes, step, &count, &loss);
        }
        OF(inside)(h, &t);
        for (int line = 0; line < h->lines; line++) {
            vec *after = to + 2 * ((first / STRETCH - 1) * h->lines + line);
            OF(along)(h, line, &t, keep ? to + 2 * (line * s->steps + first) : worth);
            if (!keep) after[0] = h->by_count[line], after[1] = h->by_loss[line];
        }
    }
}

/* Add what some entries of a step are worth to the sums of their clusters, which begin with the cluster `from`. */
static inline void OF(add_worth)(const struct steps *s, int64_t i, int64_t stop, const vec *worth, vec *sums, int64_t from) {
    vec each = worth[0], loss = worth[1];
    for (; i < stop; i++) {
        vec *to = sums + (s->cluster[i] - from);
        if (s->dense) *to = *to + s->count[i] * each + s->loss[i] * loss; /* two sums, as of two matrices */
        else *to += each * s->count[i] + loss * s->loss[i];
    }
}

/* From what counts and losses up to some steps are worth, worth[step][2], to sums over what a cluster holds. */
static inline void OF(spread)(const struct steps *s, int64_t first, int64_t size, const vec *worth, vec *influence) {
    for (int64_t step = first; step < first + size; step++, worth += 2)
        OF(add_worth)(s, s->begin[step], s->begin[step + 1], worth, influence, 0);
}

/* The same over what the clusters from `from` to `end` hold. They follow the last ones: `next` of each step is their first
 * entry, and then the one after them.
 */
static void OF(spread_window)(const struct node *node, int64_t from, int64_t end, vec *sums) {
    const struct steps *s = node->s;
    const vec *worth = node->worth;
    memset(sums, 0, sizeof(vec) * (size_t)(end - from));
    for (int64_t step = 0; step < node->along; step++, worth += 2) {
        int64_t i = node->next[step], stop = i;
        while (stop < s->begin[step + 1] && s->cluster[stop] < end) stop++;
        OF(add_worth)(s, i, stop, worth, sums, from);
        node->next[step] = stop;
    }
}

/* Where a node keeps what its steps are worth, until its sums over what some clusters hold are made. */
static void OF(keep)(struct node *node, vec *worth, int64_t along, vec **room) {
    node->worth = worth, node->along = along, node->next = (int64_t *)*room;
    memcpy(node->next, node->s->begin, sizeof(int64_t) * (size_t)node->s->steps);
    *room += node->s->steps;
}

/* From the first step on: sums over what the clusters hold. What counts and losses are worth after each stretch of steps
 * is known, and within a stretch it is found again: for many steps, that is less than to keep it.
 */
static void OF(sum_on)(const struct steps *s, const uint8_t *lanes, sheaf *h, const vec *after, vec *const *made) {
    const vec zero = {0};
    vec count = zero, loss = zero + s->nothing, worth[2 * STRETCH];
    stretch t;
    for (t.first = 0; t.first < s->steps; t.first += STRETCH, after += 2 * h->lines) {
        int last = s->steps - t.first <= STRETCH;
        t.size = last ? s->steps - t.first : STRETCH;
        t.x[0] = count, t.loss[0] = loss;
        for (int64_t i = 0; i <= t.size; i++) {
            if (t.first + i < s->steps) OF(add)(s, lanes, t.first + i, &count, &loss);
            t.x[i + 1] = count, t.loss[i + 1] = loss;
        }
        count = t.x[t.size], loss = t.loss[t.size]; /* one step was looked ahead */
        OF(inside)(h, &t);
        for (int line = 0; line < h->lines; line++) {
            h->by_count[line] = last ? zero : after[2 * line], h->by_loss[line] = last ? zero : after[2 * line + 1];
            int64_t size = OF(along)(h, line, &t, worth);
            OF(spread)(s, t.first, size, worth, made[line]);
        }
    }
}

/* Sums over what the clusters hold, made[line][cluster]. A cluster is summed from the first step on, and what the steps
 * are worth from the last one back.
 */
static void OF(areas)(const struct steps *s, const uint8_t *lanes, sheaf *h, vec *const *made, vec *room) {
    int keep = s->steps > STRETCH && s->steps * h->lines <= MOST_KEPT;
    vec *worth = room + 2 * s->steps;
    for (int line = 0; line < h->lines; line++) memset(made[line], 0, sizeof(vec) * (size_t)s->clusters);
    if (s->steps > STRETCH) OF(sum_back)(s, lanes, h, room, worth, keep);
    if (!keep) OF(sum_on)(s, lanes, h, worth, made);
    for (int line = 0; keep && line < h->lines; line++)
        OF(spread)(s, 0, h->e[line].steps, worth + 2 * line * s->steps, made[line]);
}

/* The lines of one sheaf: those that a node leads. -1 if a place is none of the table. */
static int OF(sheaf_of)(const struct program *p, int64_t leader, int64_t first, int64_t n, sheaf *h, vec **made, vec *sums) {
    h->lines = h->some[0] = h->some[1] = 0;
    h->begun = 0;
    for (int64_t i = leader; i < p->nodes; i++) {
        const struct node *node = p->node + i;
        if (node->kind != AREA || node->leader != leader) continue;
        ends *e = h->e + h->lines;
        if (OF(ends_of)(node->s, node, first, n, e) < 0) return -1;
        h->node[h->lines] = p->node + i;
        if (node->selective) h->begun = e->from, h->start = e->row[START];
        h->units = e->row[UNITS];
        h->selective[h->lines] = node->selective;
        h->some[node->selective] = 1;
        h->by_count[h->lines] = h->by_loss[h->lines] = (vec){0};
        made[h->lines++] = sums + node->made * p->window;
    }
    return 0;
}

/* What counts and losses up to each level are worth to the summed risks of the oracle order, worth[step][2]: see
 * influence.py. -1 if a table is too short.
 */
static int OF(oracle_worth)(const struct node *node, const uint8_t *lanes, vec *worth) {
    const vec zero = {0};
    const struct steps *s = node->s;
    const double *level = node->levels.loss, *harmonic = node->levels.harmonic, *trigamma = node->levels.trigamma;
    if (!OF(within)(s, lanes, &node->levels)) return -1;
    vec count = zero, loss = zero + s->nothing;
    for (int64_t step = 0; step < s->steps; step++) {
        OF(add)(s, lanes, step, &count, &loss);
        worth[2 * step] = count;
        worth[2 * step + 1] = loss;
    }
    vec by_count = zero, by_loss = zero, next_below = zero, next_rise = zero;
    for (int64_t step = s->steps - 1; step >= 0; step--) {
        vec here = worth[2 * step], before = step ? worth[2 * step - 2] : zero, total = step ? worth[2 * step - 1] : zero;
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
            each += worth[2 * step + 1] / (2.0 * (answered * answered));
            lost = zero - 1.0 / (2.0 * answered);
        }
        by_count += each;
        by_loss += lost;
        next_below = below;
        next_rise = rise;
        worth[2 * step] = by_count;
        worth[2 * step + 1] = by_loss;
    }
    return 0;
}

/* Influences on the summed risks from the sums over what some clusters hold, in place; `part` and `total` are sums of them
 * over the clusters that are drawn.
 */
static void OF(oracle_risks)(const struct node *node, const uint8_t *lanes, int64_t first, int64_t n, int64_t from,
                             int64_t end, vec *sums, vec *part, vec *total) {
    const vec zero = {0};
    vec by_units = OF(load_some)(node->row[RISKS_BY_UNITS] + first, n), scale = OF(load_some)(node->row[RISKS_SCALE] + first, n);
    for (int64_t cluster = from; cluster < end; cluster++) {
        vec *influence = sums + (cluster - from);
        if (cluster % CLUSTER_BLOCK == 0) *total += *part, *part = -zero; /* -0.0, as the first term may be */
        *influence = (*influence + by_units * node->s->units[cluster]) / scale;
        *part += OF(weight)(lanes, (int32_t)cluster) * *influence;
    }
}

/* Sums over what the clusters from `from` to `end` hold, of all nodes that need them. */
static void OF(fill)(const struct program *p, const uint8_t *lanes, int64_t first, int64_t n, int64_t from, int64_t end,
                     vec *made) {
    vec part, total;
    for (int64_t i = 0; i < p->nodes; i++) {
        const struct node *node = p->node + i;
        vec *sums = made + node->made * p->window;
        if (node->kind != AREA && node->kind != ORACLE) continue;
        OF(spread_window)(node, from, end, sums);
        part = total = (vec){0};
        if (node->kind == ORACLE) OF(oracle_risks)(node, lanes, first, n, from, end, sums, &part, &total);
    }
}

/* The mean of the influences on the summed risks over the clusters that are drawn. Where all clusters are one window, `sums`
 * are then the influences. -1 if a table is too short.
 */
static int OF(oracle_mean)(const struct program *p, struct node *node, const uint8_t *lanes, int64_t first, int64_t n,
                           vec *sums, vec *mean, vec **room) {
    const struct steps *s = node->s;
    vec part = -(vec){0}, total = {0}, *worth = *room;
    if (OF(oracle_worth)(node, lanes, worth) < 0) return -1;
    *room += 2 * s->steps;
    OF(keep)(node, worth, s->steps, room);
    for (int64_t from = 0; from < p->clusters; from += p->window) {
        int64_t end = p->clusters - from < p->window ? p->clusters : from + p->window;
        OF(spread_window)(node, from, end, sums);
        OF(oracle_risks)(node, lanes, first, n, from, end, sums, &part, &total);
    }
    memcpy(node->next, s->begin, sizeof(int64_t) * (size_t)s->steps);
    *mean = (total + part) / OF(load_some)(node->row[DRAWN] + first, n);
    return 0;
}

/* The influences of some clusters, from those before them in the program. */
static inline void OF(evaluate)(const struct program *p, int64_t i, int64_t from, int64_t size, int64_t first, int64_t n,
                                const vec *made, const vec *mean, vec *values) {
    const struct node *node = p->node + i;
    const vec one = (vec){0} + 1.0, *a = values + node->a * TILE, *b = values + node->b * TILE;
    vec *to = values + i * TILE;
    made += node->made * p->window + from % p->window;
    if (node->kind == BY_CLUSTER) {
        for (int64_t c = 0; c < size; c++) to[c] = (vec){0} + node->row[0][from + c];
    } else if (node->kind == GIVEN) {
        for (int64_t c = 0; c < size; c++) to[c] = OF(load_some)(node->row[0] + (from + c) * p->replicates + first, n);
    } else if (node->kind == ORACLE) {
        for (int64_t c = 0; c < size; c++) to[c] = made[c] - node->row[HELD][from + c] * mean[node->made];
    } else if (node->kind == APART) {
        vec times = node->row[TIMES] ? OF(load_some)(node->row[TIMES] + first, n) : one;
        vec over = node->row[OVER] ? OF(load_some)(node->row[OVER] + first, n) : one;
        if (node->row[OVER]) for (int64_t c = 0; c < size; c++) to[c] = (a[c] - times * b[c]) / over;
        else for (int64_t c = 0; c < size; c++) to[c] = a[c] - times * b[c];
    } else {
        const double *units = node->s->units + from;
        vec by_units = OF(load_some)(node->row[BY_UNITS] + first, n), scale = OF(load_some)(node->row[SCALE] + first, n);
        vec lift = node->row[LIFT] ? OF(load_some)(node->row[LIFT] + first, n) : one;
        vec factor = node->row[FACTOR] ? OF(load_some)(node->row[FACTOR] + first, n) : one;
        if (node->row[LIFT])
            for (int64_t c = 0; c < size; c++) to[c] = (made[c] + by_units * units[c]) / scale + lift * (a[c] * factor);
        else for (int64_t c = 0; c < size; c++) to[c] = (made[c] + by_units * units[c]) / scale;
    }
}

/* Sums of squares of all nodes over the clusters from `from` to `end`, a cluster drawn twice counted twice, added to those
 * of the clusters before; and the last influences, if they are asked for. room: values, part[node], total[node].
 */
static void OF(sum_squares)(const struct program *p, const uint8_t *lanes, int64_t first, int64_t n, int64_t from,
                            int64_t end, const vec *made, const vec *mean, vec *room) {
    const vec zero = {0};
    vec *values = room, *part = values + p->nodes * TILE, *total = part + p->nodes, drawn[TILE];
    for (; from < end; from += TILE) {
        int64_t size = end - from < TILE ? end - from : TILE;
        for (int64_t c = 0; c < size; c++) drawn[c] = OF(weight)(lanes, (int32_t)(from + c));
        for (int64_t i = 0; i < p->nodes; i++) {
            const vec *value = values + i * TILE;
            OF(evaluate)(p, i, from, size, first, n, made, mean, values);
            if (from == 0) total[i] = part[i] = zero;
            if (from % CLUSTER_BLOCK == 0) total[i] += part[i], part[i] = zero;
            if (p->node[i].kind == BY_CLUSTER) continue;
            vec sum = part[i];
            for (int64_t c = 0; c < size; c++) sum += drawn[c] * (value[c] * value[c]);
            part[i] = sum;
            for (int64_t c = 0; p->out && i == p->nodes - 1 && c < size; c++)
                OF(store_some)(p->out + (from + c) * p->replicates + first, value[c], n);
        }
    }
    for (int64_t i = 0; end == p->clusters && i < p->nodes; i++)
        OF(store_some)(p->squares + i * p->replicates + first, total[i] + part[i], n);
}

/* The lines that a node leads: their sums over what all clusters hold or, if there are more clusters than are looked at
 * together, what the steps are worth to them. -1 if a place is none of the table.
 */
static int OF(lines)(const struct program *p, int64_t leader, const uint8_t *lanes, int64_t first, int64_t n, vec *made,
                     vec **kept, vec *room) {
    const struct steps *s = p->node[leader].s;
    vec *sums[MOST_LINES], *worth = *kept;
    sheaf h;
    if (OF(sheaf_of)(p, leader, first, n, &h, sums, made) < 0) return -1;
    if (p->window == p->clusters) {
        OF(areas)(s, lanes, &h, sums, room);
        return 0;
    }
    *kept += 2 * h.lines * s->steps;
    OF(sum_back)(s, lanes, &h, room, worth, 1);
    for (int line = 0; line < h.lines; line++) OF(keep)(h.node[line], worth + 2 * line * s->steps, h.e[line].steps, kept);
    return 0;
}

/* All that a program asks for. `scratch` holds as many vectors as `room_for` in _kernel.c says. -1 if a place or a count is
 * beyond a table.
 */
static int OF(influences)(const struct program *p, const uint8_t *tiles, double *scratch) {
    vec *made = (vec *)scratch, *mean = made + p->made * p->window, *room = mean + p->made;
    EACH_GROUP(p->replicates) {
        const uint8_t *lanes = tiles + block * p->clusters * LANES + lane0;
        vec *kept = room + p->room;
        for (int64_t i = 0; i < p->nodes; i++) {
            struct node *node = p->node + i;
            vec *sums = made + node->made * p->window;
            if (node->kind == AREA && node->leader == i && OF(lines)(p, i, lanes, first, n, made, &kept, room) < 0) return -1;
            if (node->kind == ORACLE && OF(oracle_mean)(p, node, lanes, first, n, sums, mean + node->made, &kept) < 0)
                return -1;
        }
        for (int64_t from = 0; from < p->clusters; from += p->window) {
            int64_t end = p->clusters - from < p->window ? p->clusters : from + p->window;
            if (p->window < p->clusters) OF(fill)(p, lanes, first, n, from, end, made);
            OF(sum_squares)(p, lanes, first, n, from, end, made, mean, room);
        }
    }
    return 0;
}
