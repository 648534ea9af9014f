/* Plain requests: a streamed answer whose head and frames have known shapes, and an end in order.
 *
 * The thread of `_wire.c` follows such a request from the issue to the end, and writes the rows of its events; stream.py,
 * parsed_response.py and response_payload.py have the same in Python, and say what it means. Where anything is of another
 * shape, the functions here return false, and Python goes on with the bytes and stamps that came so far. */
#define _GNU_SOURCE
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include "_plain.h"

#include "_json.h"
#include <limits.h>
#include <stdio.h>
#include <time.h>

enum { SENT = 21, FIRST_CHUNK = 22, COMPLETE = 23 }; /* recorder/event.py */
enum { SENDING_NS = 100000 };                                     /* exchange.py */
static const int64_t LEAST_INT = INT32_MIN, MOST_INT = INT32_MAX;

/* Shapes, from Python... */

static bool span_of(PyObject *object, span *to) {
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(object, &bytes, &size)) return false;
    *to = (span){(unsigned char *)bytes, (size_t)size};
    return true;
}

/* The items of a tuple, as new memory for as many things; *count says how many. */
static void *room_for(PyObject *items, size_t size, size_t *count) {
    Py_ssize_t length = PyTuple_Size(items);
    if (length < 0) return NULL;
    void *room = calloc((size_t)length + 1, size);
    if (!room) return PyErr_NoMemory();
    *count = (size_t)length;
    return room;
}

static bool read_spans(PyObject *items, span **to, size_t *count) {
    *to = room_for(items, sizeof **to, count);
    for (size_t i = 0; *to && i < *count; i++)
        if (!span_of(PyTuple_GetItem(items, (Py_ssize_t)i), *to + i)) return false;
    return *to;
}

static bool read_start(PyObject *item, known_start *to) {
    PyObject *before, *between, *texts, *frames;
    if (!PyArg_ParseTuple(item, "SSO!O!", &before, &between, &PyTuple_Type, &texts, &PyTuple_Type, &frames)) return false;
    if (!span_of(before, &to->before) || !span_of(between, &to->between)) return false;
    if (!(to->texts = room_for(texts, sizeof *to->texts, &to->text_count))) return false;
    if (!(to->frames = room_for(frames, sizeof *to->frames, &to->frame_count))) return false;
    for (size_t i = 0; i < to->text_count; i++) {
        PyObject *head, *tail;
        int reasoning;
        if (!PyArg_ParseTuple(PyTuple_GetItem(texts, (Py_ssize_t)i), "SSp", &head, &tail, &reasoning)) return false;
        known_text *t = to->texts + i;
        t->reasoning = reasoning;
        if (!span_of(head, &t->head) || !span_of(tail, &t->tail)) return false;
    }
    for (size_t i = 0; i < to->frame_count; i++) {
        PyObject *parts, *fields, *finish, *usage;
        int opens;
        if (!PyArg_ParseTuple(PyTuple_GetItem(frames, (Py_ssize_t)i), "O!O!pSO!", &PyTuple_Type, &parts, &PyTuple_Type, &fields,
                              &opens, &finish, &PyTuple_Type, &usage))
            return false;
        known_frame *f = to->frames + i;
        f->opens = opens;
        f->counts = PyTuple_Size(usage) == COUNTS;
        if (!read_spans(parts, &f->parts, &f->part_count) || !span_of(finish, &f->finish)) return false;
        if (PyTuple_Size(fields) + 1 != (Py_ssize_t)f->part_count || f->part_count > COUNTS + 1)
            return PyErr_SetString(PyExc_ValueError, "a part before and after each count"), false;
        for (int j = 0; j + 1 < (int)f->part_count; j++)
            f->fields[j] = (unsigned char)PyLong_AsLong(PyTuple_GetItem(fields, j)) % COUNTS;
        for (int j = 0; f->counts && j < COUNTS; j++) f->usage[j] = PyLong_AsLongLong(PyTuple_GetItem(usage, j));
        if (PyErr_Occurred()) return false;
    }
    return true;
}

void shapes_free(known_shapes *shapes) {
    for (size_t i = 0; i < shapes->start_count; i++) {
        for (size_t j = 0; j < shapes->starts[i].frame_count; j++) free(shapes->starts[i].frames[j].parts);
        free(shapes->starts[i].texts);
        free(shapes->starts[i].frames);
    }
    free(shapes->starts);
    free(shapes->tags);
    free(shapes->headers);
    Py_XDECREF(shapes->source);
    free(shapes);
}

/* Read (starts, tags, headers); see frame_cache.py. NULL with an error. */
known_shapes *shapes_of_python(PyObject *source) {
    PyObject *starts, *tags, *headers;
    known_shapes *shapes = calloc(1, sizeof *shapes);
    if (!shapes) return (void *)PyErr_NoMemory();
    shapes->source = Py_NewRef(source);
    bool right = PyArg_ParseTuple(source, "O!O!O!", &PyTuple_Type, &starts, &PyTuple_Type, &tags, &PyTuple_Type, &headers) &&
                 read_spans(tags, &shapes->tags, &shapes->tag_count) &&
                 read_spans(headers, &shapes->headers, &shapes->header_count) &&
                 (shapes->starts = room_for(starts, sizeof *shapes->starts, &shapes->start_count));
    for (size_t i = 0; right && i < shapes->start_count; i++)
        right = read_start(PyTuple_GetItem(starts, (Py_ssize_t)i), shapes->starts + i);
    if (right) return shapes;
    shapes_free(shapes);
    return NULL;
}

/* Rows, as Python's `marshal` reads them... */

static bool put_byte(buffer *to, char kind) { return buffer_append(to, &kind, 1); }

static bool put_size(buffer *to, char kind, size_t size) {
    uint32_t little = (uint32_t)size; /* little-endian, as all that is supported */
    return put_byte(to, kind) && buffer_append(to, &little, sizeof little);
}

static bool put_number(buffer *to, int64_t number) {
    if (number >= LEAST_INT && number <= MOST_INT) return put_size(to, 'i', (size_t)number);
    uint16_t digits[5];
    int32_t count = 0;
    for (uint64_t left = (uint64_t)(number < 0 ? -number : number); left; left >>= 15) digits[count++] = left & 0x7FFF;
    return put_size(to, 'l', (size_t)(number < 0 ? -count : count)) && buffer_append(to, digits, (size_t)count * sizeof *digits);
}

static bool put_text(buffer *to, span text) {
    return text.bytes ? put_size(to, 'u', text.size) && buffer_append(to, text.bytes, text.size) : put_byte(to, 'N');
}

static int64_t monotonic_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static span id_of(const plain *p) { return (span){(const unsigned char *)p->id, p->id_size}; }

/* Add a row but for its last column; *mark is where to cut the rows off if that fails. */
static bool begin_row(plain_rows *rows, span id, int code, int64_t at, span data, span texts, size_t *mark) {
    buffer *to = &rows->bytes;
    *mark = to->length;
    if (!rows->count) rows->since = monotonic_ns();
    return put_byte(to, ')') && put_byte(to, 6) && put_number(to, code) && put_number(to, at) &&
           put_text(to, id) && put_text(to, data) && put_text(to, texts);
}

static bool end_row(plain_rows *rows, bool whole, size_t mark) {
    if (whole)
        rows->count++;
    else
        rows->bytes.length = mark;
    return whole;
}

bool rows_add(plain_rows *rows, span id, int code, int64_t at, span data, span texts) {
    size_t mark;
    bool added = begin_row(rows, id, code, at, data, texts, &mark) && put_byte(&rows->bytes, 'N');
    return end_row(rows, added, mark);
}

/* `members`: those of JSON that do not depend on the sending. */
bool rows_sent(plain_rows *rows, const plain *p, int64_t at, int64_t by, const char *members) {
    char data[256];
    const char *form = by - at > SENDING_NS ? "{%s,\"sent_high_ns\":%lld}" : "{%s}";
    int size = snprintf(data, sizeof data, form, members, (long long)by);
    return (size_t)size < sizeof data && rows_add(rows, id_of(p), SENT, at, (span){(unsigned char *)data, (size_t)size}, (span){0});
}

/* Rows as a message of the worker (framing.py), and how many they are: (message, count). */
PyObject *rows_message(const plain_rows *rows, int kind) {
    buffer start = {0};
    uint32_t size = 0;
    bool put = buffer_append(&start, &size, sizeof size) && put_byte(&start, ')') && put_byte(&start, 3) &&
               put_number(&start, kind) && put_number(&start, rows->since) && put_size(&start, '[', rows->count);
    PyObject *message = put ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(start.length + rows->bytes.length)) : PyErr_NoMemory();
    if (message) {
        char *to = PyBytes_AsString(message);
        size = (uint32_t)(start.length + rows->bytes.length - sizeof size);
        memcpy(start.bytes, &size, sizeof size);
        memcpy(to, start.bytes, start.length);
        memcpy(to + start.length, rows->bytes.bytes, rows->bytes.length);
        message = Py_BuildValue("Nn", message, (Py_ssize_t)rows->count);
    }
    free(start.bytes);
    return message;
}

/* A response... */

void plain_free(plain *p) {
    if (!p) return;
    free(p->content.bytes);
    free(p->reasoning.bytes);
    free(p);
}

void plain_begin(plain *p, const known_shapes *shapes) {
    buffer content = p->content, reasoning = p->reasoning;
    memset(p, 0, sizeof *p);
    content.length = reasoning.length = 0;
    p->content = content, p->reasoning = reasoning;
    p->shapes = shapes;
    p->on = true;
    for (int i = 0; i < COUNTS; i++) p->usage[i] = -1;
}

static bool is_field(const unsigned char *line, size_t length, const char *name) {
    size_t size = strlen(name);
    return length > size && line[size] == ':' && !strncasecmp((const char *)line, name, size);
}

static span value_of(const unsigned char *line, size_t length) {
    const unsigned char *end = line + length, *at = memchr(line, ':', length);
    for (at++; at < end && (*at == ' ' || *at == '\t');) at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
    return (span){at, (size_t)(end - at)};
}

/* Whether a head announces an event stream, and nothing that Python would log or refuse. */
bool plain_head(plain *p, const unsigned char *head, size_t length, int64_t at) {
    static const char STREAM[] = "text/event-stream";
    bool streams = false;
    if (length < 12 || memcmp(head + 9, "200", 3)) return false;
    for (const unsigned char *line = head, *end = head + length; line < end;) {
        const unsigned char *newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline) return false;
        size_t size = (size_t)(newline - line) - (newline > line);
        if (is_field(line, size, "content-type")) {
            span value = value_of(line, size);
            const unsigned char *part = memchr(value.bytes, ';', value.size);
            if (part) value.size = (size_t)(part - value.bytes);
            if (streams || !http1_is(value.bytes, value.size, STREAM)) return false;
            streams = true;
        } else if (is_field(line, size, "content-encoding")) {
            return false;
        } else if (is_field(line, size, "transfer-encoding")) {
            span value = value_of(line, size);
            if (!http1_is(value.bytes, value.size, "chunked")) return false;
        }
        for (size_t i = 0; i < p->shapes->header_count; i++) {
            span name = p->shapes->headers[i];
            if (size > name.size && line[name.size] == ':' && !strncasecmp((const char *)line, (const char *)name.bytes, name.size))
                return false;
        }
        line = newline + 1;
    }
    p->first_byte = p->latest = at > p->sent ? at : p->sent;
    return streams;
}

/* The first place of a part; NULL for none. Its first byte is rare: memchr is much faster than memmem. */
static const unsigned char *find(const unsigned char *at, size_t length, span part) {
    const unsigned char *end = at + length;
    if (!part.size) return at;
    while ((size_t)(end - at) >= part.size && (at = memchr(at, *part.bytes, (size_t)(end - at) - part.size + 1))) {
        if (!memcmp(at, part.bytes, part.size)) return at;
        at++;
    }
    return NULL;
}

static bool begins_with(span frame, size_t at, span part) {
    return frame.size >= at + part.size && !memcmp(frame.bytes + at, part.bytes, part.size);
}

static bool fits(span frame, span head, span tail) {
    return frame.size >= head.size + tail.size && begins_with(frame, 0, head) &&
           !memcmp(frame.bytes + frame.size - tail.size, tail.bytes, tail.size);
}

static span prefix_of(const plain *p, const buffer *body) { return (span){body->bytes + p->prefix, p->prefix_size}; }

static span text_of(span rest, const known_text *t) {
    return (span){rest.bytes + t->head.size, rest.size - t->head.size - t->tail.size};
}

static bool find_start(plain *p, const buffer *body, span frame) {
    if (p->start && begins_with(frame, 0, prefix_of(p, body))) return true;
    for (size_t i = 0; i < p->shapes->start_count; i++) {
        const known_start *start = p->shapes->starts + i;
        size_t size = json_start(frame.bytes, frame.size, start->before.bytes, start->before.size, start->between.bytes,
                                 start->between.size);
        if (!size) continue;
        p->start = start;
        p->prefix = (size_t)(frame.bytes - body->bytes);
        p->prefix_size = size;
        return true;
    }
    return false;
}

static bool take_text(plain *p, plain_rows *rows, piece *last, span inside, bool reasoning) {
    json_text what = {0};
    if (!inside.size || !json_is_text(inside.bytes, inside.size, &what)) return false;
    buffer *to = reasoning ? &p->reasoning : &p->content;
    if (!json_append(to, inside.bytes, inside.size, &what)) return p->on = false;
    *(reasoning ? &p->reasoning_chars : &p->content_chars) += what.characters;
    if (!p->tokens++) {
        p->first_chars = what.characters;
        p->first_reasons = reasoning;
        if (!(p->announced = rows_add(rows, id_of(p), FIRST_CHUNK, last->at, (span){0}, (span){0}))) return p->on = false;
    }
    if (!reasoning && !p->first_output) p->first_output = p->first_visible = last->at;
    p->last_token = last->at;
    last->tokens++;
    last->ends_token = true;
    return true;
}

/* Whether a frame is of a shape; its counts go to `usage`. */
static bool is_frame(const known_frame *f, span rest, int64_t usage[COUNTS]) {
    size_t at = 0;
    memcpy(usage, f->usage, sizeof f->usage);
    for (size_t i = 0; i < f->part_count; i++) {
        if (!begins_with(rest, at, f->parts[i])) return false;
        at += f->parts[i].size;
        if (i + 1 == f->part_count) break;
        int64_t number = 0;
        size_t first = at;
        for (; at < rest.size && at - first < 15 && rest.bytes[at] >= '0' && rest.bytes[at] <= '9'; at++)
            number = number * 10 + (rest.bytes[at] - '0');
        if (at == first || (rest.bytes[first] == '0' && at > first + 1)) return false;
        usage[f->fields[i]] = number;
    }
    return at == rest.size;
}

static bool take_frame(plain *p, const known_frame *f, const int64_t usage[COUNTS], int64_t at) {
    if (f->opens && (p->opened || p->tokens)) return false; /* perhaps a token without a text */
    p->opened |= f->opens;
    if (f->finish.size) p->finish = f->finish, p->finish_at = at;
    if (!f->counts) return true;
    for (int i = 0; i < COUNTS; i++)
        if (p->usage[i] >= 0) return false;
    memcpy(p->usage, usage, sizeof p->usage);
    return true;
}

static bool is_done(span frame) {
    static const char DONE[] = "data: [DONE]\n\n";
    return frame.size == sizeof DONE - 1 && !memcmp(frame.bytes, DONE, sizeof DONE - 1);
}

static bool plain_frame(plain *p, plain_rows *rows, const buffer *body, span frame, piece *last) {
    int64_t usage[COUNTS];
    last->ends_token = false;
    if (p->done) return false;
    if (is_done(frame)) return p->done = true;
    if (!find_start(p, body, frame)) return false;
    span rest = {frame.bytes + p->prefix_size, frame.size - p->prefix_size};
    for (const known_text *t = p->start->texts; t < p->start->texts + p->start->text_count; t++) {
        if (!fits(rest, t->head, t->tail)) continue;
        if (take_text(p, rows, last, text_of(rest, t), t->reasoning)) return true;
    }
    for (const known_frame *f = p->start->frames; f < p->start->frames + p->start->frame_count; f++)
        if (is_frame(f, rest, usage)) return take_frame(p, f, usage, last->at);
    return false;
}

/* Note when a piece came; false where that is before the piece before it. */
static bool arrives(plain *p, const piece *next) {
    if (next->at < p->latest) return false;
    p->latest = next->at;
    p->reads += next->at != p->read_at;
    p->read_at = next->at;
    return true;
}

/* Take a piece that is one frame with a text, and add only the text to the body; false where the body needs all of it. */
static bool squeeze(plain *p, plain_rows *rows, buffer *body, span frame, piece *next) {
    if (!p->start || p->done || p->frame != body->length || !begins_with(frame, 0, prefix_of(p, body))) return false;
    span rest = {frame.bytes + p->prefix_size, frame.size - p->prefix_size};
    for (size_t i = 0; i < p->start->text_count && i < UCHAR_MAX; i++) {
        const known_text *t = p->start->texts + i;
        if (!fits(rest, t->head, t->tail)) continue;
        span text = text_of(rest, t);
        json_text what = {0};
        if (!text.size || !json_is_text(text.bytes, text.size, &what)) continue;
        p->on = arrives(p, next) && buffer_append(body, text.bytes, text.size) && take_text(p, rows, next, text, t->reasoning);
        if (!p->on) {
            body->length = p->frame;
            return false;
        }
        p->removed += frame.size - text.size;
        p->frame = body->length;
        p->taken++;
        next->text = (unsigned char)(i + 1);
        return true;
    }
    return false;
}

/* Add the next piece, of so many, to a body; false without memory. Of a frame with a text the body gets the text alone,
 * since the response's prefix and the shape say the rest: the memory of a stream stays in the cache. */
bool plain_add(plain *p, plain_rows *rows, buffer *body, span bytes, piece *next, size_t count) {
    bool squeezed = p && p->taken == count && squeeze(p, rows, body, bytes, next);
    if (!squeezed && !buffer_append(body, bytes.bytes, bytes.size)) return false;
    next->end = body->length;
    return true;
}

/* Give the body all its bytes again; false without memory. */
bool plain_restore(plain *p, buffer *body, piece *pieces, size_t count) {
    if (!p->removed) return true;
    buffer whole = {malloc(body->length + p->removed), 0, body->length + p->removed};
    if (!whole.bytes) return false;
    size_t start = 0;
    for (piece *next = pieces; next < pieces + count; next++) {
        const known_text *shape = next->text ? p->start->texts + next->text - 1 : NULL;
        size_t end = next->end;
        span parts[] = {prefix_of(p, body), shape ? shape->head : (span){0}, {body->bytes + start, end - start}, shape ? shape->tail : (span){0}};
        for (size_t i = shape ? 0 : 2; i < (shape ? 4 : 3); i++) buffer_append(&whole, parts[i].bytes, parts[i].size);
        *next = (piece){whole.length, next->at, next->since, next->whole, next->ends_token, 0, next->tokens};
        start = end;
    }
    p->frame += p->removed;
    p->removed = 0;
    free(body->bytes);
    *body = whole;
    return true;
}

/* Read the next frames by what has been learnt since the request began; false where that is nothing. */
static bool renew(plain *p, buffer *body, piece *pieces, size_t count) {
    if (!p->on || !p->shapes->newer || !plain_restore(p, body, pieces, count)) return false;
    while (p->shapes->newer) p->shapes = p->shapes->newer;
    p->start = NULL;
    return true;
}

/* Take the pieces that came; `goes_on`: the last one is not the end of a chunk, and its frame may go on in the next.
 * After its first token a response may have frames of no known shape: other responses may show what they mean. */
bool plain_pieces(plain *p, plain_rows *rows, buffer *body, piece *pieces, size_t count, bool goes_on) {
    if (p->waits && !p->shapes->newer) return true;
    p->waits = false;
    for (; p->taken < count; p->taken++) {
        piece *last = pieces + p->taken;
        if (!arrives(p, last)) return false;
        if (!p->taken && last->at == p->first_byte) p->first_byte_low = last->since;
        while (p->frame < last->end) {
            const unsigned char *at = body->bytes + p->frame, *end = find(at, last->end - p->frame, (span){(unsigned char *)"\n\n", 2});
            if (!end && goes_on && p->taken + 1 == count) break;
            if (!end) return false;
            span frame = {at, (size_t)(end + 2 - at)};
            if (p->removed && !is_done(frame) && !begins_with(frame, 0, prefix_of(p, body))) {
                if (!plain_restore(p, body, pieces, count)) return false;
                continue;
            }
            if (plain_frame(p, rows, body, frame, last))
                p->frame = (size_t)(end + 2 - body->bytes);
            else if (!renew(p, body, pieces, count))
                return p->waits = p->on && p->announced;
        }
    }
    return true;
}

/* The payload of the end... */

static bool add(buffer *to, const char *text) { return buffer_append(to, text, strlen(text)); }

static bool add_member(buffer *to, const char *name, int64_t value, bool known) {
    char digits[24], *at = digits + sizeof digits;
    if (!known) return add(to, name) && add(to, "null");
    uint64_t left = (uint64_t)value;
    do *--at = (char)('0' + left % 10);
    while (left /= 10);
    return add(to, name) && buffer_append(to, at, (size_t)(digits + sizeof digits - at));
}

static bool has(const void *bytes, size_t length, span part) { return length && find(bytes, length, part); }

static bool has_tags(const plain *p) {
    for (const span *tag = p->shapes->tags; tag < p->shapes->tags + p->shapes->tag_count; tag++)
        if (has(p->content.bytes, p->content.length, *tag) || has(p->reasoning.bytes, p->reasoning.length, *tag) ||
            has(p->finish.bytes, p->finish.size, *tag))
            return true;
    return false;
}

/* Whether the server's output count has all that was generated, as it stands (`Usage.generated_tokens`). */
static bool counts_all(const plain *p) {
    const int64_t *count = p->usage;
    bool has_total = count[TOTAL] >= 0 && count[INPUT] >= 0;
    if (count[REASONING] > 0 && (!has_total || count[TOTAL] != count[INPUT] + count[OUTPUT])) return false;
    return count[OUTPUT] > 0 || !has_total;
}

static int64_t later(int64_t one, int64_t other) { return one > other ? one : other; }

/* The arrivals of tokens, and when those had not arrived that may be earlier than their stamps, 0 for others. */
typedef struct {
    int64_t *at, *low;
    size_t count;
    bool some; /* is any late? */
} arrivals;

/* None of the lower bounds is before an earlier arrival (`ParsedResponse.lows`). */
static bool arrivals_of(const plain *p, const piece *pieces, size_t count, arrivals *to) {
    to->at = calloc(2 * p->tokens, sizeof *to->at);
    if (!to->at) return false;
    to->low = to->at + p->tokens;
    size_t first = 0; /* of those with the same stamp */
    for (size_t i = 0; i < count; i++) {
        for (unsigned left = pieces[i].tokens; left; left--) {
            size_t place = to->count++;
            to->at[place] = pieces[i].at;
            if (to->at[first] != to->at[place]) first = place;
            bool is_last = left == 1 && pieces[i].ends_token;
            if (!pieces[i].since || (is_last && !pieces[i].whole)) continue;
            int64_t before = !first ? 0 : to->low[first - 1] ? to->low[first - 1] : to->at[first - 1];
            to->low[place] = later(pieces[i].since, before);
            to->some = true;
        }
    }
    return true;
}

/* The lower bound of the first chunk with a stamp that has one, 0 for none. */
static int64_t low_of_stamp(const arrivals *a, int64_t at) {
    for (size_t i = 0; at && i < a->count; i++)
        if (a->at[i] == at && a->low[i]) return a->low[i];
    return 0;
}

static bool add_low(buffer *to, const char *name, int64_t low, int64_t sent) {
    return !low || add_member(to, name, later(low, sent), true);
}

static bool add_late_chunks(buffer *to, const arrivals *a, int64_t sent) {
    const char *between = ",\"late_chunks\":[";
    for (size_t i = 0, next; i < a->count; i = next) {
        next = i + 1;
        if (!a->low[i]) continue;
        int64_t early_us = (a->at[i] - later(a->low[i], sent) + 999) / 1000;
        while (next < a->count && a->low[next] && (a->at[next] - later(a->low[next], sent) + 999) / 1000 == early_us) next++;
        if (!add_member(to, between, (int64_t)i, true) || !add_member(to, ",", (int64_t)(next - i), true) ||
            !add_member(to, ",", early_us, true))
            return false;
        between = ",";
    }
    return add(to, "]");
}

static bool add_lows(buffer *to, const plain *p, const piece *pieces, size_t count) {
    arrivals a = {0};
    if (!add_low(to, ",\"first_byte_low_ns\":", p->first_byte_low, p->sent)) return false;
    if (!p->lows) return true;
    if (!arrivals_of(p, pieces, count, &a)) return false;
    bool added = !a.some || (add_low(to, ",\"first_token_low_ns\":", a.low[0], p->sent) &&
                 add_low(to, ",\"first_output_low_ns\":", low_of_stamp(&a, p->first_output), p->sent) &&
                 add_low(to, ",\"first_visible_low_ns\":", low_of_stamp(&a, p->first_visible), p->sent) &&
                 add_low(to, ",\"last_token_low_ns\":", a.low[a.count - 1], p->sent) && add_late_chunks(to, &a, p->sent));
    free(a.at);
    return added;
}

static int64_t rounded_us(int64_t ns) { return (ns + 500) / 1000; }

/* Read the tokens' moments: add their gaps, and count the reads with several of them and the first of all. */
static bool add_gaps(buffer *to, plain *p, const piece *pieces, size_t count, int64_t *first, size_t *coalesced) {
    int64_t before = 0, before_us = 0;
    bool shared = false;
    if (!put_size(to, 's', p->tokens * sizeof(uint32_t))) return false;
    for (size_t i = 0; i < count; i++) {
        p->lows |= pieces[i].tokens && pieces[i].since;
        for (unsigned left = pieces[i].tokens; left; left--) {
            int64_t at = pieces[i].at, offset_us = rounded_us(at - p->sent), gap_us = offset_us - before_us;
            uint32_t kept_us = gap_us > UINT32_MAX ? UINT32_MAX : (uint32_t)gap_us;
            if (!buffer_append(to, &kept_us, sizeof kept_us)) return false;
            if (!before) *first = at;
            *coalesced += at == before && !shared;
            shared = at == before;
            before = at, before_us = offset_us;
        }
    }
    return true;
}

static bool add_payload(buffer *to, const plain *p, size_t bytes, int64_t first, size_t coalesced) {
    bool has_output = p->first_output;
    return add_member(to, "{\"status\":200,\"stream\":true,\"first_byte_ns\":", p->first_byte, true) &&
           add_member(to, ",\"first_token_ns\":", first, true) &&
           add_member(to, ",\"first_output_ns\":", p->first_output, has_output) &&
           add_member(to, ",\"first_visible_ns\":", p->first_visible, has_output) &&
           add_member(to, ",\"last_token_ns\":", p->last_token, true) &&
           add_member(to, p->first_reasons ? ",\"first_chunk\":{\"reasoning\":" : ",\"first_chunk\":{\"content\":", p->first_chars, true) &&
           add_member(to, "},\"chunks\":", (int64_t)p->tokens, true) &&
           add_member(to, ",\"silent_chunks\":0,\"silent_tokens\":false,\"reads\":", (int64_t)p->reads, true) &&
           add_member(to, ",\"coalesced\":", (int64_t)coalesced, true) && add_member(to, ",\"bytes\":", (int64_t)(bytes + p->removed), true) &&
           add(to, ",\"finish_reason\":") && buffer_append(to, p->finish.bytes, p->finish.size) &&
           add_member(to, ",\"input_tokens\":", p->usage[INPUT], p->usage[INPUT] >= 0) &&
           add_member(to, ",\"output_tokens\":", p->usage[OUTPUT], p->usage[OUTPUT] >= 0) &&
           add_member(to, ",\"reasoning_tokens\":", p->usage[REASONING], p->usage[REASONING] >= 0) &&
           add_member(to, ",\"cached_tokens\":", p->usage[CACHED], p->usage[CACHED] >= 0) &&
           add_member(to, ",\"total_tokens\":", p->usage[TOTAL], p->usage[TOTAL] >= 0) &&
           (p->finish_at <= p->last_token || add_member(to, ",\"finish_ns\":", p->finish_at, true)) &&
           add_member(to, ",\"content_chars\":", p->content_chars, true) &&
           (!p->reasoning.length || add_member(to, ",\"reasoning_chars\":", p->reasoning_chars, true));
}

static bool add_texts(buffer *to, const plain *p) {
    return add(to, "{\"output\":\"") && buffer_append(to, p->content.bytes, p->content.length) && add(to, "\",\"reasoning\":") &&
           (p->reasoning.length ? add(to, "\"") && buffer_append(to, p->reasoning.bytes, p->reasoning.length) && add(to, "\"")
                                : add(to, "null")) &&
           add(to, ",\"tool_calls\":null}");
}

/* End a response of so many bytes, which is complete by HTTP: add its row. */
bool plain_end(plain *p, plain_rows *rows, size_t bytes, const piece *pieces, size_t count, int64_t at) {
    buffer *to = &rows->scratch;
    size_t coalesced = 0, data, texts, mark;
    int64_t first = 0;
    if (!p->tokens || !p->finish.size || p->frame != bytes || p->taken != count || has_tags(p) || !counts_all(p)) return false;
    to->length = 0;
    if (!add_gaps(to, p, pieces, count, &first, &coalesced)) return false;
    data = to->length;
    if (!add_payload(to, p, bytes, first, coalesced) || !add_lows(to, p, pieces, count) || !add(to, "}")) return false;
    texts = to->length;
    if (!add_texts(to, p)) return false;
    p->first_token = first;
    p->ended = later(at, p->latest);
    bool added = begin_row(rows, id_of(p), COMPLETE, p->ended, (span){to->bytes + data, texts - data},
                           (span){to->bytes + texts, to->length - texts}, &mark) &&
                 buffer_append(&rows->bytes, to->bytes, data);
    return end_row(rows, added, mark);
}

/* Add what a session reads of an answer, as JSON: [content, finish reason, input tokens]. */
bool plain_answer(const plain *p, buffer *to) {
    return add(to, "[\"") && buffer_append(to, p->content.bytes, p->content.length) && add(to, "\",") &&
           buffer_append(to, p->finish.bytes, p->finish.size) && add_member(to, ",", p->usage[INPUT], p->usage[INPUT] >= 0) &&
           add(to, "]");
}

/* Take the pieces of a body one by one, as the I/O loop does, and give them all their bytes again; false with an error. */
static bool replay(plain *p, plain_rows *rows, const body *b, int64_t at, bool *known) {
    buffer kept = {0};
    piece *pieces = calloc(b->count, sizeof *pieces);
    size_t bytes = b->pieces[b->count - 1].end;
    bool added = pieces;
    for (size_t i = 0; added && i < b->count; i++) {
        const piece *next = b->pieces + i;
        pieces[i] = (piece){0, next->at, next->since, next->whole};
        added = plain_add(*known ? p : NULL, rows, &kept, (span){b->bytes + body_start(b, i), next->end - body_start(b, i)}, pieces + i, i);
        *known = added && *known && p->on && plain_pieces(p, rows, &kept, pieces, i + 1, i + 1 < b->count);
    }
    *known = *known && plain_end(p, rows, kept.length, pieces, b->count, at);
    bool restored = added && plain_restore(p, &kept, pieces, b->count);
    if (restored && (kept.length != bytes || memcmp(kept.bytes, b->bytes, bytes) || pieces[b->count - 1].end != bytes))
        PyErr_SetString(PyExc_AssertionError, "other bytes than came");
    free(kept.bytes);
    free(pieces);
    return restored ? !PyErr_Occurred() : (PyErr_NoMemory(), false);
}

/* The rows of a plain request whose body this is, as (message, count); None where Python reads it. */
PyObject *body_plain(body *b, PyObject *arguments) {
    PyObject *source, *message = NULL;
    span head;
    Py_ssize_t size;
    long long sent, first_byte, at;
    plain_rows rows = {0};
    if (!PyArg_ParseTuple(arguments, "Oy#LLL", &source, &head.bytes, &size, &sent, &first_byte, &at)) return NULL;
    known_shapes *shapes = shapes_of_python(source);
    plain *p = shapes ? calloc(1, sizeof *p) : NULL;
    if (p) {
        plain_begin(p, shapes);
        p->sent = sent;
        bool known = plain_head(p, head.bytes, (size_t)size, first_byte);
        if (replay(p, &rows, b, at, &known)) message = known ? rows_message(&rows, 0) : Py_NewRef(Py_None);
    }
    if (shapes) shapes_free(shapes);
    plain_free(p);
    free(rows.bytes.bytes);
    free(rows.scratch.bytes);
    return message || PyErr_Occurred() ? message : PyErr_NoMemory();
}
