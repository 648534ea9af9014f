/* Events as rows of the log: `row` of recorder/schema.py has the same in Python, and says what it means. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include "_rows.h"

typedef struct {
    PyObject *encode, *row; /* borrowed: a value as bytes of JSON, and what takes all other events */
    PyObject *texts_key, *gaps_key;
} encoder;

static PyObject *text_of(const encoder *with, PyObject *value) {
    PyObject *json = PyObject_CallFunctionObjArgs(with->encode, value, NULL), *decoded = NULL;
    char *bytes;
    Py_ssize_t size;
    if (json && !PyBytes_AsStringAndSize(json, &bytes, &size)) decoded = PyUnicode_DecodeUTF8(bytes, size, NULL);
    Py_XDECREF(json);
    return decoded;
}

/* Take a member out of a payload; a new reference, NULL where there is none. */
static PyObject *popped(PyObject *payload, PyObject *key) {
    PyObject *value = Py_XNewRef(PyDict_GetItemWithError(payload, key));
    if (value && PyDict_DelItem(payload, key)) Py_CLEAR(value);
    return value;
}

/* Encode a payload that is a plain dict: its columns, or false with an error. */
static bool columns_of(const encoder *with, PyObject *payload, PyObject *columns[3]) {
    int apart = PyDict_Contains(payload, with->texts_key) == 1 || PyDict_Contains(payload, with->gaps_key) == 1;
    PyObject *own = apart ? PyDict_Copy(payload) : Py_NewRef(payload);
    PyObject *gaps = own ? popped(own, with->gaps_key) : NULL;
    if (gaps && !PyBytes_CheckExact(gaps)) {
        /* What is not an arrival of chunks stays with the other members: those keep their order in Python. */
        PyErr_SetString(PyExc_TypeError, "other gaps");
    }
    PyObject *texts = own && !PyErr_Occurred() ? popped(own, with->texts_key) : NULL;
    if (own && !PyErr_Occurred()) {
        columns[0] = PyDict_Size(own) ? text_of(with, own) : Py_NewRef(Py_None);
        columns[1] = texts ? text_of(with, texts) : Py_NewRef(Py_None);
        columns[2] = Py_NewRef(gaps ? gaps : Py_None);
    }
    Py_XDECREF(own);
    Py_XDECREF(gaps);
    Py_XDECREF(texts);
    return columns[0] && columns[1] && columns[2];
}

static PyObject *row_of(const encoder *with, PyObject *event) {
    PyObject *kind, *at, *uuid, *payload, *columns[3] = {NULL, NULL, NULL}, *row = NULL;
    if (!PyTuple_Check(event) || PyTuple_Size(event) != 4) return PyErr_Format(PyExc_TypeError, "an event has four fields");
    kind = PyTuple_GetItem(event, 0), at = PyTuple_GetItem(event, 1);
    uuid = PyTuple_GetItem(event, 2), payload = PyTuple_GetItem(event, 3);
    long code = PyLong_AsLong(kind);
    if (code == -1 && PyErr_Occurred()) return NULL;
    if (payload == Py_None) return Py_BuildValue("lOOOOO", code, at, uuid, Py_None, Py_None, Py_None);
    if (PyDict_CheckExact(payload) && columns_of(with, payload, columns))
        row = Py_BuildValue("lOOOOO", code, at, uuid, columns[0], columns[1], columns[2]);
    for (int i = 0; i < 3; i++) Py_XDECREF(columns[i]);
    if (row || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError))) return row;
    PyErr_Clear();
    return PyObject_CallFunctionObjArgs(with->row, event, NULL);
}

PyObject *rows_of_events(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *events, *rows = NULL;
    encoder with = {0};
    if (!PyArg_ParseTuple(arguments, "O!OO", &PyList_Type, &events, &with.encode, &with.row)) return NULL;
    with.texts_key = PyUnicode_InternFromString("texts");
    with.gaps_key = PyUnicode_InternFromString("chunk_gaps_us");
    Py_ssize_t count = PyList_Size(events);
    if (with.texts_key && with.gaps_key) rows = PyList_New(count);
    for (Py_ssize_t i = 0; rows && i < count; i++) {
        PyObject *event = Py_NewRef(PyList_GetItem(events, i)), *row = row_of(&with, event);
        Py_DECREF(event);
        if (!row || PyList_SetItem(rows, i, row)) Py_CLEAR(rows);
        /* Neither is in memory twice. */
        else if (PyList_SetItem(events, i, Py_NewRef(Py_None))) Py_CLEAR(rows);
    }
    Py_XDECREF(with.texts_key);
    Py_XDECREF(with.gaps_key);
    return rows;
}
