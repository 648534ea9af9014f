/* What is done for every chunk of a response, over many chunks at once: template.py and arrival_times.py have the same
 * in Python, and say what it means. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "_body.h"
#include "_chunks.h"
#include "_json.h"

static const char BETWEEN[] = "\",\"";
enum { BETWEEN_SIZE = sizeof BETWEEN - 1, MOST_BYTES = 64 * 1024 /* are read at once, and a frame more */ };

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

/* The shapes of frames that begin alike (shapes.py), and how they begin in the response that is read. What is in the
 * objects of Python is borrowed: they stay as they are while frames are read. */
enum { MOST_TEMPLATES = 64 }; /* shapes.py: _MOST_SHAPES */
typedef struct {
    text head, tail;
    PyObject *channel;
} template;
typedef struct {
    PyObject *deltas; /* NULL before the first frame of a known start */
    text prefix;
    template templates[MOST_TEMPLATES];
    Py_ssize_t count;
} known_shapes;

static bool read_templates(PyObject *templates, known_shapes *of) {
    of->count = PyList_Size(templates);
    if (of->count > MOST_TEMPLATES) of->count = MOST_TEMPLATES;
    for (Py_ssize_t i = 0; i < of->count; i++) {
        template *t = &of->templates[i];
        if (!PyArg_ParseTuple(PyList_GetItem(templates, i), "y#y#O", &t->head.bytes, &t->head.size, &t->tail.bytes,
                              &t->tail.size, &t->channel))
            return false;
    }
    return true;
}

static bool begins_with(text frame, Py_ssize_t at, text part) {
    return frame.size - at >= part.size && !memcmp(frame.bytes + at, part.bytes, (size_t)part.size);
}

/* Find the shapes of a frame; 1 for found, 0 for none, -1 for an error. */
static int shapes_of(PyObject *known, text frame, known_shapes *of) {
    if (of->deltas && begins_with(frame, 0, of->prefix)) return 1;
    Py_ssize_t count = PyList_Size(known);
    if (count < 0) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        text before, between;
        PyObject *templates;
        if (!PyArg_ParseTuple(PyList_GetItem(known, i), "y#y#O!O!", &before.bytes, &before.size, &between.bytes, &between.size,
                              &PyList_Type, &templates, &PyDict_Type, &of->deltas))
            return -1;
        of->prefix.size = (Py_ssize_t)json_start((const unsigned char *)frame.bytes, (size_t)frame.size, before.bytes,
                                                 (size_t)before.size, between.bytes, (size_t)between.size);
        if (of->prefix.size) {
            of->prefix.bytes = frame.bytes;
            return read_templates(templates, of) ? 1 : -1;
        }
    }
    of->deltas = NULL;
    return 0;
}

/* Frames, and when they arrived: lists of Python, or a part of a body. */
typedef struct {
    PyObject *frames, *moments, *late; /* borrowed; lists, and a dict or NULL */
    const body *body;                  /* instead of them */
    Py_ssize_t count;
} source;

static bool frame_at(const source *from, Py_ssize_t place, text *to) {
    if (!from->body) return text_of(PyList_GetItem(from->frames, place), to);
    size_t start = body_start(from->body, (size_t)place);
    to->bytes = (const char *)from->body->bytes + start;
    to->size = (Py_ssize_t)(from->body->pieces[place].end - start);
    return true;
}

/* When a frame arrived. `before`, if that of the frame before it, is taken again where both came in one read. */
static PyObject *moment_of(const source *from, Py_ssize_t place, PyObject *before) {
    if (from->body) {
        const piece *p = &from->body->pieces[place];
        return before && p[-1].at == p->at ? Py_NewRef(before) : PyLong_FromLongLong(p->at);
    }
    PyObject *moment = PyList_GetItem(from->moments, place);
    return moment ? Py_NewRef(moment) : NULL;
}

/* When a frame had not arrived that may be earlier than its stamp, else None. */
static PyObject *low_of(const source *from, Py_ssize_t place) {
    if (from->body) {
        const piece *p = &from->body->pieces[place];
        return p->since && p->whole ? PyLong_FromLongLong(p->since) : Py_NewRef(Py_None);
    }
    if (!from->late) return Py_NewRef(Py_None);
    PyObject *key = PyLong_FromSsize_t(place);
    PyObject *bound = key ? PyDict_GetItemWithError(from->late, key) : NULL; /* borrowed */
    Py_XDECREF(key);
    if (!bound) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    PyObject *since, *whole;
    if (!PyArg_ParseTuple(bound, "OO", &since, &whole)) return NULL;
    int holds = PyObject_IsTrue(whole);
    return holds < 0 ? NULL : Py_NewRef(holds ? since : Py_None);
}

/* Texts of frames that follow each other. */
typedef struct {
    PyObject *channel; /* borrowed; NULL for none */
    Py_ssize_t start, count, first; /* the place of the first frame, frames, and the characters of the first */
    bool escapes;
    buffer joined;
} text_run;

/* The moments of some frames, and when those had not arrived that may have come before, by place: a dict or None. */
static bool times_of(const source *from, Py_ssize_t start, Py_ssize_t count, PyObject **moments, PyObject **lows) {
    *moments = PyList_New(count);
    *lows = Py_NewRef(Py_None);
    PyObject *before = NULL; /* borrowed from the list */
    for (Py_ssize_t i = 0; *moments && i < count; i++) {
        PyObject *moment = moment_of(from, start + i, before), *low = low_of(from, start + i);
        before = moment;
        if (!moment || !low || PyList_SetItem(*moments, i, Py_NewRef(moment))) {
            Py_CLEAR(*moments);
        } else if (low != Py_None) {
            PyObject *place = PyLong_FromSsize_t(i);
            if (*lows == Py_None) {
                Py_DECREF(Py_None);
                *lows = PyDict_New();
            }
            if (!place || !*lows || PyDict_SetItem(*lows, place, low)) Py_CLEAR(*moments);
            Py_XDECREF(place);
        }
        Py_XDECREF(moment);
        Py_XDECREF(low);
    }
    if (!*moments) Py_CLEAR(*lows); /* which may be NULL already */
    return *moments;
}

/* Add what a run has to the list: (frames, channel, text or its JSON, characters of the first, moments, lows). */
static bool end_run(PyObject *items, text_run *run, const source *from) {
    if (!run->channel) return true;
    PyObject *joined, *item = NULL, *moments, *lows;
    if (run->escapes)
        joined = buffer_append(&run->joined, "\"", 1)
                     ? PyBytes_FromStringAndSize((char *)run->joined.bytes, (Py_ssize_t)run->joined.length)
                     : PyErr_NoMemory();
    else
        joined = PyUnicode_DecodeUTF8((char *)run->joined.bytes + 1, (Py_ssize_t)run->joined.length - 1, NULL);
    if (joined && times_of(from, run->start, run->count, &moments, &lows))
        item = Py_BuildValue("nONnNN", run->count, run->channel, joined, run->first, moments, lows);
    else
        Py_XDECREF(joined);
    run->channel = NULL;
    run->joined.length = 0;
    run->escapes = false;
    bool added = item && !PyList_Append(items, item);
    Py_XDECREF(item);
    return added;
}

/* Take a frame that looks like a template: 1 for taken, 0 for none, -1 for an error. */
static int take_text(PyObject *items, text_run *run, const source *from, Py_ssize_t place, const known_shapes *of, text rest) {
    for (const template *t = of->templates; t < of->templates + of->count; t++) {
        if (!fits(rest, t->head, t->tail)) continue;
        text inside = {rest.bytes + t->head.size, rest.size - t->head.size - t->tail.size};
        json_text what = {0};
        if (!inside.size || !json_is_text((const unsigned char *)inside.bytes, (size_t)inside.size, &what)) return 0;
        if (run->channel != t->channel) {
            if (!end_run(items, run, from)) return -1;
            run->channel = t->channel;
            run->start = place;
            run->count = 0;
            run->first = what.characters;
            if (!buffer_append(&run->joined, "\"", 1)) return PyErr_NoMemory(), -1;
        }
        run->count++;
        run->escapes |= what.escapes;
        if (!buffer_append(&run->joined, inside.bytes, (size_t)inside.size)) return PyErr_NoMemory(), -1;
        return 1;
    }
    return 0;
}

/* Take a frame without a text, as (meaning, moment, low): 1 for taken, 0 for none, -1 for an error. */
static int take_delta(PyObject *items, text_run *run, const source *from, Py_ssize_t place, PyObject *deltas, text rest) {
    PyObject *key = PyBytes_FromStringAndSize(rest.bytes, rest.size);
    PyObject *delta = key ? PyDict_GetItemWithError(deltas, key) : NULL; /* borrowed */
    Py_XDECREF(key);
    if (!delta) return PyErr_Occurred() ? -1 : 0;
    if (!end_run(items, run, from)) return -1;
    PyObject *moment = moment_of(from, place, NULL), *low = low_of(from, place);
    PyObject *item = moment && low ? PyTuple_Pack(3, delta, moment, low) : NULL;
    Py_XDECREF(moment);
    Py_XDECREF(low);
    bool added = item && !PyList_Append(items, item);
    Py_XDECREF(item);
    return added ? 1 : -1;
}

static int take_frame(PyObject *items, text_run *run, const source *from, Py_ssize_t place, PyObject *known, known_shapes *of,
                      text frame) {
    int found = shapes_of(known, frame, of);
    if (found <= 0) return found;
    text rest = {frame.bytes + of->prefix.size, frame.size - of->prefix.size};
    found = take_text(items, run, from, place, of, rest);
    return found ? found : take_delta(items, run, from, place, of->deltas, rest);
}

/* Read frames up to one of another shape, or the end of the response; *next is the place after them. */
static PyObject *read_known(const source *from, PyObject *known, Py_ssize_t *next, Py_ssize_t most_bytes) {
    static const char DONE[] = "data: [DONE]\n\n";
    Py_ssize_t size = 0;
    PyObject *items = PyList_New(0);
    text_run run = {0};
    known_shapes of;
    of.deltas = NULL;
    int taken = items ? 1 : -1;
    while (taken == 1 && *next < from->count && size < most_bytes) {
        text frame;
        if (!frame_at(from, *next, &frame)) {
            taken = -1;
        } else if (frame.size == sizeof DONE - 1 && !memcmp(frame.bytes, DONE, sizeof DONE - 1)) {
            taken = end_run(items, &run, from) && !PyList_Append(items, Py_None) ? 0 : -1;
            ++*next;
        } else {
            taken = take_frame(items, &run, from, *next, known, &of, frame);
            size += frame.size;
            *next += taken == 1;
        }
    }
    if (taken >= 0 && !end_run(items, &run, from)) taken = -1;
    free(run.joined.bytes);
    if (taken < 0) Py_CLEAR(items);
    return items;
}

PyObject *chunks_known(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *known;
    source from = {0};
    Py_ssize_t first, most;
    if (!PyArg_ParseTuple(arguments, "O!O!O!nnO!", &PyList_Type, &from.frames, &PyList_Type, &from.moments, &PyDict_Type,
                          &from.late, &first, &most, &PyList_Type, &known))
        return NULL;
    if (first < 0) first = 0;
    if (!PyDict_Size(from.late)) from.late = NULL;
    from.count = PyList_Size(from.frames);
    if (from.count > first + most) from.count = first + most;
    return read_known(&from, known, &first, MOST_BYTES);
}

PyObject *chunks_of_body(const body *of, PyObject *known, size_t *count) {
    source from = {.body = of, .count = (Py_ssize_t)of->count};
    Py_ssize_t next = 0;
    PyObject *items = read_known(&from, known, &next, PY_SSIZE_T_MAX);
    *count = (size_t)next;
    return items;
}

/* Read a moment, unless it is the object before it, which is borrowed. */
static bool moment_at(PyObject *moments, Py_ssize_t place, PyObject **before, long long *to) {
    PyObject *moment = PyList_GetItem(moments, place);
    if (moment && moment == *before) return true;
    *before = moment;
    *to = PyLong_AsLongLong(moment);
    return *to != -1 || !PyErr_Occurred();
}

static long long rounded_us(long long ns) {
    long long us = (ns + 500) / 1000;
    return us - ((ns + 500) % 1000 < 0);
}

PyObject *chunks_gaps_us(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *moments, *before = NULL;
    long long sent_ns, moment = 0, before_us = 0;
    if (!PyArg_ParseTuple(arguments, "OL", &moments, &sent_ns)) return NULL;
    Py_ssize_t count = PyList_Size(moments);
    PyObject *gaps = count < 0 ? NULL : PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint32_t));
    if (!gaps) return NULL;
    char *at = PyBytes_AsString(gaps);
    for (Py_ssize_t i = 0; i < count; i++, at += sizeof(uint32_t)) {
        if (!moment_at(moments, i, &before, &moment)) goto failed;
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
    PyObject *object = NULL;
    long long before = 0, moment = 0;
    bool shared = false;
    for (Py_ssize_t i = 0; i < count; i++, before = moment) {
        if (!moment_at(moments, i, &object, &moment)) return NULL;
        bool same = i && moment == before;
        reads += same && !shared;
        shared = same;
    }
    return PyLong_FromSsize_t(reads);
}
