/* The compiled kernel: what numpy computes, by the same operations in the same order, and therefore to the same bits.
 *
 * _lanes.h holds the computation, for 16 replicates at a time; _sets.h compiles it once for every instruction set, and the
 * first argument of each function says which one to use. This file and _nodes.h are what Python sees: they check
 * arguments, take buffers and let other threads run meanwhile.
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

#define INTERFACE 5 /* kernel.py expects this number: an older kernel that was left in place is not used */
#include "_types.h"
#include "_sets.h"

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
    if (entries == NULL) goto done;
    if (n < 0 || n > PY_SSIZE_T_MAX - LANES || clusters < 1 || clusters > UINT32_MAX / LANES ||
        out.len % (LANES * clusters) != 0 || out.len / (LANES * clusters) != (n + LANES - 1) / LANES) {
        PyErr_SetString(PyExc_ValueError, "draw: out has other sizes than n and clusters say");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    exceeded = entries->draw(seed, first, n, clusters, out.buf);
    Py_END_ALLOW_THREADS
done:
    PyBuffer_Release(&out);
    return exceeded < 0 ? NULL : PyBool_FromLong(exceeded);
}

static const char STEPS[] = "demur.steps";

static void free_steps(struct steps *s) {
    free(s->begin);
    free(s->units);
    free(s->answers);
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

/* Whether every index lies within its array; and how many answers each cluster has. */
static int examine_steps(struct steps *s) {
    if (s->begin[0] != 0 || s->begin[s->steps] != s->entries) return 0;
    for (int64_t step = 0; step < s->steps; step++)
        if (s->begin[step] > s->begin[step + 1]) return 0;
    s->single = 1;
    for (int64_t i = 0; i < s->entries; i++) {
        if (s->cluster[i] < 0 || s->cluster[i] >= s->clusters) return 0;
        s->single &= s->answers[s->cluster[i]] == 0 && s->count[i] > 0;
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

PyDoc_STRVAR(steps_doc, "steps(begin, cluster, count, loss, units, dense, nothing) -> capsule\n\n"
    "A table as the other functions take it: begin (int64) has one number more than there are steps, cluster (int32),\n"
    "count and loss (double) one for each entry, units (double) one for each cluster.");

static PyObject *steps(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer begin, cluster, count, loss, units;
    int dense;
    double nothing;
    PyObject *capsule = NULL;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*id", &begin, &cluster, &count, &loss, &units, &dense, &nothing))
        return NULL;
    int64_t entries = cluster.len / 4, n = begin.len / 8 - 1, clusters = units.len / 8;
    struct steps *s = NULL;
    if (clusters < 1 || clusters > INT32_MAX || n < 0) {
        PyErr_SetString(PyExc_ValueError, "steps: expected clusters, and where each step begins");
    } else if (holds(&begin, n + 1, 8) && holds(&cluster, entries, 4) && holds(&units, clusters, 8) &&
               holds(&count, entries, 8) && holds(&loss, entries, 8)) {
        if ((s = calloc(1, sizeof *s)) != NULL) {
            *s = (struct steps){.entries = entries, .steps = n, .clusters = clusters, .nothing = nothing, .dense = dense,
                                .begin = copied(&begin), .held = {cluster, count, loss},
                                .cluster = cluster.buf, .count = count.buf, .loss = loss.buf, .units = copied(&units),
                                .answers = calloc((size_t)clusters, sizeof(double))};
        }
        if (s == NULL || !s->begin || !s->units || !s->answers) PyErr_NoMemory();
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

#include "_nodes.h"

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
