/* Requests from the events of logs, joined while they are read: what marks.sql and joined_events.sql
 * make, as an Arrow stream. Threads of its own read, and need no interpreter, but for the stream of an archive,
 * which takes it itself.
 *
 * It reads what a load generator writes, and gives up where it is not sure to understand an event as the SQL does: where
 * a request goes on after its end, is issued twice, or a payload has another form or could not be written. Then the SQL
 * reads all of the log. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "_arrow.h"
#include "_events.h"
#include "_joined.h"

/* What requests_table.py expects; a change of what Python calls raises both numbers. */
#define SPELLED(name, kind) #name " " #kind ";"
static const char INTERFACE[] = "6;" OF_ISSUE(SPELLED) OF_SENDING(SPELLED) OF_ENDING(SPELLED);
#undef SPELLED

enum { THREADS = 2, QUEUED = 24 /* batches: about a second of a thread */ };

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    source *sources;
    int count, next, reading; /* sources; the next that nobody reads; threads that read */
    pthread_t threads[THREADS];
    int started;
    batch *first, *last;
    int queued;
    bool stopped, failed;
} stream;

/* Wait until there is room, and add a batch. False: nobody wants more. */
static bool enqueue(void *to, batch *full) {
    stream *own = to;
    pthread_mutex_lock(&own->lock);
    while (own->queued >= QUEUED && !own->stopped && !own->failed) pthread_cond_wait(&own->changed, &own->lock);
    bool wanted = !own->stopped && !own->failed;
    if (wanted) {
        if (own->last) own->last->next = full;
        else own->first = full;
        own->last = full, own->queued++;
        pthread_cond_broadcast(&own->changed);
    }
    pthread_mutex_unlock(&own->lock);
    if (!wanted) batch_free(full);
    return wanted;
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

static int get_next(struct ArrowArrayStream *of, struct ArrowArray *to) {
    stream *own = of->private_data;
    pthread_mutex_lock(&own->lock);
    while (!own->first && own->reading && !own->failed) pthread_cond_wait(&own->changed, &own->lock);
    batch *full = own->failed ? NULL : own->first;
    bool failed = own->failed;
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
    free(own->sources);
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

static void release(struct ArrowArrayStream *of) {
    stream *own = of->private_data;
    pthread_mutex_lock(&own->lock);
    own->stopped = true;
    pthread_cond_broadcast(&own->changed);
    pthread_mutex_unlock(&own->lock);
    join_threads(own);
    free_stream(own);
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

static bool read_source(PyObject *one, source *to) {
    const char *uri, *query;
    PyObject *spans, *capsule;
    if (!PyArg_ParseTuple(one, "ssOO", &uri, &query, &spans, &capsule)) return false;
    if (capsule != Py_None && !take_stream(capsule, to)) return false;
    size_t uri_size = strlen(uri) + 1, query_size = strlen(query) + 1;
    to->uri = malloc(uri_size), to->query = malloc(query_size);
    if (!to->uri || !to->query) return PyErr_NoMemory(), false;
    memcpy(to->uri, uri, uri_size), memcpy(to->query, query, query_size);
    return read_spans(spans, to);
}

static void release_capsule(PyObject *capsule) {
    struct ArrowArrayStream *made = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (made && made->release) made->release(made);
    free(made);
}

/* requests(sources): an Arrow stream, in a capsule, which is read from now on. A source is a URI and a query of a SQLite file,
 * the spans of its numbers, and None, or of an archive an Arrow stream in a capsule, which is read instead. */
static PyObject *requests(PyObject *Py_UNUSED(module), PyObject *sources) {
    Py_ssize_t count = PySequence_Size(sources);
    if (count < 0) return NULL;
    stream *own = calloc(1, sizeof *own);
    struct ArrowArrayStream *made = calloc(1, sizeof *made);
    if (!own || !made || !(own->sources = calloc((size_t)count + 1, sizeof *own->sources))) {
        free(own), free(made);
        return PyErr_NoMemory();
    }
    pthread_mutex_init(&own->lock, NULL), pthread_cond_init(&own->changed, NULL);
    *made = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release, own};
    for (; own->count < count; own->count++) {
        PyObject *one = PySequence_GetItem(sources, own->count);
        bool read = one && read_source(one, &own->sources[own->count]);
        Py_XDECREF(one);
        if (!read) {
            own->count++; /* what there is of it is freed too */
            made->release(made), free(made);
            return NULL;
        }
    }
    start(own);
    return PyCapsule_New(made, "arrow_array_stream", release_capsule);
}

/* use_sqlite(path): whether a library that is loaded already, or that it needs, has SQLite's functions. */
static PyObject *use_sqlite(PyObject *Py_UNUSED(module), PyObject *path) {
    const char *name;
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
    name = PyBytes_AsString(bytes);
    void *library = name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
    Py_DECREF(bytes);
    return PyBool_FromLong(library && find_sqlite(library, dlsym));
}

static PyMethodDef METHODS[] = {
    {"requests", requests, METH_O, NULL}, {"use_sqlite", use_sqlite, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_requests", NULL, 0, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__requests(void) {
    PyObject *module = PyModule_Create(&MODULE);
    if (module && PyModule_AddStringConstant(module, "INTERFACE", INTERFACE)) Py_CLEAR(module);
    return module;
}
