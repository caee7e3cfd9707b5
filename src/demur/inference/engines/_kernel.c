/* The compiled kernel: what numpy computes, by the same operations in the same order, and therefore to the same bits.
 *
 * _lanes.h holds the computation, for 16 replicates at a time. It is compiled once for every instruction set, and the
 * first argument of each function says which one to use. This file is what Python sees: it checks arguments, takes
 * buffers and lets other threads run meanwhile.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#define INTERFACE 4 /* kernel.py expects this number: an older kernel that was left in place is not used */
#define LANES 16    /* replicates in a block */
#define ASKED_AT_ONCE 64 /* questions */
#define LONGEST_CHUNK 64 /* steps that are gone through again to find one */
#define WIDEST 64 /* bytes in a vector of any instruction set */
#define MOST_ARRAYS 8
#define MOST_LINES 8 /* that are gone along together */
#define STRETCH 32 /* steps of them at a time */
#define MOST_KEPT 32768 /* steps of all of them, of which everything is kept */
#define TILE 32 /* clusters whose influences are made together: a divisor of CLUSTER_BLOCK */
#define WINDOW 8192 /* clusters whose sums are held together where there are many: a multiple of CLUSTER_BLOCK */
#define CLUSTER_BLOCK 4096 /* clusters that are summed before their sums are: as in table.py */

/* The steps of a table: entries in order of step, and in each of cluster. Entry i is in a step from begin[step] on. */
struct steps {
    int64_t entries, steps, clusters;
    Py_buffer held[3]; /* cluster, count and loss: arrays of the caller's, who leaves them as they are */
    int64_t *begin;
    const int32_t *cluster;
    const double *count, *loss;
    double *units, *answers, *losses; /* of each cluster, the latter two at all steps */
    double nothing; /* what a sum of no losses is, 0.0 or -0.0 */
    int whole; /* whether all losses are whole numbers, of which sums are exact */
    int dense; /* whether numpy has a full matrix of the entries, and adds counts and losses apart */
};

/* Levels of loss, and harmonic numbers and trigamma function of whole numbers below a length. */
struct levels {
    const double *loss, *harmonic, *trigamma;
    int64_t length;
};

/* What influences are made of: a node for each, after those that it is made of. See slopes.py.
 * AREA        on the area under a line, selective or not; `a` are those on where it ends, if there is a lift
 * ORACLE      on the summed risks of the oracle order, less their mean
 * APART       (a - times b) / over, where times and over may be missing
 * BY_CLUSTER  a number for each cluster
 * GIVEN       a number for each cluster and replicate
 */
enum { AREA, ORACLE, APART, BY_CLUSTER, GIVEN, KINDS };
#define NODE_HEAD 6 /* what is told of a node before its arrays */

/* The arrays of an AREA, in the order of Line and Finish in slopes.py; of ORACLE; and of APART. */
enum { PLACE, END, HEIGHT, LEFT_HEIGHT, LEFT_SLOPE, AT_HEIGHT, AT_SLOPE, BEGIN, START, EXTRA, UNITS, LINE_ROWS };
enum { BY_UNITS = LINE_ROWS, SCALE, LIFT, FACTOR, MOST_ROWS };
enum { RISKS_BY_UNITS, RISKS_SCALE, DRAWN, HELD, LEVELS, TABLES };
enum { TIMES, OVER };

/* How long they are: of replicates (o: or missing), clusters, clusters x replicates, steps, or twice any length. */
static const char *const LENGTHS[KINDS] = {"rrrrrrrrrrrrroo", "rrrcst", "oo", "c", "x"};

struct node {
    int kind, selective;
    long long a, b, leader; /* the nodes it is made of, and the first of the lines that are gone along together */
    int64_t made; /* where its sums over what clusters hold are */
    const struct steps *s;
    const double *row[MOST_ROWS];
    struct levels levels;
    void *worth; /* what counts and losses up to each step are worth, for so many steps as it goes along */
    int64_t along, *next; /* and the entries of each step that come next */
};

/* Nodes, so many of which need sums over what clusters hold: squares[node][replicate], and out[cluster][replicate] for the
 * last one, or NULL. A `window` is so many clusters as are held together; `room` is for what is needed once.
 */
struct program {
    int64_t nodes, clusters, replicates, made, window, room;
    struct node *node;
    double *squares, *out;
};

/* Where so many answers are reached: needs[question][replicate], which do not fall from a question to the next, and
 * out[field][question][replicate]. Of risks, scales are what is divided by: the divisor of losses, and that times units.
 */
struct questions {
    int64_t number, replicates;
    const double *needs, *scales;
    double *out;
};

typedef void searcher(const struct steps *, const uint8_t *tiles, int64_t chunk, const double *state,
                      const struct questions *);

/* What each instruction set answers to. A function added here is added to the entries at the end of _lanes.h. */
struct entries {
    int (*draw)(uint64_t seed, uint64_t first, int64_t n, int64_t clusters, uint8_t *rows, uint8_t *out);
    void (*sums)(const uint8_t *tiles, int64_t clusters, int64_t replicates, const double *by_cluster, double *out);
    void (*sweep)(const struct steps *, const uint8_t *tiles, int64_t replicates, int64_t chunk, double *state);
    searcher *reach, *find;
    int (*oracle)(const struct steps *, const uint8_t *tiles, int64_t replicates, const struct levels *, double *out);
    int (*influences)(const struct program *, const uint8_t *tiles, double *scratch);
};

#define SET baseline
#define WIDE 2
#include "_lanes.h"
#undef SET
#undef WIDE

/* Only gcc and clang compile single functions for another processor. Elsewhere the baseline is all there is. */
#if defined(__x86_64__) && defined(__clang__)
#define WITH_SETS 1
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#define SET avx2
#define WIDE 4
#include "_lanes.h"
#undef SET
#undef WIDE
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"))), \
                             apply_to = function)
#define SET avx512
#define WIDE 8
#include "_lanes.h"
#undef SET
#undef WIDE
#pragma clang attribute pop
#elif defined(__x86_64__) && defined(__GNUC__)
#define WITH_SETS 1
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2")
#define SET avx2
#define WIDE 4
#include "_lanes.h"
#undef SET
#undef WIDE
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")
#define SET avx512
#define WIDE 8
#include "_lanes.h"
#undef SET
#undef WIDE
#pragma GCC pop_options
#endif

static const struct {
    const char *name;
    const struct entries *entries;
} SETS[] = {
    {"baseline", &entries_baseline},
#ifdef WITH_SETS
    {"avx2", &entries_avx2},
    {"avx512", &entries_avx512},
#endif
};

/* How many of SETS this processor has, the operating system agreeing: each includes those before it. */
static int usable_sets(void) {
#ifdef WITH_SETS
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2")) return 1;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return 2;
    return 3;
#else
    return 1;
#endif
}

/* The functions of an instruction set, or NULL with an exception: one the processor lacks would end the process. */
static const struct entries *entries_of(int number) {
    if (number < 0 || number >= usable_sets()) {
        PyErr_Format(PyExc_ValueError, "instruction set %d is not one of this processor's %d", number, usable_sets());
        return NULL;
    }
    return SETS[number].entries;
}

PyDoc_STRVAR(draw_doc, "draw(number, seed, first, n, clusters, out) -> bool\n\n"
    "How often replicates first ... first + n - 1 hold each cluster, in out[block][cluster][lane] (uint8), 16 to a\n"
    "block. Unused lanes are 0. True: a number exceeded 255, and out is of no use.");

static PyObject *draw(PyObject *Py_UNUSED(module), PyObject *args) {
    int number, exceeded = -1;
    unsigned long long seed, first;
    Py_ssize_t n, clusters;
    Py_buffer out;
    if (!PyArg_ParseTuple(args, "iKKnnw*", &number, &seed, &first, &n, &clusters, &out)) return NULL;
    const struct entries *entries = entries_of(number);
    uint8_t *rows = NULL;
    if (entries == NULL) goto done;
    if (n < 0 || n > PY_SSIZE_T_MAX - LANES || clusters < 1 || clusters > INT32_MAX ||
        out.len % (LANES * clusters) != 0 || out.len / (LANES * clusters) != (n + LANES - 1) / LANES) {
        PyErr_SetString(PyExc_ValueError, "draw: out has other sizes than n and clusters say");
        goto done;
    }
    rows = malloc((size_t)clusters * LANES);
    if (rows == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    exceeded = entries->draw(seed, first, n, clusters, rows, out.buf);
    Py_END_ALLOW_THREADS
done:
    free(rows);
    PyBuffer_Release(&out);
    return exceeded < 0 ? NULL : PyBool_FromLong(exceeded);
}

static const char STEPS[] = "demur.steps";

static void free_steps(struct steps *s) {
    free(s->begin);
    free(s->units);
    free(s->answers);
    free(s->losses);
    for (int i = 0; i < 3; i++) PyBuffer_Release(&s->held[i]);
    free(s);
}

static void destroy_steps(PyObject *capsule) {
    struct steps *s = PyCapsule_GetPointer(capsule, STEPS);
    if (s != NULL) free_steps(s);
}

static void *copied(const Py_buffer *from) {
    void *to = malloc(from->len ? (size_t)from->len : 1);
    if (to != NULL) memcpy(to, from->buf, (size_t)from->len);
    return to;
}

/* Whether every index lies within its array; and how many answers each cluster has, and their loss. */
static int examine_steps(struct steps *s) {
    if (s->begin[0] != 0 || s->begin[s->steps] != s->entries) return 0;
    for (int64_t step = 0; step < s->steps; step++)
        if (s->begin[step] > s->begin[step + 1]) return 0;
    for (int64_t i = 0; i < s->entries; i++) {
        if (s->cluster[i] < 0 || s->cluster[i] >= s->clusters) return 0;
        s->answers[s->cluster[i]] += s->count[i];
        s->losses[s->cluster[i]] += s->loss[i];
    }
    return 1;
}

/* Whether a buffer holds so many numbers of a size; an exception if not. */
static int holds(const Py_buffer *buffer, int64_t numbers, size_t size) {
    if (numbers >= 0 && (size_t)buffer->len % size == 0 && (uint64_t)buffer->len / size == (uint64_t)numbers) return 1;
    PyErr_Format(PyExc_ValueError, "an array of %zd bytes, expected %lld numbers of %zu", buffer->len, (long long)numbers,
                 size);
    return 0;
}

PyDoc_STRVAR(steps_doc, "steps(begin, cluster, count, loss, units, dense, whole, nothing) -> capsule\n\n"
    "A table as the other functions take it: begin (int64) has one number more than there are steps, cluster (int32),\n"
    "count and loss (double) one for each entry, units (double) one for each cluster.");

static PyObject *steps(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer begin, cluster, count, loss, units;
    int dense, whole;
    double nothing;
    PyObject *capsule = NULL;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*iid", &begin, &cluster, &count, &loss, &units, &dense, &whole, &nothing))
        return NULL;
    int64_t entries = cluster.len / 4, n = begin.len / 8 - 1, clusters = units.len / 8;
    struct steps *s = NULL;
    if (clusters < 1 || clusters > INT32_MAX || n < 0) {
        PyErr_SetString(PyExc_ValueError, "steps: expected clusters, and where each step begins");
    } else if (holds(&begin, n + 1, 8) && holds(&cluster, entries, 4) && holds(&units, clusters, 8) &&
               holds(&count, entries, 8) && holds(&loss, entries, 8)) {
        if ((s = calloc(1, sizeof *s)) != NULL) {
            *s = (struct steps){.entries = entries, .steps = n, .clusters = clusters, .nothing = nothing, .dense = dense, .whole = whole,
                                .begin = copied(&begin), .held = {cluster, count, loss},
                                .cluster = cluster.buf, .count = count.buf, .loss = loss.buf, .units = copied(&units),
                                .answers = calloc((size_t)clusters, sizeof(double)), .losses = calloc((size_t)clusters, sizeof(double))};
        }
        if (s == NULL || !s->begin || !s->units || !s->answers || !s->losses) PyErr_NoMemory();
        else if (!examine_steps(s)) PyErr_SetString(PyExc_ValueError, "steps: an index is out of range");
        else capsule = PyCapsule_New(s, STEPS, destroy_steps);
    }
    if (s == NULL) {
        PyBuffer_Release(&cluster);
        PyBuffer_Release(&count);
        PyBuffer_Release(&loss);
    } else if (capsule == NULL) {
        free_steps(s);
    }
    PyBuffer_Release(&begin);
    PyBuffer_Release(&units);
    return capsule;
}

/* What all other functions are given: an instruction set, a table or None, how often replicates hold clusters, the
 * numbers of both, a number more, and arrays of doubles, the last of which are written to.
 */
struct call {
    const struct entries *entries;
    const struct steps *s;
    const uint8_t *tiles;
    Py_ssize_t clusters, replicates, option;
    Py_buffer array[MOST_ARRAYS]; /* the first is the tiles */
    int arrays, done;
};

static int take_array(struct call *c, PyObject *from, int flags) {
    if (PyObject_GetBuffer(from, &c->array[c->arrays], flags) < 0) return 0;
    c->arrays++;
    return 1;
}

static int open_call(struct call *c, PyObject *args, int inputs, int outputs) {
    int set;
    PyObject *table, *tiles, *head = PyTuple_GetSlice(args, 0, 6);
    memset(c, 0, sizeof *c);
    if (head == NULL) return 0;
    int taken = PyArg_ParseTuple(head, "iOOnnn", &set, &table, &tiles, &c->clusters, &c->replicates, &c->option);
    Py_DECREF(head);
    if (!taken || (c->entries = entries_of(set)) == NULL || !take_array(c, tiles, PyBUF_SIMPLE)) return 0;
    if (PyTuple_Size(args) != 6 + inputs + outputs) {
        PyErr_Format(PyExc_TypeError, "%zd arguments, expected %d", PyTuple_Size(args), 6 + inputs + outputs);
        return 0;
    }
    for (int i = 0; i < inputs + outputs; i++)
        if (!take_array(c, PyTuple_GetItem(args, 6 + i), i < inputs ? PyBUF_SIMPLE : PyBUF_WRITABLE)) return 0;
    if (table != Py_None && (c->s = PyCapsule_GetPointer(table, STEPS)) == NULL) return 0;
    if (c->clusters < 1 || c->clusters > INT32_MAX || c->replicates < 0 || (c->s && c->s->clusters != c->clusters)) {
        PyErr_SetString(PyExc_ValueError, "expected the clusters of the table, and replicates");
        return 0;
    }
    c->tiles = c->array[0].buf;
    return holds(&c->array[0], (c->replicates + LANES - 1) / LANES * LANES * c->clusters, 1);
}

static PyObject *close_call(struct call *c) {
    while (c->arrays > 0) PyBuffer_Release(&c->array[--c->arrays]);
    if (!c->done) return NULL;
    Py_INCREF(Py_None);
    return Py_None;
}

/* Whether an array, the tiles not counted, is of so many doubles. */
static int sized(const struct call *c, int array, int64_t numbers) { return holds(&c->array[array + 1], numbers, 8); }

static double *at(const struct call *c, int array) { return c->array[array + 1].buf; }

/* The same, or NULL for an array of nothing. */
static double *if_any(const struct call *c, int array) { return c->array[array + 1].len ? at(c, array) : NULL; }

static int fits(int status) {
    if (status < 0) PyErr_SetString(PyExc_ValueError, "a place or a count is beyond the table");
    return status == 0;
}

/* Memory for so many vectors of any instruction set; `vectors` is where in it they may begin. */
static void *memory(int64_t n, double **vectors) {
    char *scratch = (uint64_t)n < PY_SSIZE_T_MAX / (2 * WIDEST) ? malloc(((size_t)n + 1) * WIDEST) : NULL;
    if (scratch == NULL) PyErr_NoMemory();
    else *vectors = (double *)(scratch + WIDEST - (uintptr_t)scratch % WIDEST);
    return scratch;
}

#define OTHERS_RUN(work) \
    Py_BEGIN_ALLOW_THREADS work; \
    Py_END_ALLOW_THREADS

PyDoc_STRVAR(sums_doc, "sums(..., 0, by_cluster, out)\n\n"
    "Sums over clusters, as often as each is drawn, of a whole number that each has: out[replicate].");

static PyObject *sums(PyObject *Py_UNUSED(module), PyObject *args) {
    struct call c;
    if (open_call(&c, args, 1, 1) && sized(&c, 0, c.clusters) && sized(&c, 1, c.replicates)) {
        OTHERS_RUN(c.entries->sums(c.tiles, c.clusters, c.replicates, at(&c, 0), at(&c, 1)))
        c.done = 1;
    }
    return close_call(&c);
}

static int64_t state_size(const struct call *c) {
    int64_t blocks = (c->replicates + LANES - 1) / LANES, chunk = c->option;
    if (c->s == NULL || chunk < 1 || chunk > LONGEST_CHUNK) return -1;
    return blocks * ((c->s->steps + chunk - 1) / chunk + 1) * 5 * LANES;
}

PyDoc_STRVAR(sweep_doc, "sweep(..., chunk, state)\n\n"
    "Go through all steps with all replicates. state[block][chunk][5][lane], with one chunk more for the end: answers,\n"
    "their loss, twice the selective and the generalized area, and the mean loss, before each chunk of steps.");

static PyObject *sweep(PyObject *Py_UNUSED(module), PyObject *args) {
    struct call c;
    if (open_call(&c, args, 0, 1) && sized(&c, 0, state_size(&c))) {
        OTHERS_RUN(c.entries->sweep(c.s, c.tiles, c.replicates, c.option, at(&c, 0)))
        c.done = 1;
    }
    return close_call(&c);
}

PyDoc_STRVAR(find_doc, "find(..., chunk, state, needs, scales, out)\n\n"
    "The first step with at least needs[question][replicate] answers; needs do not fall from a question to the next.\n"
    "out[3][question][replicate]: the step, answers and loss there; or out[9], with the mean loss, and with answers,\n"
    "loss, mean loss and twice both areas before it. Where there is none, the number of steps, and what is at the end.\n"
    "With scales[1 + replicate], out[2]: loss / (answers x scales[0]), and loss over the others; nan where there is none.");

static PyObject *find(PyObject *Py_UNUSED(module), PyObject *args) {
    struct call c;
    if (open_call(&c, args, 3, 1) && sized(&c, 0, state_size(&c))) {
        int64_t r = c.replicates, number = r ? c.array[2].len / 8 / r : 0;
        struct questions q = {.number = number, .replicates = r, .needs = at(&c, 1), .scales = if_any(&c, 2), .out = at(&c, 3)};
        int full = c.array[4].len == 9 * c.array[2].len, fields = full ? 9 : q.scales ? 2 : 3;
        searcher *search = full ? c.entries->find : c.entries->reach;
        if (sized(&c, 1, number * r) && sized(&c, 2, q.scales ? r + 1 : 0) && sized(&c, 3, fields * number * r)) {
            OTHERS_RUN(search(c.s, c.tiles, c.option, at(&c, 0), &q))
            c.done = 1;
        }
    }
    return close_call(&c);
}

static int levels_of(struct levels *v, const struct call *c) {
    int64_t length = c->array[2].len / 16;
    *v = (struct levels){.loss = at(c, 0), .harmonic = at(c, 1), .trigamma = at(c, 1) + length, .length = length};
    return sized(c, 0, c->s ? c->s->steps : -1) && sized(c, 1, 2 * length);
}

PyDoc_STRVAR(oracle_doc, "oracle(..., 0, levels, tables, out)\n\n"
    "The oracle order, of steps that are levels of loss: out[4][replicate] has sums of risks, twice the generalized\n"
    "area, the lowest loss held and all losses. tables[2][length]: harmonic numbers, trigamma function.");

static PyObject *oracle(PyObject *Py_UNUSED(module), PyObject *args) {
    struct call c;
    struct levels v;
    if (open_call(&c, args, 2, 1) && levels_of(&v, &c) && sized(&c, 2, 4 * c.replicates)) {
        int status;
        OTHERS_RUN(status = c.entries->oracle(c.s, c.tiles, c.replicates, &v, at(&c, 2)))
        c.done = fits(status);
    }
    return close_call(&c);
}

/* Take the arrays of a node from its tuple and check how long they are; `held` is where they are held. */
static int take_rows(struct node *node, const struct program *p, PyObject *described, Py_buffer **held) {
    const char *length = LENGTHS[node->kind];
    int64_t r = p->replicates, c = p->clusters;
    if (PyTuple_Size(described) != NODE_HEAD + (Py_ssize_t)strlen(length)) {
        PyErr_Format(PyExc_ValueError, "a node of %zd arrays, expected %zu", PyTuple_Size(described) - NODE_HEAD, strlen(length));
        return 0;
    }
    for (int i = 0; length[i]; i++) {
        PyObject *array = PyTuple_GetItem(described, NODE_HEAD + i);
        if (array == Py_None && length[i] == 'o') continue;
        if (PyObject_GetBuffer(array, *held, PyBUF_SIMPLE) < 0) return 0;
        Py_buffer *taken = (*held)++;
        int64_t pairs = taken->len / 16, expected = length[i] == 'c' ? c : length[i] == 'x' ? c * r : r;
        if (length[i] == 's') expected = node->s->steps;
        if (length[i] == 't') expected = 2 * pairs;
        if (!holds(taken, expected, 8)) return 0;
        node->row[i] = taken->buf;
        if (length[i] == 't') node->levels = (struct levels){node->row[LEVELS], taken->buf, node->row[i] + pairs, pairs};
    }
    return 1;
}

/* Whether a node is made of nodes before it, and leads itself or follows a line of the same table. */
static int follows(const struct program *p, const struct node *node) {
    int64_t before = p->nodes, lines = 1;
    int made_of = node->kind == APART || (node->kind == AREA && node->row[LIFT]);
    if (node->a < 0 || node->b < 0 || node->a > before - made_of || node->b > before - made_of) return 0;
    if (node->kind != AREA || node->leader == before) return 1;
    if (node->leader < 0 || node->leader > before) return 0;
    for (int64_t i = node->leader; i < before; i++) lines += p->node[i].kind == AREA && p->node[i].leader == node->leader;
    const struct node *leader = p->node + node->leader;
    return leader->kind == AREA && leader->leader == node->leader && leader->s == node->s && lines <= MOST_LINES;
}

static int take_node(struct program *p, PyObject *described, Py_buffer **held) {
    struct node *node = p->node + p->nodes;
    PyObject *table, *head = PyTuple_Check(described) ? PyTuple_GetSlice(described, 0, NODE_HEAD) : NULL;
    if (head == NULL) {
        PyErr_SetString(PyExc_TypeError, "a node, expected a tuple");
        return 0;
    }
    int taken = PyArg_ParseTuple(head, "iiLLLO", &node->kind, &node->selective, &node->a, &node->b, &node->leader, &table);
    Py_DECREF(head);
    if (!taken) return 0;
    int of_table = node->kind == AREA || node->kind == ORACLE;
    if (of_table && (node->s = PyCapsule_GetPointer(table, STEPS)) == NULL) return 0;
    if (node->kind < 0 || node->kind >= KINDS || (of_table && node->s->clusters != p->clusters)) {
        PyErr_SetString(PyExc_ValueError, "a node, expected one of these clusters and of a kind that there is");
        return 0;
    }
    if (!take_rows(node, p, described, held)) return 0;
    if (!follows(p, node)) {
        PyErr_SetString(PyExc_ValueError, "a node, expected after those that it is made of");
        return 0;
    }
    node->selective = node->selective != 0;
    node->made = p->made;
    p->made += of_table;
    p->nodes++;
    return 1;
}

/* How many vectors a program takes: sums over what the clusters of a window hold, with their means; beside them what is
 * kept of the steps of a table, or the influences of some clusters and their sums; and for each node what its steps are
 * worth, with their next entries. All clusters are one window where they are few, or the steps too many to be kept.
 */
static int64_t room_for(struct program *p) {
    int64_t most = p->nodes * (TILE + 2), worth = 0;
    for (int64_t i = 0; i < p->nodes; i++) {
        int64_t steps = p->node[i].s ? p->node[i].s->steps : 0, kept = steps * MOST_LINES;
        if (kept > MOST_KEPT) kept = kept / STRETCH > MOST_KEPT ? kept / STRETCH : MOST_KEPT;
        if (2 * (steps + kept) > most) most = 2 * (steps + kept);
        worth += 3 * steps;
    }
    p->room = most;
    p->window = p->clusters > 2 * WINDOW && worth <= 3 * MOST_KEPT ? WINDOW : p->clusters;
    return p->made * (p->window + 1) + most + worth;
}

PyDoc_STRVAR(influences_doc, "influences(..., 0, squares, out, nodes)\n\n"
    "The sums of the squares of influences, squares[node][replicate], and the last ones themselves, out[cluster]\n"
    "[replicate], if they are to be written at all. A node is a tuple: its kind, whether it is selective, the two nodes it\n"
    "is made of, the one whose points it shares, its table or None, and its arrays (None where one may be missing).");

static PyObject *influences(PyObject *Py_UNUSED(module), PyObject *args) {
    struct call c = {0};
    Py_ssize_t last = PyTuple_Size(args) - 1;
    PyObject *nodes = last < 0 ? NULL : PyTuple_GetItem(args, last), *rest = PyTuple_GetSlice(args, 0, last < 0 ? 0 : last);
    Py_ssize_t n = nodes && PyList_Check(nodes) ? PyList_Size(nodes) : 0;
    Py_buffer *buffers = calloc((size_t)n * MOST_ROWS + 1, sizeof *buffers), *held = buffers;
    struct program p = {.node = calloc((size_t)n + 1, sizeof *p.node)};
    double *vectors;
    void *scratch = NULL;
    if (buffers == NULL || p.node == NULL) PyErr_NoMemory();
    if (rest && buffers && p.node && open_call(&c, rest, 0, 2)) {
        p.clusters = c.clusters, p.replicates = c.replicates, p.squares = at(&c, 0), p.out = if_any(&c, 1);
        int taken = sized(&c, 0, n * p.replicates) && sized(&c, 1, p.out ? p.clusters * p.replicates : 0);
        for (Py_ssize_t i = 0; taken && i < n; i++) taken = take_node(&p, PyList_GetItem(nodes, i), &held);
        if (taken && (scratch = memory(room_for(&p), &vectors)) != NULL) {
            int status;
            OTHERS_RUN(status = c.entries->influences(&p, c.tiles, vectors))
            c.done = fits(status);
        }
    }
    free(scratch);
    while (held > buffers) PyBuffer_Release(--held);
    free(buffers);
    free(p.node);
    Py_XDECREF(rest);
    return close_call(&c);
}

PyDoc_STRVAR(sets_doc, "sets() -> tuple of str\n\n"
    "The instruction sets this processor has, the widest last; their numbers are their positions.");

static PyObject *sets(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args)) {
    int usable = usable_sets();
    PyObject *names = PyTuple_New(usable);
    for (int i = 0; names != NULL && i < usable; i++) {
        PyObject *name = PyUnicode_FromString(SETS[i].name);
        if (name == NULL || PyTuple_SetItem(names, i, name) < 0) Py_CLEAR(names);
    }
    return names;
}

static PyMethodDef methods[] = {
    {"draw", draw, METH_VARARGS, draw_doc},
    {"sets", sets, METH_NOARGS, sets_doc},
    {"steps", steps, METH_VARARGS, steps_doc},
    {"sums", sums, METH_VARARGS, sums_doc},
    {"sweep", sweep, METH_VARARGS, sweep_doc},
    {"find", find, METH_VARARGS, find_doc},
    {"oracle", oracle, METH_VARARGS, oracle_doc},
    {"influences", influences, METH_VARARGS, influences_doc},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) {
#if defined(__clang__)
    const char *compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
    const char *compiler = "gcc " __VERSION__;
#else
    const char *compiler = "another compiler";
#endif
    if (PyModule_AddIntConstant(module, "INTERFACE", INTERFACE) < 0) return -1;
    return PyModule_AddStringConstant(module, "COMPILER", compiler);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, fill},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_kernel", .m_doc = "The compiled kernel.", .m_methods = methods, .m_slots = slots,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&definition); }
