/* The relay of a closed loop: requests that leave where plain ones end. See _relay.c. */
#ifndef LOADGEN_RELAY_H
#define LOADGEN_RELAY_H

#include <Python.h>

#include "_plain.h"

/* A request with its rows; the texts are in `bytes`. */
typedef struct prepared {
    struct prepared *next;
    uint64_t ticket;
    int code;
    span request, id, before, after, texts; /* `before` and `after` the time in the payload of the issue */
    const char *members;                    /* of the row of the sending (rows_sent) */
    char bytes[];
} prepared;

/* A plain request has ended, and a prepared one has left on its connection: the tickets of both (plain.ticket). */
typedef struct {
    uint64_t ended, left;
    int64_t ttft; /* of the one that ended */
    size_t tokens;
} handover;

typedef struct {
    prepared *first, **last;
    size_t count, few; /* Python is woken for handovers when so few requests are left */
    int64_t until;     /* none leaves from then on */
    handover *handovers;
    size_t handover_count, handover_capacity;
} relay;

prepared *prepared_of_python(PyObject *arguments);
void relay_add(relay *r, prepared *next);
prepared *relay_next(relay *r);
bool relay_has_room(relay *r);
bool relay_issues(const prepared *next, plain_rows *rows, plain *p, int64_t at);
relay relay_detach(relay *r, size_t most);
bool relay_append(const relay *detached, PyObject *list);
void relay_free(relay *r);

#endif
