/* The relay of a closed loop: Python prepares requests, and the next one leaves on the connection of a plain request
 * that has ended, without the interpreter (relay.py). What has left is for Python to learn: the handovers. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include "_relay.h"

#include <stdio.h>

static span keep(char **to, const char *bytes, Py_ssize_t size) {
    if (!bytes) return (span){0};
    span kept = {(unsigned char *)*to, (size_t)size};
    memcpy(*to, bytes, (size_t)size);
    (*to)[size] = 0;
    *to += size + 1;
    return kept;
}

/* Read (ticket, request, members, code, id, before, after, texts); NULL with an error. */
prepared *prepared_of_python(PyObject *arguments) {
    unsigned long long ticket;
    int code;
    enum { REQUEST, MEMBERS, ID, BEFORE, AFTER, TEXTS, PARTS };
    const char *parts[PARTS];
    Py_ssize_t sizes[PARTS];
    if (!PyArg_ParseTuple(arguments, "Ky#s#is#s#s#z#", &ticket, &parts[REQUEST], &sizes[REQUEST], &parts[MEMBERS], &sizes[MEMBERS], &code,
                          &parts[ID], &sizes[ID], &parts[BEFORE], &sizes[BEFORE], &parts[AFTER], &sizes[AFTER], &parts[TEXTS], &sizes[TEXTS]))
        return NULL;
    size_t size = PARTS;
    for (int i = 0; i < PARTS; i++) size += parts[i] ? (size_t)sizes[i] : 0;
    prepared *next = malloc(sizeof *next + size);
    if (!next) return (void *)PyErr_NoMemory();
    char *to = next->bytes;
    *next = (prepared){.ticket = ticket, .code = code};
    next->request = keep(&to, parts[REQUEST], sizes[REQUEST]);
    next->members = (const char *)keep(&to, parts[MEMBERS], sizes[MEMBERS]).bytes;
    next->id = keep(&to, parts[ID], sizes[ID]);
    next->before = keep(&to, parts[BEFORE], sizes[BEFORE]);
    next->after = keep(&to, parts[AFTER], sizes[AFTER]);
    next->texts = keep(&to, parts[TEXTS], sizes[TEXTS]);
    return next;
}

void relay_add(relay *r, prepared *next) {
    if (!r->first) r->last = &r->first;
    *r->last = next;
    r->last = &next->next;
    r->count++;
}

/* Take the first prepared request; NULL for none. */
prepared *relay_next(relay *r) {
    prepared *next = r->first;
    if (next) r->first = next->next, r->count--;
    return next;
}

/* Whether another handover can be noted. */
bool relay_has_room(relay *r) {
    if (r->handover_count < r->handover_capacity) return true;
    size_t capacity = r->handover_capacity * 2 + 32;
    handover *grown = realloc(r->handovers, capacity * sizeof *grown);
    if (!grown) return false;
    r->handovers = grown, r->handover_capacity = capacity;
    return true;
}

/* Add the row of the issue: the request is due now, as in `Issuer._user`. */
bool relay_issues(const prepared *next, plain_rows *rows, plain *p, int64_t at) {
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%lld", (long long)at);
    buffer *data = &rows->scratch;
    data->length = 0;
    memcpy(p->id, next->id.bytes, p->id_size = next->id.size);
    p->ticket = next->ticket, p->issued = at;
    return buffer_append(data, next->before.bytes, next->before.size) && buffer_append(data, digits, (size_t)size) &&
           buffer_append(data, next->after.bytes, next->after.size) &&
           rows_add(rows, next->id, next->code, at, (span){data->bytes, data->length}, next->texts);
}

/* The first handovers, at most so many, which the relay then no longer has. */
relay relay_detach(relay *r, size_t most) {
    relay detached = {.handovers = r->handovers, .handover_count = r->handover_count};
    size_t left = r->handover_count > most ? r->handover_count - most : 0;
    handover *rest = left ? malloc(left * sizeof *rest) : NULL;
    if (left && !rest) return (relay){0};
    if (left) memcpy(rest, r->handovers + most, left * sizeof *rest);
    detached.handover_count -= left;
    r->handovers = rest, r->handover_count = r->handover_capacity = left;
    return detached;
}

/* Append detached handovers to a list, as one object; see wire_connection.py. */
bool relay_append(const relay *detached, PyObject *list) {
    Py_ssize_t count = (Py_ssize_t)detached->handover_count, tokens = 0;
    if (!count) return true;
    PyObject *ended = PyList_New(count), *left = PyList_New(count), *ttfts = PyList_New(count);
    bool made = ended && left && ttfts;
    for (Py_ssize_t i = 0; made && i < count; i++) {
        const handover *h = &detached->handovers[i];
        PyObject *tickets[] = {PyLong_FromUnsignedLongLong(h->ended), PyLong_FromUnsignedLongLong(h->left)}, *ttft = PyFloat_FromDouble((double)h->ttft / 1e6);
        made = tickets[0] && tickets[1] && ttft;
        PyList_SetItem(ended, i, tickets[0]);
        PyList_SetItem(left, i, tickets[1]);
        PyList_SetItem(ttfts, i, ttft);
        tokens += (Py_ssize_t)h->tokens;
    }
    PyObject *object = made ? Py_BuildValue("iOOOn", 0, ended, left, ttfts, tokens) : NULL;
    bool appended = object && !PyList_Append(list, object);
    Py_XDECREF(object);
    Py_XDECREF(ended);
    Py_XDECREF(left);
    Py_XDECREF(ttfts);
    return appended;
}

void relay_free(relay *r) {
    for (prepared *next; (next = relay_next(r));) free(next);
    free(r->handovers);
}
