/* Influences as Python describes them: takes nodes from tuples, and checks that they lead nowhere but into their arrays. */

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
        if (array == Py_None && strchr("ok", length[i])) continue;
        if (PyObject_GetBuffer(array, *held, PyBUF_SIMPLE) < 0) return 0;
        Py_buffer *taken = (*held)++;
        int64_t pairs = taken->len / 16, expected = strchr("ck", length[i]) ? c : length[i] == 'x' ? c * r : r;
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
    int made_of = node->kind == APART || (node->kind == SUM && node->flag) || (node->kind == AREA && node->row[LIFT]);
    if (node->a < 0 || node->b < 0 || node->a > before - made_of || node->b > before - made_of) return 0;
    if (node->kind != AREA || node->leader == before) return 1;
    if (node->leader < 0 || node->leader > before) return 0;
    for (int64_t i = node->leader; i < before; i++) lines += p->node[i].kind == AREA && p->node[i].leader == node->leader;
    const struct node *leader = p->node + node->leader;
    return leader->kind == AREA && leader->leader == node->leader && leader->s == node->s && lines <= MOST_LINES;
}

/* A node from its tuple; its squares, if they are wanted, go to the next row. */
static int take_node(struct program *p, PyObject *described, Py_buffer **held) {
    struct node *node = p->node + p->nodes;
    int wanted;
    PyObject *table, *head = PyTuple_Check(described) ? PyTuple_GetSlice(described, 0, NODE_HEAD) : NULL;
    if (head == NULL) {
        PyErr_SetString(PyExc_TypeError, "a node, expected a tuple");
        return 0;
    }
    int taken = PyArg_ParseTuple(head, "iiiLLLO", &node->kind, &node->flag, &wanted, &node->a, &node->b, &node->leader, &table);
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
    if (wanted && p->end - p->squares < p->replicates) {
        PyErr_SetString(PyExc_ValueError, "squares, expected a row for each node whose squares are wanted");
        return 0;
    }
    node->flag = node->flag != 0;
    node->squares = wanted ? p->squares : NULL;
    p->squares += wanted ? p->replicates : 0;
    p->nodes++;
    return 1;
}

/* How many clusters are gone through together: all or, if they are many, so few that their sums stay near. Steps are gone
 * through for every window, which must not take longer than all of the entries do.
 */
static int64_t window_of(const struct program *p) {
    if (p->clusters <= 2 * WINDOW) return p->clusters;
    for (int64_t i = 0; i < p->nodes; i++) {
        const struct steps *s = p->node[i].s;
        if (s != NULL && s->steps * (p->clusters / WINDOW + 1) > s->entries) return p->clusters;
    }
    return WINDOW;
}

/* Where the sums over what clusters hold are, those of lines that are gone along together side by side; and what is kept
 * of steps from window to window.
 */
static void lay_out(struct program *p) {
    p->window = window_of(p);
    for (int64_t i = 0; i < p->nodes; i++) {
        struct node *node = p->node + i;
        if (node->kind != ORACLE && (node->kind != AREA || node->leader != i)) continue;
        int64_t lines = node->kind == ORACLE, place = 0;
        for (int64_t k = i; k < p->nodes; k++) lines += p->node[k].kind == AREA && node->kind == AREA && p->node[k].leader == i;
        node->made = p->made, node->lines = lines;
        for (int64_t k = i; node->kind == AREA && k < p->nodes; k++)
            if (p->node[k].kind == AREA && p->node[k].leader == i) p->node[k].made = p->made + place++, p->node[k].lines = lines;
        p->made += lines * p->window;
        node->kept = p->kept;
        p->kept += p->window < p->clusters ? 3 * node->s->steps : 0; /* two vectors, and the next entry, of each */
    }
}

/* How many vectors a program takes: sums over what clusters hold, with a mean for each node; beside them what is kept of
 * the steps of a table, or the numerators of some clusters and their sums; and what is kept from window to window.
 */
static int64_t room_for(struct program *p) {
    p->room = p->nodes * (TILE + 2);
    for (int64_t i = 0; i < p->nodes; i++) {
        int64_t steps = p->node[i].s ? p->node[i].s->steps : 0;
        if (p->node[i].kind == AREA && steps > MOST_KEPT) steps = 0;
        if (2 * steps > p->room) p->room = 2 * steps;
    }
    return p->made + p->nodes + p->room + p->kept;
}

PyDoc_STRVAR(influences_doc, "influences(..., 0, squares, out, nodes)\n\n"
    "The sums of the squares of numerators of influences, squares[wanted node][replicate], and the last numerators\n"
    "themselves, out[cluster][replicate], if they are to be written at all. A node is a tuple: its kind, a flag, whether its\n"
    "squares are wanted, the two nodes it is made of, the one whose points it shares, its table or None, and its arrays\n"
    "(None where one may be missing).");

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
        p.clusters = c.clusters, p.replicates = c.replicates, p.out = if_any(&c, 1);
        p.squares = at(&c, 0), p.end = p.squares + c.array[1].len / 8;
        int taken = sized(&c, 1, p.out ? p.clusters * p.replicates : 0);
        for (Py_ssize_t i = 0; taken && i < n; i++) taken = take_node(&p, PyList_GetItem(nodes, i), &held);
        if (taken && (n == 0 || p.squares != p.end)) {
            PyErr_SetString(PyExc_ValueError, "expected nodes, and a row of squares for each whose squares are wanted");
            taken = 0;
        }
        if (taken) lay_out(&p);
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
