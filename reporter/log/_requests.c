/* Requests from the events of logs, joined while they are read: what marks.sql and joined_events.sql
 * make, as an Arrow stream. Its own threads read, and need no interpreter, but for the stream of an archive,
 * which takes it itself.
 *
 * It reads what a load generator writes, and gives up where it is not sure to understand an event as the SQL does: where
 * a request goes on after its end, is issued twice, or a payload has another form or could not be written. Then the SQL
 * reads all of the log. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "_arrow.h"
#include "_joined.h"

/* What requests_table.py expects; a change of what Python calls raises both numbers. */
#define SPELLED(name, kind) #name " " #kind ";"
static const char INTERFACE[] = "10;" OF_ISSUE(SPELLED) OF_SENDING(SPELLED) OF_ENDING(SPELLED);
#undef SPELLED

enum { THREADS = 2, QUEUED = 24 /* batches: about a second of a thread */, MOST_GAPS = 1 << 16 /* for Python */ };

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    source *sources;
    int count, next, reading; /* sources; the next that nobody reads; threads that read */
    pthread_t threads[THREADS];
    int started;
    batch *first, *last;
    int queued, users; /* batches; the reader, and Arrow streams of it */
    bool stopped, failed;
    value firsts[COLUMNS]; /* of each column */
    bool has_firsts, differs[COLUMNS], known[COLUMNS], is_limited; /* columns with other values; those that streams may have */
} stream;

/* Wait until there is room, and add a batch. False: nobody wants more. */
static bool enqueue(void *to, batch *full) {
    stream *own = to;
    pthread_mutex_lock(&own->lock);
    while (own->queued >= QUEUED && !own->stopped && !own->failed) pthread_cond_wait(&own->changed, &own->lock);
    if (!own->has_firsts && !own->failed) own->failed = !first_values(full, own->firsts), own->has_firsts = true;
    bool wanted = !own->stopped && !own->failed;
    pthread_mutex_unlock(&own->lock);
    if (!wanted) return batch_free(full), false;
    compare_values(full, own->firsts);
    pthread_mutex_lock(&own->lock);
    if (own->last) own->last->next = full;
    else own->first = full;
    own->last = full, own->queued++;
    for (int place = 0; place < COLUMNS; place++) own->differs[place] |= full->differs[place];
    pthread_cond_broadcast(&own->changed);
    pthread_mutex_unlock(&own->lock);
    return true;
}

static void *read_sources(void *of) {
    stream *own = of;
    pthread_mutex_lock(&own->lock);
    while (own->next < own->count && !own->stopped && !own->failed) {
        source *from = &own->sources[own->next++];
        pthread_mutex_unlock(&own->lock);
        bool done = read_joined(from, enqueue, own);
        pthread_mutex_lock(&own->lock);
        own->failed |= !done;
    }
    if (own->reading == 1 && !own->stopped && !own->failed) {
        pthread_mutex_unlock(&own->lock);
        bool done = true;
        for (int place = own->count; done && place--;) done = end_joined(&own->sources[place]);
        pthread_mutex_lock(&own->lock);
        own->failed |= !done;
    }
    own->reading--;
    pthread_cond_broadcast(&own->changed);
    pthread_mutex_unlock(&own->lock);
    return NULL;
}

static void start(stream *own) {
    pthread_mutex_lock(&own->lock);
    for (int thread = 0; thread < THREADS && thread < own->count; thread++) {
        own->reading++;
        if (pthread_create(&own->threads[own->started], NULL, read_sources, own)) own->reading--;
        else own->started++;
    }
    own->failed |= own->count && !own->started;
    pthread_mutex_unlock(&own->lock);
}

static int get_schema(struct ArrowArrayStream *Py_UNUSED(of), struct ArrowSchema *to) {
    return schema_export(to) ? 0 : ENOMEM;
}

/* Whether all columns of a batch that have several values are known. */
static bool is_known(const stream *own, const batch *full) {
    for (int place = 0; own->is_limited && place < COLUMNS; place++)
        if (full->differs[place] && !own->known[place]) return false;
    return true;
}

static int get_next(struct ArrowArrayStream *of, struct ArrowArray *to) {
    stream *own = of->private_data;
    pthread_mutex_lock(&own->lock);
    while (!own->first && own->reading && !own->failed) pthread_cond_wait(&own->changed, &own->lock);
    bool failed = own->failed;
    batch *full = failed || !own->first || !is_known(own, own->first) ? NULL : own->first;
    if (full) {
        if (!(own->first = full->next)) own->last = NULL;
        own->queued--;
        pthread_cond_broadcast(&own->changed);
    }
    pthread_mutex_unlock(&own->lock);
    if (failed) return EIO;
    if (full) return batch_export(full, to) ? 0 : ENOMEM;
    memset(to, 0, sizeof *to); /* the end */
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *Py_UNUSED(of)) { return "the log has unusual events"; }

static void free_stream(stream *own) {
    for (int place = 0; place < own->count; place++) free_source(&own->sources[place]);
    for (batch *next; own->first; own->first = next) next = own->first->next, batch_free(own->first);
    free(own->sources), free_values(own->firsts);
    pthread_mutex_destroy(&own->lock), pthread_cond_destroy(&own->changed);
    free(own);
}

/* Threads that wait for the interpreter, to read an archive, get it while their ends are awaited. */
static void join_threads(stream *own) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyThreadState *interpreter = PyEval_SaveThread();
    for (int thread = 0; thread < own->started; thread++) pthread_join(own->threads[thread], NULL);
    PyEval_RestoreThread(interpreter);
    PyGILState_Release(state);
}

/* The last user ends the threads. */
static void leave(stream *own) {
    pthread_mutex_lock(&own->lock);
    bool is_last = !--own->users;
    own->stopped |= is_last;
    pthread_cond_broadcast(&own->changed);
    pthread_mutex_unlock(&own->lock);
    if (!is_last) return;
    join_threads(own);
    free_stream(own);
}

static void release(struct ArrowArrayStream *of) {
    leave(of->private_data);
    of->release = NULL;
}

static bool read_spans(PyObject *spans, source *to) {
    Py_ssize_t count = PySequence_Size(spans);
    if (count < 0) return false;
    if (!(to->spans = calloc((size_t)count + 1, sizeof *to->spans))) return PyErr_NoMemory(), false;
    for (; to->count < count; to->count++) {
        PyObject *one = PySequence_GetItem(spans, to->count);
        long long first_seq, offset, shift_ns;
        int is_of_run;
        bool read = one && PyArg_ParseTuple(one, "LLLp", &first_seq, &offset, &shift_ns, &is_of_run);
        Py_XDECREF(one);
        if (!read) return false;
        to->spans[to->count] = (span){first_seq, offset, shift_ns, is_of_run};
    }
    return true;
}

/* Take the stream out of a capsule. */
static bool take_stream(PyObject *capsule, source *to) {
    struct ArrowArrayStream *from = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!from) return false;
    if (!from->release) return PyErr_SetString(PyExc_ValueError, "the stream has been read"), false;
    to->stream = *from, from->release = NULL;
    return true;
}

static bool read_source(PyObject *one, uint64_t rare, source *to) {
    const char *path;
    long long root;
    PyObject *spans, *capsule;
    if (!PyArg_ParseTuple(one, "sLOO", &path, &root, &spans, &capsule)) return false;
    if (capsule != Py_None && !take_stream(capsule, to)) return false;
    size_t size = strlen(path) + 1;
    if (!(to->path = malloc(size))) return PyErr_NoMemory(), false;
    memcpy(to->path, path, size);
    to->root = root, to->rare = rare;
    return read_spans(spans, to);
}

static const char READER[] = "requests", STREAM[] = "arrow_array_stream";

static void release_reader(PyObject *capsule) {
    leave(PyCapsule_GetPointer(capsule, READER));
}

/* read(sources, rare, in_halves): a reader of requests, which begins at once. A source is the path of a SQLite file, the first
 * page of its events, the spans of their numbers, and None, or of an archive an Arrow stream in a capsule, which is read
 * instead. `rare` has a bit for each code of other events of which the numbers are noted. `in_halves`: two threads read a
 * single SQLite file; the order of the requests varies. */
static PyObject *read_requests(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *sources;
    unsigned long long rare;
    int in_halves;
    if (!PyArg_ParseTuple(arguments, "OKp", &sources, &rare, &in_halves)) return NULL;
    Py_ssize_t count = PySequence_Size(sources);
    if (count < 0) return NULL;
    stream *own = calloc(1, sizeof *own);
    if (!own || !(own->sources = calloc((size_t)count + 2 /* halves */, sizeof *own->sources))) {
        free(own);
        return PyErr_NoMemory();
    }
    pthread_mutex_init(&own->lock, NULL), pthread_cond_init(&own->changed, NULL);
    own->users = 1;
    bool halved = false;
    while (own->count < count + halved) {
        source *to = &own->sources[own->count];
        PyObject *one = PySequence_GetItem(sources, own->count % count);
        bool read = one && read_source(one, rare, to);
        Py_XDECREF(one);
        if (read && in_halves && count == 1 && *to->path) to->part = halved ? SECOND_HALF : FIRST_HALF, halved = true;
        own->count++;
        if (read) continue;
        leave(own);
        return NULL;
    }
    start(own);
    PyObject *reader = PyCapsule_New(own, READER, release_reader);
    if (!reader) leave(own);
    return reader;
}

static void release_stream(PyObject *capsule) {
    struct ArrowArrayStream *made = PyCapsule_GetPointer(capsule, STREAM);
    if (made && made->release) made->release(made);
    free(made);
}

/* stream(reader): an Arrow stream, in a capsule, of the requests that no other stream has had. It ends before a batch with
 * another value in a column of one value. */
static PyObject *stream_requests(PyObject *Py_UNUSED(module), PyObject *reader) {
    stream *own = PyCapsule_GetPointer(reader, READER);
    if (!own) return NULL;
    struct ArrowArrayStream *made = malloc(sizeof *made);
    if (!made) return PyErr_NoMemory();
    *made = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release, own};
    pthread_mutex_lock(&own->lock);
    own->users++;
    pthread_mutex_unlock(&own->lock);
    PyObject *capsule = PyCapsule_New(made, STREAM, release_stream);
    if (!capsule) release(made), free(made);
    return capsule;
}

static PyObject *value_of(const value *one, kind of) {
    double real;
    if (!one->is_present) Py_RETURN_NONE;
    if (of == TEXT || of == JSON) return PyUnicode_FromStringAndSize(one->text, (Py_ssize_t)one->size);
    if (of == TRUTH) return PyBool_FromLong((long)one->number);
    if (of != REAL) return PyLong_FromLongLong(of == SMALL ? (int32_t)one->number : (int64_t)one->number);
    memcpy(&real, &one->number, sizeof real);
    return PyFloat_FromDouble(real);
}

static PyObject *values_of(const value *values, const bool *differs) {
    PyObject *by_name = PyDict_New();
    for (int place = 0; by_name && place < COLUMNS; place++) {
        if (differs[place]) continue;
        PyObject *one = value_of(&values[place], FIELDS[place].kind);
        if (!one || PyDict_SetItemString(by_name, FIELDS[place].name, one)) Py_CLEAR(by_name);
        Py_XDECREF(one);
    }
    return by_name;
}

/* constants(reader): whether all is read, and the values of the columns that have one value so far, by name; the streams have
 * only batches with these values from now on. None: there are no more requests. It waits until the reader is ahead. */
static PyObject *learn_constants(PyObject *Py_UNUSED(module), PyObject *reader) {
    stream *own = PyCapsule_GetPointer(reader, READER);
    if (!own) return NULL;
    PyThreadState *interpreter = PyEval_SaveThread();
    pthread_mutex_lock(&own->lock);
    while (own->queued < QUEUED && own->reading && !own->failed) pthread_cond_wait(&own->changed, &own->lock);
    bool is_read = !own->reading, is_over = is_read && !own->first && !own->failed;
    bool known[COLUMNS];
    memcpy(own->known, own->differs, sizeof known), memcpy(known, own->differs, sizeof known);
    own->is_limited = true;
    pthread_mutex_unlock(&own->lock);
    PyEval_RestoreThread(interpreter);
    if (is_over) Py_RETURN_NONE;
    PyObject *values = values_of(own->firsts, known);
    return values ? Py_BuildValue("ON", is_read ? Py_True : Py_False, values) : NULL;
}

/* noted(reader): the numbers of rare events after all is read; None where they are too many, or not noted, for they are in
 * an archive or in several logs. */
static PyObject *list_noted(PyObject *Py_UNUSED(module), PyObject *reader) {
    stream *own = PyCapsule_GetPointer(reader, READER);
    if (!own) return NULL;
    const source *first = own->sources, *second = first + 1;
    size_t count = first->noted_count + second->noted_count;
    bool is_one_file = own->count == 1 + (first->part == FIRST_HALF) && *first->path;
    if (!is_one_file || count > MOST_NOTED) Py_RETURN_NONE;
    PyObject *numbers = PyList_New(0);
    for (size_t at = 0; numbers && at < count; at++) {
        bool is_first = at < first->noted_count;
        PyObject *number = PyLong_FromLongLong(is_first ? first->noted[at] : second->noted[at - first->noted_count]);
        if (!number || PyList_Append(numbers, number)) Py_CLEAR(numbers);
        Py_XDECREF(number);
    }
    return numbers;
}

/* Whether there is memory. */
static bool add_gap(PyObject *counts, uint32_t gap, int64_t count) {
    PyObject *key = PyLong_FromUnsignedLong(gap), *value = PyLong_FromLongLong(count);
    bool added = key && value && !PyDict_SetItem(counts, key, value);
    Py_XDECREF(key), Py_XDECREF(value);
    return added;
}

/* gaps(reader): how often each time between chunks is in completed requests of the performance phase, by microseconds, after
 * all is read; None where that was not counted, for the log is short or not one file, or where the times are too many. */
static PyObject *list_gaps(PyObject *Py_UNUSED(module), PyObject *reader) {
    stream *own = PyCapsule_GetPointer(reader, READER);
    if (!own) return NULL;
    const source *first = own->sources, *second = first + 1;
    if (!first->gaps || !second->gaps) Py_RETURN_NONE;
    uint32_t longest = first->longest_gap > second->longest_gap ? first->longest_gap : second->longest_gap;
    if (longest > LONGEST_GAP) Py_RETURN_NONE;
    PyObject *counts = PyDict_New();
    for (uint32_t gap = 0; counts && gap <= longest; gap++) {
        int64_t count = first->gaps[gap] + second->gaps[gap];
        if (count && PyDict_Size(counts) == MOST_GAPS) return Py_DECREF(counts), Py_NewRef(Py_None);
        if (count && !add_gap(counts, gap, count)) Py_CLEAR(counts);
    }
    return counts;
}

static PyMethodDef METHODS[] = {{"read", read_requests, METH_VARARGS, NULL},
                                {"stream", stream_requests, METH_O, NULL},
                                {"constants", learn_constants, METH_O, NULL},
                                {"noted", list_noted, METH_O, NULL},
                                {"gaps", list_gaps, METH_O, NULL},
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_requests", NULL, 0, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__requests(void) {
    PyObject *module = PyModule_Create(&MODULE);
    if (module && PyModule_AddStringConstant(module, "INTERFACE", INTERFACE)) Py_CLEAR(module);
    return module;
}
