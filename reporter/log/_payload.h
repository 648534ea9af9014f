/* The payloads of events, read into columns without building values. */
#ifndef LOADGEN_PAYLOAD_H
#define LOADGEN_PAYLOAD_H

#include "_columns.h"

typedef struct {
    int first, count; /* columns */
} members;

extern const members ISSUE, SENDING, ENDING;

/* Read the members that have a column.
 * False: the payload is not one that this reader is sure to read as DuckDB does, or there is no memory. */
bool read_payload(batch *, const members *, const char *json, size_t size, int64_t shift_ns);

/* Whether a text is valid UTF-8 without control characters. */
bool is_utf8(const char *text, size_t size);

#endif
