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

#define INTERFACE 3 /* kernel.py expects this number: an older kernel that was left in place is not used */
#define LANES 16    /* replicates in a block */
#define LONGEST_CHUNK 64 /* steps that are gone through again to find one */
#define WIDEST 64 /* bytes in a vector of any instruction set */
#define MOST_ARRAYS 8
#define CLUSTER_BLOCK 4096 /* clusters that are summed before their sums are: as in table.py */

/* The steps of a table: entries in order of step, and in each of cluster. Entry i is in a step from begin[step] on. */
struct steps {
    int64_t entries, steps, clusters;
    int64_t *begin;
    int32_t *cluster;
    double *count, *loss, *units, *answers; /* units and answers: of each cluster, at all steps */
    double nothing; /* what a sum of no losses is, 0.0 or -0.0 */
    int whole; /* whether all losses are whole numbers, of which sums are exact */
    int dense; /* whether numpy has a full matrix of the entries, and adds counts and losses apart */
};

/* Levels of loss, and harmonic numbers and trigamma function of whole numbers below a length. */
struct levels {
    const double *loss, *harmonic, *trigamma;
    int64_t length;
};

/* What is told of a line, in the order of Line in slopes.py. */
enum { PLACE, END, HEIGHT, LEFT_HEIGHT, LEFT_SLOPE, AT_HEIGHT, AT_SLOPE, BEGIN, START, EXTRA, UNITS, LINE_ROWS };

/* Where a line ends in each replicate, and what its points beside the end are worth: see Line in slopes.py. */
struct line {
    const double *row[LINE_ROWS];
    int selective;
};

/* From sums by cluster to influences per unit, and their squares; moves[cluster][replicate] may be missing. */
struct finish {
    const double *by_units, *scale, *lift, *factor, *moves;
    double *out, *squares;
};

/* Influences a and b of so many clusters and replicates, and (a - times b) / over; times and over may be missing. */
struct difference {
    int64_t clusters, replicates;
    const double *a, *b, *times, *over;
    double *out, *squares;
    int by_cluster;
};

typedef void searcher(const struct steps *, const uint8_t *tiles, int64_t replicates, int64_t chunk, const double *state,
                      int64_t questions, const double *needs, double *out);

/* What each instruction set answers to. A function added here is added to the entries at the end of _lanes.h. */
struct entries {
    int (*draw)(uint64_t seed, uint64_t first, int64_t n, int64_t clusters, uint8_t *rows, uint8_t *out);
    void (*sums)(const uint8_t *tiles, int64_t clusters, int64_t replicates, const double *by_cluster, double *out);
    void (*sweep)(const struct steps *, const uint8_t *tiles, int64_t replicates, int64_t chunk, double *state);
    searcher *reach, *find;
    int (*oracle)(const struct steps *, const uint8_t *tiles, int64_t replicates, const struct levels *, double *out);
    int (*area)(const struct steps *, const uint8_t *tiles, int64_t replicates, const struct line *,
                const struct finish *, double *scratch);
    int (*oracle_area)(const struct steps *, const uint8_t *tiles, int64_t replicates, const struct levels *,
                       const struct finish *, double *scratch);
    void (*total)(const uint8_t *tiles, int64_t clusters, int64_t replicates, const double *influence, int squared,
                  double *part, double *out);
    void (*difference)(const uint8_t *tiles, const struct difference *, double *part);
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
    free(s->cluster);
    free(s->count);
    free(s->loss);
    free(s->units);
    free(s->answers);
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

/* Whether every index lies within its array; and how many answers each cluster has. */
static int examine_steps(struct steps *s) {
    if (s->begin[0] != 0 || s->begin[s->steps] != s->entries) return 0;
    for (int64_t step = 0; step < s->steps; step++)
        if (s->begin[step] > s->begin[step + 1]) return 0;
    for (int64_t i = 0; i < s->entries; i++) {
        if (s->cluster[i] < 0 || s->cluster[i] >= s->clusters) return 0;
        s->answers[s->cluster[i]] += s->count[i];
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
                                .begin = copied(&begin), .cluster = copied(&cluster), .count = copied(&count),
                                .loss = copied(&loss), .units = copied(&units), .answers = calloc((size_t)clusters, sizeof(double))};
        }
        if (s == NULL || !s->begin || !s->cluster || !s->count || !s->loss || !s->units || !s->answers) PyErr_NoMemory();
        else if (!examine_steps(s)) PyErr_SetString(PyExc_ValueError, "steps: an index is out of range");
        else capsule = PyCapsule_New(s, STEPS, destroy_steps);
    }
    if (capsule == NULL && s != NULL) free_steps(s);
    PyBuffer_Release(&begin);
    PyBuffer_Release(&cluster);
    PyBuffer_Release(&count);
    PyBuffer_Release(&loss);
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

PyDoc_STRVAR(find_doc, "find(..., chunk, state, needs, out)\n\n"
    "The first step with at least needs[question][replicate] answers; needs do not fall from a question to the next.\n"
    "out[3][question][replicate]: the step, answers and loss there; or out[9], with the mean loss, and with answers,\n"
    "loss, mean loss and twice both areas before it. Where there is none, the number of steps, and what is at the end.");

static PyObject *find(PyObject *Py_UNUSED(module), PyObject *args) {
    struct call c;
    if (open_call(&c, args, 2, 1) && sized(&c, 0, state_size(&c))) {
        int64_t questions = c.replicates ? c.array[2].len / 8 / c.replicates : 0;
        int full = c.array[3].len == 9 * c.array[2].len;
        searcher *search = full ? c.entries->find : c.entries->reach;
        if (sized(&c, 1, questions * c.replicates) && sized(&c, 2, (full ? 9 : 3) * questions * c.replicates)) {
            OTHERS_RUN(search(c.s, c.tiles, c.replicates, c.option, at(&c, 0), questions, at(&c, 1), at(&c, 2)))
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

/* Of four arrays from this one on: finish[4][replicate], moves, out[cluster][replicate] and squares[replicate]. */
static int finish_of(struct finish *f, const struct call *c, int from) {
    const double *row = at(c, from);
    int64_t r = c->replicates, cells = r * c->clusters;
    *f = (struct finish){.by_units = row, .scale = row + r, .lift = row + 2 * r, .factor = row + 3 * r,
                         .moves = if_any(c, from + 1), .out = at(c, from + 2), .squares = at(c, from + 3)};
    return sized(c, from, 4 * r) && sized(c, from + 1, f->moves ? cells : 0) && sized(c, from + 2, cells) &&
           sized(c, from + 3, r);
}

PyDoc_STRVAR(area_doc, "area(..., selective, line, finish, moves, out, squares)\n\n"
    "Influences of the clusters on an area: out[cluster][replicate]; and the sums of their squares, squares[replicate].\n"
    "line[11][replicate] says where the line ends and what the points beside it are worth, finish[4][replicate] what a\n"
    "unit is; moves[cluster][replicate], or nothing.");

static PyObject *area(PyObject *Py_UNUSED(module), PyObject *args) {
    struct call c;
    struct finish f;
    double *vectors;
    void *scratch = NULL;
    if (open_call(&c, args, 3, 2) && sized(&c, 0, c.s ? LINE_ROWS * c.replicates : -1) && finish_of(&f, &c, 1) &&
        (scratch = memory(2 * c.s->steps + c.clusters, &vectors)) != NULL) {
        int status;
        struct line line = {.selective = c.option != 0};
        for (int i = 0; i < LINE_ROWS; i++) line.row[i] = at(&c, 0) + i * c.replicates;
        OTHERS_RUN(status = c.entries->area(c.s, c.tiles, c.replicates, &line, &f, vectors))
        c.done = fits(status);
    }
    free(scratch);
    return close_call(&c);
}

PyDoc_STRVAR(oracle_area_doc, "oracle_area(..., 0, levels, tables, finish, moves, out, squares)\n\n"
    "Influences of the clusters on the selective area of the oracle order, as area gives them.");

static PyObject *oracle_area(PyObject *Py_UNUSED(module), PyObject *args) {
    struct call c;
    struct levels v;
    struct finish f;
    double *vectors;
    void *scratch = NULL;
    if (open_call(&c, args, 4, 2) && levels_of(&v, &c) && finish_of(&f, &c, 2) &&
        (scratch = memory(2 * c.s->steps + c.clusters, &vectors)) != NULL) {
        int status;
        OTHERS_RUN(status = c.entries->oracle_area(c.s, c.tiles, c.replicates, &v, &f, vectors))
        c.done = fits(status);
    }
    free(scratch);
    return close_call(&c);
}

PyDoc_STRVAR(total_doc, "total(..., squared, influence, out)\n\n"
    "Sums over clusters, as often as each is drawn, of influence[cluster][replicate] or of its square: out[replicate].");

static PyObject *total(PyObject *Py_UNUSED(module), PyObject *args) {
    struct call c;
    double *part;
    void *scratch = NULL;
    if (open_call(&c, args, 1, 1) && sized(&c, 0, c.clusters * c.replicates) && sized(&c, 1, c.replicates) &&
        (scratch = memory(c.replicates / 8 + 1, &part)) != NULL) {
        OTHERS_RUN(c.entries->total(c.tiles, c.clusters, c.replicates, at(&c, 0), c.option != 0, part, at(&c, 1)))
        c.done = 1;
    }
    free(scratch);
    return close_call(&c);
}

PyDoc_STRVAR(difference_doc, "difference(..., by_cluster, a, b, times, over, out, squares)\n\n"
    "Influences (a - times b) / over, where times and over have a number for each replicate, or none: out[cluster]\n"
    "[replicate]; and the sums of their squares, squares[replicate]. a and b are like out, or have one number for each\n"
    "cluster.");

static PyObject *difference(PyObject *Py_UNUSED(module), PyObject *args) {
    struct call c;
    double *part;
    void *scratch = NULL;
    if (open_call(&c, args, 4, 2)) {
        int64_t r = c.replicates, cells = c.clusters * r, size = c.option ? c.clusters : cells;
        struct difference d = {c.clusters, r, at(&c, 0), at(&c, 1), if_any(&c, 2), if_any(&c, 3), at(&c, 4), at(&c, 5),
                               c.option != 0};
        if (sized(&c, 0, size) && sized(&c, 1, size) && sized(&c, 2, d.times ? r : 0) && sized(&c, 3, d.over ? r : 0) &&
            sized(&c, 4, cells) && sized(&c, 5, r) && (scratch = memory(r / 8 + 1, &part)) != NULL) {
            OTHERS_RUN(c.entries->difference(c.tiles, &d, part))
            c.done = 1;
        }
    }
    free(scratch);
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
    {"area", area, METH_VARARGS, area_doc},
    {"oracle_area", oracle_area, METH_VARARGS, oracle_area_doc},
    {"total", total, METH_VARARGS, total_doc},
    {"difference", difference, METH_VARARGS, difference_doc},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) {
#if defined(__clang__)
    const char *compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
    const char *compiler = "gcc " __VERSION__;
#elif defined(_MSC_VER)
    const char *compiler = "msvc";
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
