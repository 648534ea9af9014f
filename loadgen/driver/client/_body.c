/* A part of the body of a response, as the I/O loop hands it over.
 *
 * Its bytes and stamps stay in two arrays. Frames of known shapes are read where they are (`_chunks.c`); objects
 * of Python for each piece are made only where one of them has another shape. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>
#include <string.h>

#include "_body.h"
#include "_chunks.h"
#include "_plain.h"

static body *body_with_room(PyTypeObject *type, size_t count, size_t size) {
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    body *b = (body *)allocate(type, 0);
    if (!b) return NULL;
    b->count = count;
    b->pieces = calloc(count, sizeof *b->pieces);
    b->bytes = malloc(size + 1);
    if (b->pieces && b->bytes) return b;
    Py_DECREF(b);
    PyErr_NoMemory();
    return NULL;
}

PyObject *body_of(PyTypeObject *type, const unsigned char *bytes, const piece *pieces, size_t count) {
    size_t size = pieces[count - 1].end;
    body *b = body_with_room(type, count, size);
    if (!b) return NULL;
    memcpy(b->pieces, pieces, count * sizeof *pieces);
    memcpy(b->bytes, bytes, size);
    return (PyObject *)b;
}

/* Fill a piece from what body_lists has of it. */
static bool put(body *b, size_t place, PyObject *bytes, PyObject *moment, PyObject *late) {
    char *from;
    Py_ssize_t size;
    piece *p = &b->pieces[place];
    p->at = PyLong_AsLongLong(moment);
    if (PyErr_Occurred() || PyBytes_AsStringAndSize(bytes, &from, &size)) return false;
    memcpy(b->bytes + body_start(b, place), from, (size_t)size);
    p->end = body_start(b, place) + (size_t)size;
    PyObject *key = PyLong_FromSize_t(place), *bound = key ? PyDict_GetItemWithError(late, key) : NULL;
    Py_XDECREF(key);
    if (!bound) return !PyErr_Occurred();
    long long since;
    int whole;
    if (!PyArg_ParseTuple(bound, "Lp", &since, &whole)) return false;
    p->since = since, p->whole = whole;
    return true;
}

static PyObject *body_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords)) {
    PyObject *pieces, *moments, *late;
    if (!PyArg_ParseTuple(arguments, "O!O!O!", &PyList_Type, &pieces, &PyList_Type, &moments, &PyDict_Type, &late)) return NULL;
    Py_ssize_t count = PyList_Size(pieces), size = 0;
    if (!count || PyList_Size(moments) != count) return PyErr_Format(PyExc_ValueError, "pieces, and a moment for each");
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t more = PyBytes_Size(PyList_GetItem(pieces, i));
        if (more < 0) return NULL;
        size += more;
    }
    body *b = body_with_room(type, (size_t)count, (size_t)size);
    for (Py_ssize_t i = 0; b && i < count; i++)
        if (!put(b, (size_t)i, PyList_GetItem(pieces, i), PyList_GetItem(moments, i), late)) Py_CLEAR(b);
    return (PyObject *)b;
}

static void body_dealloc(body *b) {
    free(b->pieces);
    free(b->bytes);
    PyTypeObject *type = Py_TYPE((PyObject *)b);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(b);
    Py_DECREF(type);
}

static Py_ssize_t body_length(body *b) { return (Py_ssize_t)b->count; }

static int note_late(PyObject *late, size_t place, const piece *p) {
    PyObject *key = PyLong_FromSize_t(place);
    PyObject *bound = Py_BuildValue("LO", (long long)p->since, p->whole ? Py_True : Py_False);
    int failed = !key || !bound || PyDict_SetItem(late, key, bound);
    Py_XDECREF(key);
    Py_XDECREF(bound);
    return failed;
}

/* The pieces from a place on, their moments, and what is known of the late ones, by their places among these. */
static PyObject *body_lists(body *b, PyObject *argument) {
    size_t first = PyLong_AsSize_t(argument);
    if (PyErr_Occurred()) return NULL;
    if (first > b->count) first = b->count;
    Py_ssize_t count = (Py_ssize_t)(b->count - first);
    PyObject *pieces = PyList_New(count), *moments = PyList_New(count), *late = PyDict_New();
    bool failed = !pieces || !moments || !late;
    for (Py_ssize_t i = 0; !failed && i < count; i++) {
        size_t place = first + (size_t)i, start = body_start(b, place);
        const piece *p = &b->pieces[place];
        PyObject *bytes = PyBytes_FromStringAndSize((char *)b->bytes + start, (Py_ssize_t)(p->end - start));
        PyObject *moment = PyLong_FromLongLong(p->at);
        if (bytes) PyList_SetItem(pieces, i, bytes);
        if (moment) PyList_SetItem(moments, i, moment);
        failed = !bytes || !moment || (p->since && note_late(late, (size_t)i, p));
    }
    if (!failed) return Py_BuildValue("NNN", pieces, moments, late);
    Py_XDECREF(pieces);
    Py_XDECREF(moments);
    Py_XDECREF(late);
    return NULL;
}

/* What the first frames mean, up to one of an unknown shape, and what is to be known of them together. */
static PyObject *body_known(body *b, PyObject *arguments) {
    PyObject *known;
    long long earliest;
    if (!PyArg_ParseTuple(arguments, "O!L", &PyList_Type, &known, &earliest)) return NULL;
    size_t count = 0, changes = 0;
    PyObject *items = chunks_of_body(b, known, &count);
    if (!items) return NULL;
    bool in_order = b->pieces->at >= earliest;
    for (size_t i = 1; i < count; i++) {
        in_order &= b->pieces[i].at >= b->pieces[i - 1].at;
        changes += b->pieces[i].at != b->pieces[i - 1].at;
    }
    if (!count || !in_order) {
        Py_DECREF(items);
        Py_RETURN_NONE;
    }
    const piece *last = b->pieces + count - 1;
    return Py_BuildValue("NnnLLLn", items, (Py_ssize_t)count, (Py_ssize_t)last->end, (long long)b->pieces->at,
                         (long long)last->at, (long long)b->pieces->since, (Py_ssize_t)changes);
}

static PyMethodDef body_methods[] = {
    {"known", (PyCFunction)body_known, METH_VARARGS,
     "Return what the first frames mean whose shapes are known; None for none, or if one arrived before another."},
    {"plain", (PyCFunction)body_plain, METH_VARARGS, "Return the rows of a plain request whose body this is; None where it is not plain."},
    {"lists", (PyCFunction)body_lists, METH_O, "Return the pieces from a place on, their moments, and which are late."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot body_slots[] = {
    {Py_tp_doc, "Body(pieces, moments, late): a part of the body of a response; what `lists(0)` returns."},
    {Py_tp_new, body_new},
    {Py_tp_dealloc, body_dealloc},
    {Py_sq_length, body_length},
    {Py_tp_methods, body_methods},
    {0, NULL},
};

PyType_Spec body_spec = {
    .name = "loadgen.driver.client._wire.Body",
    .basicsize = sizeof(body),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = body_slots,
};
