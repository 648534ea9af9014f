/* Plain requests: followed from the issue to the end without the interpreter. See _plain.c. */
#ifndef LOADGEN_PLAIN_H
#define LOADGEN_PLAIN_H

#include <Python.h>

#include "_body.h"
#include "_http1.h"

typedef struct {
    const unsigned char *bytes;
    size_t size;
} span;

enum { INPUT, OUTPUT, REASONING, CACHED, TOTAL, COUNTS }; /* counts of tokens, -1 for none */

typedef struct {
    span head, tail;
    bool reasoning;
} known_text;

/* A frame without a text. */
typedef struct {
    span *parts; /* between counts of tokens */
    size_t part_count;
    unsigned char fields[COUNTS]; /* which counts those are */
    span finish;                  /* the reason in JSON; empty for none */
    bool opens, counts;
    int64_t usage[COUNTS]; /* those that are the same in each such frame */
} known_frame;

typedef struct {
    span before, between;
    known_text *texts;
    known_frame *frames;
    size_t text_count, frame_count;
} known_start;

/* What is known of an endpoint's responses. The bytes are those of Python's objects, which do not change. */
typedef struct known_shapes {
    struct known_shapes *older, *newer; /* requests may still be read by those before */
    PyObject *source;
    known_start *starts;
    span *tags, *headers; /* a text with such a tag, or a head with such a field, is for Python */
    size_t start_count, tag_count, header_count;
} known_shapes;

enum { MOST_ID = 64 };

typedef struct {
    /* What each chunk needs... */
    bool on;        /* no more: Python follows the request */
    bool answers;   /* Python wants the answer */
    bool relays;    /* a prepared request may follow it */
    bool announced; /* FIRST_CHUNK is among the rows */
    bool done, opened, first_reasons, lows;
    bool waits;     /* for what is learnt of other responses: the next frame is of no known shape */
    size_t taken, frame; /* pieces that were looked at; where the frame begins that the next one continues */
    size_t removed;      /* bytes that the body has not kept */
    const known_start *start;
    size_t prefix, prefix_size; /* the beginning of the response's frames, in the body */
    int64_t latest, read_at, first_output, last_token;
    size_t tokens, reads;
    ptrdiff_t content_chars;
    buffer content;
    /* ...and what it does not. */
    char id[MOST_ID];
    size_t id_size;
    uint64_t ticket; /* of a request that the relay has issued; 0 for one of Python's */
    int64_t issued;
    const known_shapes *shapes;
    buffer reasoning;
    ptrdiff_t reasoning_chars, first_chars;
    span finish;
    int64_t usage[COUNTS];
    int64_t sent, first_byte, first_byte_low, finish_at;
    int64_t first_token, first_visible, ended;
} plain;

/* Rows of the log, as Python marshals them. */
typedef struct {
    buffer bytes, scratch;
    size_t count;
    int64_t since; /* when the first of them was added */
} plain_rows;

known_shapes *shapes_of_python(PyObject *source);
void shapes_free(known_shapes *shapes);

void plain_free(plain *p); /* which may be NULL */
void plain_begin(plain *p, const known_shapes *shapes);
bool plain_head(plain *p, const unsigned char *head, size_t length, int64_t at);
bool plain_pieces(plain *p, plain_rows *rows, buffer *body, piece *pieces, size_t count, bool goes_on);
bool plain_add(plain *p, plain_rows *rows, buffer *body, span bytes, piece *next, size_t count); /* p: NULL where Python follows */
bool plain_restore(plain *p, buffer *body, piece *pieces, size_t count);
bool plain_end(plain *p, plain_rows *rows, size_t bytes, const piece *pieces, size_t count, int64_t at);

bool rows_add(plain_rows *rows, span id, int code, int64_t at, span data, span texts);
bool rows_sent(plain_rows *rows, const plain *p, int64_t at, int64_t by, const char *members);
bool plain_answer(const plain *p, buffer *to);
PyObject *body_plain(body *b, PyObject *arguments);
PyObject *rows_message(const plain_rows *rows, int kind);

#endif
