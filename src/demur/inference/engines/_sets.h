/* The computation for every instruction set that the compiler has, and which of them this processor has. */
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
