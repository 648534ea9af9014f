/* The requests of one log. */
#ifndef LOADGEN_JOINED_H
#define LOADGEN_JOINED_H

#include "_columns.h"

typedef struct {
    int64_t first_seq, by_ns;
} shift;

typedef struct {
    char *uri, *query;
    shift *shifts; /* of the times of events from each number on, in order */
    int64_t count;
} source;

void free_source(source *);

/* Give `take` the requests of a log in batches, which it owns; it returns whether it wants more.
 * False: the log is not one that this reader is sure to understand, or it cannot be read. */
bool read_joined(const source *, bool (*take)(void *, batch *), void *to);

#endif
