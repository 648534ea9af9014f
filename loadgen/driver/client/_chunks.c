/* What is done for every chunk of a response, over many chunks at once: template.py and arrival_times.py have the same
 * in Python, and say what it means. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "_chunks.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char BETWEEN[] = "\",\"";
enum { BETWEEN_SIZE = sizeof BETWEEN - 1 };

typedef struct {
    const char *bytes;
    Py_ssize_t size;
} text;

static bool text_of(PyObject *object, text *to) {
    char *bytes;
    if (PyBytes_AsStringAndSize(object, &bytes, &to->size)) return false;
    to->bytes = bytes;
    return true;
}

static bool fits(text frame, text head, text tail) {
    return frame.size >= head.size + tail.size && !memcmp(frame.bytes, head.bytes, (size_t)head.size) &&
           !memcmp(frame.bytes + frame.size - tail.size, tail.bytes, (size_t)tail.size);
}

/* Whether a text that ends with a backslash makes the next quote its own. */
static bool hides_quote(const char *bytes, Py_ssize_t size) {
    const char *end = bytes + size;
    for (const char *at = bytes; end - at > BETWEEN_SIZE && (at = memchr(at, '\\', (size_t)(end - at - BETWEEN_SIZE))); at++)
        if (!memcmp(at + 1, BETWEEN, BETWEEN_SIZE)) return true;
    return false;
}

/* The insides of the first frames, as a JSON array without its brackets and its outer quotes. */
static PyObject *joined_insides(PyObject *frames, Py_ssize_t count, Py_ssize_t size, text head, text tail) {
    PyObject *json = PyBytes_FromStringAndSize(NULL, size + 4 + (count - 1) * BETWEEN_SIZE);
    if (!json) return NULL;
    char *start = PyBytes_AsString(json), *at = start;
    memcpy(at, "[\"", 2), at += 2;
    for (Py_ssize_t i = 0; i < count; i++) {
        text frame;
        if (!text_of(PyList_GetItem(frames, i), &frame)) break; /* they are bytes: the caller has looked */
        if (i) memcpy(at, BETWEEN, BETWEEN_SIZE), at += BETWEEN_SIZE;
        size_t inside = (size_t)(frame.size - head.size - tail.size);
        memcpy(at, frame.bytes + head.size, inside), at += inside;
    }
    if (hides_quote(start + 2, at - start - 2)) {
        Py_DECREF(json);
        return Py_NewRef(Py_None);
    }
    memcpy(at, "\"]", 2);
    return json;
}

PyObject *chunks_alike(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *frames;
    text head, tail;
    if (!PyArg_ParseTuple(arguments, "Oy#y#", &frames, &head.bytes, &head.size, &tail.bytes, &tail.size)) return NULL;
    Py_ssize_t most = PyList_Size(frames), count = 0, size = 0;
    if (most < 0) return NULL;
    for (; count < most; count++) {
        text frame;
        if (!text_of(PyList_GetItem(frames, count), &frame)) return NULL;
        if (!fits(frame, head, tail)) break;
        size += frame.size - head.size - tail.size;
    }
    PyObject *json = count ? joined_insides(frames, count, size, head, tail) : Py_NewRef(Py_None);
    return json ? Py_BuildValue("nN", count, json) : NULL;
}

static bool moment_at(PyObject *moments, Py_ssize_t place, long long *to) {
    *to = PyLong_AsLongLong(PyList_GetItem(moments, place));
    return *to != -1 || !PyErr_Occurred();
}

static long long rounded_us(long long ns) {
    long long us = (ns + 500) / 1000;
    return us - ((ns + 500) % 1000 < 0);
}

PyObject *chunks_gaps_us(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *moments;
    long long sent_ns, before_us = 0;
    if (!PyArg_ParseTuple(arguments, "OL", &moments, &sent_ns)) return NULL;
    Py_ssize_t count = PyList_Size(moments);
    PyObject *gaps = count < 0 ? NULL : PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint32_t));
    if (!gaps) return NULL;
    char *at = PyBytes_AsString(gaps);
    for (Py_ssize_t i = 0; i < count; i++, at += sizeof(uint32_t)) {
        long long moment;
        if (!moment_at(moments, i, &moment)) goto failed;
        long long offset_us = rounded_us(moment - sent_ns), gap_us = offset_us - before_us;
        before_us = offset_us;
        if (gap_us < 0) {
            PyErr_SetString(PyExc_OverflowError, "an arrival before the one before it");
            goto failed;
        }
        uint32_t kept_us = gap_us > UINT32_MAX ? UINT32_MAX : (uint32_t)gap_us;
        memcpy(at, &kept_us, sizeof kept_us); /* little-endian, as all that is supported */
    }
    return gaps;
failed:
    Py_DECREF(gaps);
    return NULL;
}

PyObject *chunks_coalesced(PyObject *Py_UNUSED(module), PyObject *moments) {
    Py_ssize_t count = PyList_Size(moments), reads = 0;
    if (count < 0) return NULL;
    long long before = 0, moment;
    bool shared = false;
    for (Py_ssize_t i = 0; i < count; i++, before = moment) {
        if (!moment_at(moments, i, &moment)) return NULL;
        bool same = i && moment == before;
        reads += same && !shared;
        shared = same;
    }
    return PyLong_FromSsize_t(reads);
}
