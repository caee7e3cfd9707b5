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

#define INTERFACE 2 /* kernel.py expects this number: an older kernel that was left in place is not used */
#define LANES 16    /* replicates in a block */
#define LONGEST_CHUNK 64 /* steps that are gone through again to find one */
#define WIDEST 64   /* bytes in a vector of any instruction set */
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

/* Whether a buffer holds so many numbers, of doubles or of bytes; an exception if not. */
static int holds(const Py_buffer *buffer, int64_t numbers, size_t size, const char *what) {
    if (numbers >= 0 && (size_t)buffer->len % size == 0 && (uint64_t)buffer->len / size == (uint64_t)numbers) return 1;
    PyErr_Format(PyExc_ValueError, "%s has %zd bytes, expected %lld numbers of %zu", what, buffer->len,
                 (long long)numbers, size);
    return 0;
}

static int is_drawn(const Py_buffer *tiles, int64_t clusters, int64_t replicates) {
    if (clusters < 1 || clusters > INT32_MAX || replicates < 0) {
        PyErr_SetString(PyExc_ValueError, "expected clusters and replicates");
        return 0;
    }
    return holds(tiles, (replicates + LANES - 1) / LANES * LANES * clusters, 1, "tiles");
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
    } else if (holds(&begin, n + 1, 8, "begin") && holds(&cluster, entries, 4, "cluster") && holds(&units, clusters, 8, "units") &&
               holds(&count, entries, 8, "count") && holds(&loss, entries, 8, "loss")) {
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

/* What most functions begin with: an instruction set, a table, and how often replicates hold its clusters. */
struct call {
    const struct entries *entries;
    const struct steps *s;
    const uint8_t *tiles;
    int64_t replicates;
};

static int call_of(struct call *c, int set, PyObject *capsule, const Py_buffer *tiles, Py_ssize_t replicates) {
    c->entries = entries_of(set);
    c->s = c->entries == NULL ? NULL : PyCapsule_GetPointer(capsule, STEPS);
    c->tiles = tiles->buf;
    c->replicates = replicates;
    return c->s != NULL && is_drawn(tiles, c->s->clusters, replicates);
}

static int64_t state_size(const struct call *c, int64_t chunk) {
    int64_t blocks = (c->replicates + LANES - 1) / LANES;
    return chunk < 1 || chunk > LONGEST_CHUNK ? -1 : blocks * ((c->s->steps + chunk - 1) / chunk + 1) * 5 * LANES;
}

static PyObject *none_if(int done) {
    if (!done) return NULL;
    Py_INCREF(Py_None);
    return Py_None;
}

PyDoc_STRVAR(sweep_doc, "sweep(set, steps, tiles, replicates, chunk, state)\n\n"
    "Go through all steps with all replicates. state[block][chunk][5][lane] (double), with one chunk more for the end:\n"
    "answers, their loss, twice the selective and the generalized area, and the mean loss, before each chunk of steps.");

static PyObject *sweep(PyObject *Py_UNUSED(module), PyObject *args) {
    int set, done = 0;
    PyObject *capsule;
    Py_buffer tiles, state;
    Py_ssize_t replicates, chunk;
    struct call c;
    if (!PyArg_ParseTuple(args, "iOy*nnw*", &set, &capsule, &tiles, &replicates, &chunk, &state)) return NULL;
    if (call_of(&c, set, capsule, &tiles, replicates) && holds(&state, state_size(&c, chunk), 8, "state")) {
        Py_BEGIN_ALLOW_THREADS
        c.entries->sweep(c.s, c.tiles, replicates, chunk, state.buf);
        Py_END_ALLOW_THREADS
        done = 1;
    }
    PyBuffer_Release(&tiles);
    PyBuffer_Release(&state);
    return none_if(done);
}

PyDoc_STRVAR(sums_doc, "sums(set, tiles, clusters, replicates, by_cluster, out)\n\n"
    "Sums over clusters, as often as each is drawn, of a whole number that each has: out[replicate].");

static PyObject *sums(PyObject *Py_UNUSED(module), PyObject *args) {
    int set, done = 0;
    Py_buffer tiles, by_cluster, out;
    Py_ssize_t clusters, replicates;
    if (!PyArg_ParseTuple(args, "iy*nny*w*", &set, &tiles, &clusters, &replicates, &by_cluster, &out)) return NULL;
    const struct entries *entries = entries_of(set);
    if (entries != NULL && is_drawn(&tiles, clusters, replicates) && holds(&by_cluster, clusters, 8, "by_cluster") &&
        holds(&out, replicates, 8, "out")) {
        Py_BEGIN_ALLOW_THREADS
        entries->sums(tiles.buf, clusters, replicates, by_cluster.buf, out.buf);
        Py_END_ALLOW_THREADS
        done = 1;
    }
    PyBuffer_Release(&tiles);
    PyBuffer_Release(&by_cluster);
    PyBuffer_Release(&out);
    return none_if(done);
}

PyDoc_STRVAR(find_doc, "find(set, steps, tiles, replicates, chunk, state, questions, needs, out)\n\n"
    "The first step with at least needs[question][replicate] answers; needs do not fall from a question to the next.\n"
    "out[3][question][replicate]: the step, answers and loss there; or out[9], with the mean loss, and with answers,\n"
    "loss, mean loss and twice both areas before it. Where there is none, the number of steps, and what is at the end.");

static PyObject *find(PyObject *Py_UNUSED(module), PyObject *args) {
    int set, done = 0;
    PyObject *capsule;
    Py_buffer tiles, state, needs, out;
    Py_ssize_t replicates, chunk, n;
    struct call c;
    if (!PyArg_ParseTuple(args, "iOy*nny*ny*w*", &set, &capsule, &tiles, &replicates, &chunk, &state, &n, &needs, &out))
        return NULL;
    int full = out.len == 9 * needs.len;
    if (call_of(&c, set, capsule, &tiles, replicates) && holds(&state, state_size(&c, chunk), 8, "state") &&
        holds(&needs, n * replicates, 8, "needs") && holds(&out, (full ? 9 : 3) * n * replicates, 8, "out")) {
        Py_BEGIN_ALLOW_THREADS
        (full ? c.entries->find : c.entries->reach)(c.s, c.tiles, replicates, chunk, state.buf, n, needs.buf, out.buf);
        Py_END_ALLOW_THREADS
        done = 1;
    }
    PyBuffer_Release(&tiles);
    PyBuffer_Release(&state);
    PyBuffer_Release(&needs);
    PyBuffer_Release(&out);
    return none_if(done);
}

static int levels_of(struct levels *v, const struct steps *s, const Py_buffer *loss, const Py_buffer *tables) {
    *v = (struct levels){.loss = loss->buf, .harmonic = tables->buf, .length = tables->len / 16};
    v->trigamma = v->harmonic + v->length;
    return holds(loss, s->steps, 8, "levels") && holds(tables, 2 * v->length, 8, "tables");
}

static int fits(int status) {
    if (status < 0) PyErr_SetString(PyExc_ValueError, "a place or a count is beyond the table");
    return status == 0;
}

PyDoc_STRVAR(oracle_doc, "oracle(set, steps, tiles, replicates, levels, tables, out)\n\n"
    "The oracle order, of steps that are levels of loss: out[4][replicate] has sums of risks, twice the generalized\n"
    "area, the lowest loss held and all losses. tables[2][length]: harmonic numbers, trigamma function.");

static PyObject *oracle(PyObject *Py_UNUSED(module), PyObject *args) {
    int set, done = 0;
    PyObject *capsule;
    Py_buffer tiles, levels, tables, out;
    Py_ssize_t replicates;
    struct call c;
    struct levels v;
    if (!PyArg_ParseTuple(args, "iOy*ny*y*w*", &set, &capsule, &tiles, &replicates, &levels, &tables, &out)) return NULL;
    if (call_of(&c, set, capsule, &tiles, replicates) && levels_of(&v, c.s, &levels, &tables) &&
        holds(&out, 4 * replicates, 8, "out")) {
        Py_BEGIN_ALLOW_THREADS
        done = c.entries->oracle(c.s, c.tiles, replicates, &v, out.buf);
        Py_END_ALLOW_THREADS
        done = fits(done);
    }
    PyBuffer_Release(&tiles);
    PyBuffer_Release(&levels);
    PyBuffer_Release(&tables);
    PyBuffer_Release(&out);
    return none_if(done);
}

/* Memory for derivatives at every step and influences of every cluster, in vectors as wide as any; `vectors` is where
 * in it they may begin.
 */
static void *scratch_of(const struct call *c, double **vectors) {
    size_t n = (size_t)(2 * c->s->steps + c->s->clusters);
    char *scratch = n < PY_SSIZE_T_MAX / (8 * LANES) ? malloc((n + 1) * WIDEST) : NULL;
    if (scratch == NULL) PyErr_NoMemory();
    else *vectors = (double *)(scratch + WIDEST - (uintptr_t)scratch % WIDEST);
    return scratch;
}

static int finish_of(struct finish *f, const struct call *c, const Py_buffer *rows, const Py_buffer *moves,
                     const Py_buffer *out, const Py_buffer *squares) {
    const double *row = rows->buf;
    int64_t r = c->replicates, cells = r * c->s->clusters;
    *f = (struct finish){.by_units = row, .scale = row + r, .lift = row + 2 * r, .factor = row + 3 * r,
                         .moves = moves->len ? moves->buf : NULL, .out = out->buf,
                         .squares = squares->buf};
    return holds(rows, 4 * r, 8, "finish") && holds(out, cells, 8, "out") &&
           holds(squares, r, 8, "squares") && (moves->len == 0 || holds(moves, cells, 8, "moves"));
}

PyDoc_STRVAR(area_doc, "area(set, steps, tiles, replicates, selective, line, finish, moves, out, squares)\n\n"
    "Influences of the clusters on an area: out[cluster][replicate]. line[11][replicate] says where the line ends and\n"
    "what the points beside it are worth, finish[4][replicate] what a unit is; moves[cluster][replicate] or nothing.\n"
    "squares[replicate]: the sums of their squares.");

static PyObject *area(PyObject *Py_UNUSED(module), PyObject *args) {
    int set, selective, done = 0;
    PyObject *capsule;
    Py_buffer tiles, rows, finish, moves, out, squares;
    Py_ssize_t replicates;
    struct call c;
    struct finish f;
    if (!PyArg_ParseTuple(args, "iOy*niy*y*y*w*w*", &set, &capsule, &tiles, &replicates, &selective, &rows, &finish,
                          &moves, &out, &squares))
        return NULL;
    double *vectors;
    void *scratch = NULL;
    if (call_of(&c, set, capsule, &tiles, replicates) && holds(&rows, LINE_ROWS * replicates, 8, "line") &&
        finish_of(&f, &c, &finish, &moves, &out, &squares) && (scratch = scratch_of(&c, &vectors)) != NULL) {
        struct line line = {.selective = selective};
        for (int i = 0; i < LINE_ROWS; i++) line.row[i] = (const double *)rows.buf + i * replicates;
        Py_BEGIN_ALLOW_THREADS
        done = c.entries->area(c.s, c.tiles, replicates, &line, &f, vectors);
        Py_END_ALLOW_THREADS
        done = fits(done);
    }
    free(scratch);
    PyBuffer_Release(&tiles);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&finish);
    PyBuffer_Release(&moves);
    PyBuffer_Release(&out);
    PyBuffer_Release(&squares);
    return none_if(done);
}

PyDoc_STRVAR(oracle_area_doc, "oracle_area(set, steps, tiles, replicates, levels, tables, finish, out, squares)\n\n"
    "Influences of the clusters on the selective area of the oracle order: out[cluster][replicate].");

static PyObject *oracle_area(PyObject *Py_UNUSED(module), PyObject *args) {
    int set, done = 0;
    PyObject *capsule;
    Py_buffer tiles, levels, tables, finish, out, squares, none = {0};
    Py_ssize_t replicates;
    struct call c;
    struct levels v;
    struct finish f;
    if (!PyArg_ParseTuple(args, "iOy*ny*y*y*w*w*", &set, &capsule, &tiles, &replicates, &levels, &tables, &finish, &out,
                          &squares))
        return NULL;
    double *vectors;
    void *scratch = NULL;
    if (call_of(&c, set, capsule, &tiles, replicates) && levels_of(&v, c.s, &levels, &tables) &&
        finish_of(&f, &c, &finish, &none, &out, &squares) && (scratch = scratch_of(&c, &vectors)) != NULL) {
        Py_BEGIN_ALLOW_THREADS
        done = c.entries->oracle_area(c.s, c.tiles, replicates, &v, &f, vectors);
        Py_END_ALLOW_THREADS
        done = fits(done);
    }
    free(scratch);
    PyBuffer_Release(&tiles);
    PyBuffer_Release(&levels);
    PyBuffer_Release(&tables);
    PyBuffer_Release(&finish);
    PyBuffer_Release(&out);
    PyBuffer_Release(&squares);
    return none_if(done);
}

PyDoc_STRVAR(total_doc, "total(set, tiles, clusters, replicates, influence, squared, out)\n\n"
    "Sums over clusters, as often as each is drawn, of influence[cluster][replicate] or of its square: out[replicate].");

static PyObject *total(PyObject *Py_UNUSED(module), PyObject *args) {
    int set, squared, done = 0;
    Py_buffer tiles, influence, out;
    Py_ssize_t clusters, replicates;
    if (!PyArg_ParseTuple(args, "iy*nny*iw*", &set, &tiles, &clusters, &replicates, &influence, &squared, &out)) return NULL;
    const struct entries *entries = entries_of(set);
    double *scratch = NULL;
    if (entries != NULL && is_drawn(&tiles, clusters, replicates) &&
        holds(&influence, clusters * replicates, 8, "influence") && holds(&out, replicates, 8, "out")) {
        if ((scratch = malloc((size_t)replicates * 8 + 8)) == NULL) PyErr_NoMemory();
        else {
            Py_BEGIN_ALLOW_THREADS
            entries->total(tiles.buf, clusters, replicates, influence.buf, squared, scratch, out.buf);
            Py_END_ALLOW_THREADS
            done = 1;
        }
    }
    free(scratch);
    PyBuffer_Release(&tiles);
    PyBuffer_Release(&influence);
    PyBuffer_Release(&out);
    return none_if(done);
}

PyDoc_STRVAR(difference_doc, "difference(set, tiles, clusters, replicates, a, b, times, over, out, squares)\n\n"
    "Influences (a - times b) / over, where times and over have a number for each replicate, or none: out[cluster]\n"
    "[replicate]; and the sums of their squares, squares[replicate]. a and b are like out, or have one number per cluster.");

static PyObject *difference(PyObject *Py_UNUSED(module), PyObject *args) {
    int set, done = 0;
    Py_buffer tiles, a, b, times, over, out, squares;
    Py_ssize_t clusters, replicates;
    if (!PyArg_ParseTuple(args, "iy*nny*y*y*y*w*w*", &set, &tiles, &clusters, &replicates, &a, &b, &times, &over, &out,
                          &squares))
        return NULL;
    const struct entries *entries = entries_of(set);
    double *part = NULL;
    int64_t cells = clusters * replicates, by_cluster = a.len == clusters * 8 && replicates != 1;
    if (entries != NULL && is_drawn(&tiles, clusters, replicates) &&
        holds(&a, by_cluster ? clusters : cells, 8, "a") && holds(&b, by_cluster ? clusters : cells, 8, "b") &&
        holds(&times, times.len ? replicates : 0, 8, "times") && holds(&over, over.len ? replicates : 0, 8, "over") &&
        holds(&out, cells, 8, "out") && holds(&squares, replicates, 8, "squares")) {
        struct difference d = {clusters, replicates, a.buf, b.buf, times.len ? times.buf : NULL,
                               over.len ? over.buf : NULL, out.buf, squares.buf, (int)by_cluster};
        if ((part = malloc((size_t)replicates * 8 + 8)) == NULL) PyErr_NoMemory();
        else {
            Py_BEGIN_ALLOW_THREADS
            entries->difference(tiles.buf, &d, part);
            Py_END_ALLOW_THREADS
            done = 1;
        }
    }
    free(part);
    PyBuffer_Release(&tiles);
    PyBuffer_Release(&a);
    PyBuffer_Release(&b);
    PyBuffer_Release(&times);
    PyBuffer_Release(&over);
    PyBuffer_Release(&out);
    PyBuffer_Release(&squares);
    return none_if(done);
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
