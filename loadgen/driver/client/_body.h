/* A part of the body of a response: its bytes, the pieces in which they came, and when. See _body.c. */
#ifndef LOADGEN_BODY_H
#define LOADGEN_BODY_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    size_t end;        /* in the bytes */
    int64_t at, since; /* since: nothing of it had arrived by then; 0 where its stamp is exact */
    bool whole;        /* whether `since` holds for its first byte, or only for what ends before its last */
    bool ends_token;   /* of a plain request: whether the last frame that ends here has a text */
    unsigned char text; /* it is a frame of which only the text is kept: 1 + the place of its shape (plain_add); 0 for all others */
    unsigned tokens;   /* and how many frames with a text end here */
} piece;

typedef struct {
    PyObject_HEAD
    unsigned char *bytes;
    piece *pieces;
    size_t count;
} body;

extern PyType_Spec body_spec;

/* A copy of some pieces, at least one; NULL without memory. */
PyObject *body_of(PyTypeObject *type, const unsigned char *bytes, const piece *pieces, size_t count);

static inline size_t body_start(const body *b, size_t place) { return place ? b->pieces[place - 1].end : 0; }

#endif
