/* The columns of requests as they leave the compiled reader: what marks.sql and joined_events.sql make of the events of
 * one request. */
#ifndef LOADGEN_COLUMNS_H
#define LOADGEN_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MOMENT is an INTEGER on the clock of its segment; JSON is TEXT. */
typedef enum { INTEGER, MOMENT, SMALL, REAL, TRUTH, TEXT, JSON, INTEGERS, GAPS } kind;

#define OF_EVENTS(X)                                                                                               \
    X(sample_uuid, TEXT) X(issued_ns, INTEGER) X(sent_ns, INTEGER) X(first_chunk_ns, INTEGER) X(ended_ns, INTEGER) \
    X(ended_seq, INTEGER) X(first_seq, INTEGER) X(last_seq, INTEGER) X(issues, INTEGER) X(ends, INTEGER)           \
    X(attempts, INTEGER) X(code, INTEGER) X(chunk_gaps_us, GAPS)
/* keys of recorder/payloads.py */
#define OF_ISSUE(X) \
    X(scheduled_ns, MOMENT) X(free_ns, MOMENT) X(phase, TEXT) X(prompt_id, INTEGER) X(conversation, TEXT) \
    X(turn, INTEGER) X(turns, INTEGER) X(episode, TRUTH) X(role, TEXT) X(endpoint, INTEGER) X(max_tokens, INTEGER) \
    X(tags, JSON) X(trace_id, TEXT)
#define OF_SENDING(X) \
    X(reused, TRUTH) X(connect_ms, REAL) X(tls_ms, REAL) X(dns_ms, REAL) X(retried, TRUTH) X(unasked, INTEGER) \
    X(sent_high_ns, MOMENT) X(span_id, TEXT)
#define OF_ENDING(X) \
    X(first_token_ns, MOMENT) X(last_token_ns, MOMENT) X(chunks, INTEGER) X(request_bytes, INTEGER) \
    X(upload_begun_ns, MOMENT) X(uploaded_ns, MOMENT) X(uploaded_low_ns, MOMENT) X(uploaded_high_ns, MOMENT) \
    X(audio_in_s, REAL) X(audio_out_s, REAL) X(first_audio_ns, MOMENT) X(playout_gap_ms, REAL) \
    X(images_out, INTEGER) X(media_tokens, INTEGER) X(status, SMALL) X(stream, TRUTH) X(first_byte_ns, MOMENT) \
    X(first_output_ns, MOMENT) X(first_visible_ns, MOMENT) X(first_byte_low_ns, MOMENT) \
    X(first_token_low_ns, MOMENT) X(first_output_low_ns, MOMENT) X(first_visible_low_ns, MOMENT) \
    X(last_token_low_ns, MOMENT) X(late_chunks, INTEGERS) X(first_chunk, JSON) X(silent_chunks, INTEGER) \
    X(silent_tokens, TRUTH) X(reads, INTEGER) X(coalesced, INTEGER) X(bytes, INTEGER) X(finish_reason, TEXT) \
    X(finish_ns, MOMENT) X(choices, INTEGER) X(other_chunks, INTEGER) X(content_chars, INTEGER) \
    X(reasoning_chars, INTEGER) X(call_chars, INTEGER) X(tagged_chars, INTEGER) X(unended, TEXT) X(deviations, TEXT) \
    X(input_tokens, INTEGER) X(output_tokens, INTEGER) X(reasoning_tokens, INTEGER) X(cached_tokens, INTEGER) \
    X(total_tokens, INTEGER) X(reasoning_added, TRUTH) X(server, JSON) X(error, TEXT) X(message, TEXT) \
    X(reason, TEXT)
/* end of keys */

#define NAMED(name, kind) COLUMN_##name,
enum { OF_EVENTS(NAMED) OF_ISSUE(NAMED) OF_SENDING(NAMED) OF_ENDING(NAMED) COLUMNS };
#undef NAMED

enum { ROWS = 8192 /* of a batch at most */, MOST_BYTES = 64 << 20 /* of its texts and lists, about */ };

typedef struct {
    const char *name;
    size_t size; /* of the name */
    kind kind;
} field;

extern const field FIELDS[COLUMNS];

/* A column has memory from its first value in a batch on. */
typedef struct {
    uint8_t *valid;
    char *values; /* of a text or a list: the bytes of all of them */
    int32_t *offsets; /* in bytes, which export divides for lists */
    size_t used, room;
    int64_t present;
} column;

typedef struct batch {
    struct batch *next;
    int64_t rows;
    size_t bytes;
    bool failed;              /* there was no memory for a value */
    int followed_by[COLUMNS]; /* of a member of payloads the one that came after it last */
    int varied[COLUMNS], varied_count; /* columns of texts and lists that have values */
    bool differs[COLUMNS];             /* columns with another value than the first one of all batches */
    column columns[COLUMNS];
} batch;

/* A value that a column may have in all rows: a number, a text, or NULL. */
typedef struct {
    bool is_present;
    uint64_t number; /* its bits */
    char *text;
    size_t size;
} value;

batch *batch_new(void);
void batch_free(batch *);

/* Give a column memory. */
bool open_column(batch *, int place);

static inline bool is_open(batch *to, int place) {
    return !to->failed && (to->columns[place].valid || open_column(to, place));
}

static inline void set_bit(void *bits, int64_t place) { ((uint8_t *)bits)[place >> 3] |= (uint8_t)(1u << (place & 7)); }

static inline void is_present(batch *to, column *one) {
    set_bit(one->valid, to->rows);
    one->present++;
}

/* Give the row that is being written a value. False: there is no memory. */
static inline bool put_integer(batch *to, int place, int64_t number) {
    if (!is_open(to, place)) return false;
    column *one = &to->columns[place];
    if (FIELDS[place].kind == TRUTH) {
        if (number) set_bit(one->values, to->rows);
    } else if (FIELDS[place].kind == SMALL) {
        ((int32_t *)one->values)[to->rows] = (int32_t)number;
    } else {
        ((int64_t *)one->values)[to->rows] = number;
    }
    is_present(to, one);
    return true;
}
bool put_real(batch *, int place, double value);
/* Texts and lists; of a list the bytes of its numbers. */
bool put_bytes(batch *, int place, const void *bytes, size_t size);
/* Reserve room for a text or a list; NULL: there is no memory. `put_reserved` then says how much of it was used. */
char *reserve(batch *, int place, size_t size);
void put_reserved(batch *, int place, size_t size);

/* The row is complete: what it was not given is NULL. False: there was no memory for one of its values. */
bool end_row(batch *);
bool is_full(const batch *);

/* Copy the first value of each column. False: there is no memory. */
bool first_values(const batch *, value to[COLUMNS]);
void free_values(value of[COLUMNS]);
/* Note which columns have other values than these. */
void compare_values(batch *, const value with[COLUMNS]);

struct ArrowArray;
struct ArrowSchema;
/* Both return false without memory; the batch belongs to the array, or is freed. */
bool batch_export(batch *, struct ArrowArray *);
bool schema_export(struct ArrowSchema *);

#endif
