/* The requests of one log. */
#ifndef LOADGEN_JOINED_H
#define LOADGEN_JOINED_H

#include "_arrow.h"
#include "_columns.h"
#include "_events.h"

/* A segment: what events from a number on are part of, and what to add to their numbers and times. */
typedef struct {
    int64_t first_seq, offset, shift_ns;
    bool is_of_run;
} span;

typedef struct {
    char *path; /* of a SQLite file */
    int64_t root;
    half part;
    struct ArrowArrayStream stream; /* of an archive; without `release` there is none */
    span *spans;                    /* in order */
    int64_t count;
    uint64_t rare;   /* a bit for each code whose events are noted */
    int64_t *noted;  /* their numbers, in the file */
    size_t noted_count, noted_room;
    int64_t *gaps; /* of a half: how often each time between chunks, in us, is in completed requests of the performance phase */
    uint32_t longest_gap;
    struct reader *reader; /* what `read_joined` leaves to `end_joined` */
} source;

enum { MOST_NOTED = 10000 /* of a file; one more: there are too many to note */, LONGEST_GAP = (1 << 22) - 1 };

void free_source(source *);

/* Give `take` the requests of a log in batches, which it owns; it returns whether it wants more. `end_joined` gives it the
 * requests that have not ended, once all sources are read: a second half, which follows its first half, before that one.
 * False: the log is not one that this reader is sure to understand, it cannot be read, or no more is wanted. */
bool read_joined(source *, bool (*take)(void *, batch *), void *to);
bool end_joined(source *);

#endif
