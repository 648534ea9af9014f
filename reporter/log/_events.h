/* An event of a log, and the events of a log that is a SQLite file. */
#ifndef LOADGEN_EVENTS_H
#define LOADGEN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ISSUED = 20, SENT = 21, FIRST_CHUNK = 22, COMPLETE = 23, CANCELLED = 25, RETRY = 26 }; /* recorder/event.py */

typedef struct {
    int64_t seq, code, at_ns;
    const char *uuid, *data, *gaps;
    uint32_t uuid_size, data_size, gaps_size; /* in bytes; 0 also for NULL */
} event;

static inline bool is_of_request(const event *one) { return one->code >= ISSUED && one->code <= RETRY; }

/* What of a log is read: two threads share a log. */
typedef enum { ALL, FIRST_HALF, SECOND_HALF } half;

/* Give `take` each event of a log, or of about half of it, in order of the numbers; it returns whether it wants more. `root` is
 * the first page of the table of events. False: not all were read, or one has another type than a recorder writes. */
bool read_pages(const char *path, int64_t root, half part, bool (*take)(void *, const event *), void *to);

#endif
