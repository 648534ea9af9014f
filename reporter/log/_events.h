/* The events of one log, which a thread of its own reads through SQLite. */
#ifndef LOADGEN_EVENTS_H
#define LOADGEN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t seq, code, at_ns;
    uint32_t uuid_size, data_size, gaps_size; /* of what follows, in this order; 0 also for NULL */
} event;

/* Events one after the other, each aligned to eight bytes. */
typedef struct block {
    struct block *next;
    size_t used, room;
    char bytes[];
} block;

typedef struct events events;

/* Look SQLite's functions up; whether all are there, for several threads. */
bool find_sqlite(void *library, void *(*look_up)(void *, const char *));

/* NULL: there is no memory, or no thread. */
events *events_open(const char *uri, const char *query);
void events_close(events *);

/* The next events; the last block is given back with it. NULL at the end. */
block *events_next(events *, block *last);

/* After the end: whether all events were read, and each has the types that a recorder writes. */
bool events_are_whole(events *);

#endif
