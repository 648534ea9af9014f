/* The requests of one log. */
#ifndef LOADGEN_JOINED_H
#define LOADGEN_JOINED_H

#include "_arrow.h"
#include "_columns.h"

/* A segment: what events from a number on are part of, and what to add to their numbers and times. */
typedef struct {
    int64_t first_seq, offset, shift_ns;
    bool is_of_run;
} span;

typedef struct {
    char *path; /* of a SQLite file */
    int64_t root;
    struct ArrowArrayStream stream; /* of an archive; without `release` there is none */
    span *spans;                    /* in order */
    int64_t count;
    uint64_t rare;   /* a bit for each code whose events are noted */
    int64_t *noted;  /* their numbers, in the file */
    size_t noted_count, noted_room;
} source;

enum { MOST_NOTED = 10000 /* of a file; one more: there are too many to note */ };

void free_source(source *);

/* Give `take` the requests of a log in batches, which it owns; it returns whether it wants more.
 * False: the log is not one that this reader is sure to understand, or it cannot be read. */
bool read_joined(source *, bool (*take)(void *, batch *), void *to);

#endif
