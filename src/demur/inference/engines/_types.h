/* What the parts of the kernel share: a table, what is asked of it, and the functions of an instruction set. */
#define LANES 16    /* replicates in a block */
#define ASKED_AT_ONCE 64 /* questions */
#define LONGEST_CHUNK 64 /* steps that are gone through again to find one */
#define WIDEST 64 /* bytes in a vector of any instruction set */
#define MOST_ARRAYS 8
#define MOST_LINES 8 /* that are gone along together */
#define MOST_KEPT 2048 /* steps of which the points are kept for the second time */
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
    double *units, *answers; /* of each cluster */
    double nothing; /* what a sum of no losses is, 0.0 or -0.0 */
    int single; /* whether no cluster has more than one entry */
    int dense; /* whether numpy has a full matrix of the entries, and adds counts and losses apart */
};

/* Levels of loss, and harmonic numbers and trigamma function of whole numbers below a length. */
struct levels {
    const double *loss, *harmonic, *trigamma;
    int64_t length;
};

/* What influences are made of: a node for each, after those that it is made of. See slopes.py.
 * AREA   on the area under a line, of mean losses or not (flag); `a` are those on where it ends, if there is a lift
 * ORACLE on the summed risks of the oracle order, less their mean
 * SUM    one or two numbers of each cluster, each times a factor, and added to `a` or not (flag)
 * APART  a - times b
 * GIVEN  a number for each cluster and replicate
 */
enum { AREA, ORACLE, SUM, APART, GIVEN, KINDS };
#define NODE_HEAD 7 /* what is told of a node before its arrays */

/* The arrays of an AREA, in the order of Line and OnArea in slopes.py; of ORACLE; of SUM; and of APART. */
enum { END_POINT, AT_COUNT, AT_LOSS, LEFT_COUNT, LEFT_LOSS, END_COUNT, END_LOSS, LINE_ROWS };
enum { BY_UNITS = LINE_ROWS, LIFT, MOST_ROWS };
enum { RISKS_BY_UNITS, DRAWN, HELD, LEVELS, TABLES };
enum { NUMBERS, FACTOR, MORE_NUMBERS, MORE_FACTOR };
enum { TIMES };

/* How long they are: of replicates (o: or missing), clusters (k: or missing), clusters x replicates, steps, or twice any
 * length.
 */
static const char *const LENGTHS[KINDS] = {"rrrrrrrro", "rrcst", "crko", "r", "x"};

struct node {
    int kind, flag;
    long long a, b, leader; /* the nodes it is made of, and the first of the lines that are gone along together */
    int64_t made, lines; /* where its sums over what clusters hold begin, and how many lines they are side by side of */
    int64_t kept; /* where what is kept of its steps from window to window begins */
    double *squares; /* of each replicate, or NULL */
    const struct steps *s;
    const double *row[MOST_ROWS];
    struct levels levels;
};

/* Nodes, how many clusters are gone through together, and the vectors that their sums over what these hold take, that are
 * needed for a moment, and that are kept; where the next row of squares goes, and where there is no more room; and
 * out[cluster][replicate] for the last one, or NULL.
 */
struct program {
    int64_t nodes, clusters, replicates, window, made, room, kept;
    struct node *node;
    double *squares, *end, *out;
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
    int (*draw)(uint64_t seed, uint64_t first, int64_t n, int64_t clusters, uint8_t *out);
    void (*sums)(const uint8_t *tiles, int64_t clusters, int64_t replicates, const double *by_cluster, double *out);
    void (*sweep)(const struct steps *, const uint8_t *tiles, int64_t replicates, int64_t chunk, double *state);
    searcher *reach, *find;
    int (*oracle)(const struct steps *, const uint8_t *tiles, int64_t replicates, const struct levels *, double *out);
    int (*influences)(const struct program *, const uint8_t *tiles, double *scratch);
};
