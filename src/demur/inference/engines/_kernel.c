/* The compiled kernel: what numpy computes, by the same operations in the same order, and therefore to the same bits.
 *
 * _lanes.h holds the computation, for 16 replicates at a time. It is compiled once for every instruction set, and the
 * first argument of each function says which one to use. This file is what Python sees: it checks arguments, takes
 * buffers and lets other threads run meanwhile.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INTERFACE 1 /* kernel.py expects this number: an older kernel that was left in place is not used */
#define LANES 16    /* replicates in a block */

/* What each instruction set answers to. A function added here is added to the entries at the end of _lanes.h. */
struct entries {
    int (*draw)(uint64_t seed, uint64_t first, int64_t n, int64_t clusters, uint8_t *rows, uint8_t *out);
};

#define SET baseline
#include "_lanes.h"
#undef SET

/* Only gcc and clang compile single functions for another processor. Elsewhere the baseline is all there is. */
#if defined(__x86_64__) && defined(__clang__)
#define WITH_SETS 1
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#define SET avx2
#include "_lanes.h"
#undef SET
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"))), \
                             apply_to = function)
#define SET avx512
#include "_lanes.h"
#undef SET
#pragma clang attribute pop
#elif defined(__x86_64__) && defined(__GNUC__)
#define WITH_SETS 1
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2")
#define SET avx2
#include "_lanes.h"
#undef SET
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")
#define SET avx512
#include "_lanes.h"
#undef SET
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
