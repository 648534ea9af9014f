/* The events of the requests of one log, which a thread of its own reads through SQLite. */
#ifndef LOADGEN_EVENTS_H
#define LOADGEN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t seq, code, at_ns;
    const char *uuid, *data, *gaps;
    uint32_t uuid_size, data_size, gaps_size; /* in bytes; 0 also for NULL */
} event;

/* Look SQLite's functions up; whether all are there, for several threads. */
bool find_sqlite(void *library, void *(*look_up)(void *, const char *));

/* Give `take` the events that a query selects; it returns whether it wants more. The columns are seq, code, at_ns,
 * sample_uuid, data and chunk_gaps_us. False: not all were read, or one has another type than a recorder writes. */
bool read_query(const char *uri, const char *query, bool (*take)(void *, const event *), void *to);

#endif
