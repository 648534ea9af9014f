/* The events of each request are gathered until it ends. Of all that began a number is kept, by which an event that comes
 * after the end is noticed. */
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdlib.h>
#include <string.h>

#include "_joined.h"
#include "_payload.h"

/* The few of SQLite's functions that are needed; its headers are not there everywhere. */
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
#define FUNCTIONS(X)                                                   \
    X(int, threadsafe, (void))                                         \
    X(int, open_v2, (const char *, sqlite3 **, int, const char *))     \
    X(int, close, (sqlite3 *))                                         \
    X(int, prepare_v2, (sqlite3 *, const char *, int, sqlite3_stmt **, const char **)) \
    X(int, step, (sqlite3_stmt *))                                     \
    X(int, finalize, (sqlite3_stmt *))                                 \
    X(int, column_type, (sqlite3_stmt *, int))                         \
    X(int64_t, column_int64, (sqlite3_stmt *, int))                    \
    X(const unsigned char *, column_text, (sqlite3_stmt *, int))       \
    X(const void *, column_blob, (sqlite3_stmt *, int))                \
    X(int, column_bytes, (sqlite3_stmt *, int))

#define POINTER(type, name, arguments) type(*name) arguments;
static struct {
    FUNCTIONS(POINTER)
} sqlite;

enum { OK = 0, ROW = 100, DONE = 101, READ_ONLY = 1, BY_URI = 0x40, NO_MUTEX = 0x8000 };
enum { IS_INTEGER = 1, IS_TEXT = 3, IS_BLOB = 4, IS_NULL = 5 };
enum { SEQ, CODE, AT_NS, UUID, DATA, CHUNK_GAPS }; /* columns of the query */
enum { ISSUED = 20, SENT = 21, FIRST_CHUNK = 22, COMPLETE = 23, CANCELLED = 25, RETRY = 26 }; /* recorder/event.py */

bool find_sqlite(void *library, void *(*look_up)(void *, const char *)) {
#define FIND(type, name, arguments) \
    if (!(*(void **)&sqlite.name = look_up(library, "sqlite3_" #name))) return false;
    FUNCTIONS(FIND)
    return sqlite.threadsafe() != 0;
}

void free_source(source *old) {
    free(old->uri), free(old->query), free(old->shifts);
}

typedef struct {
    char *bytes;
    size_t size, room;
} text;

/* A request that has not ended. */
typedef struct request {
    struct request *next;
    uint64_t hash;
    text uuid, issue, sending;
    int64_t first_seq, last_seq, issued_ns, sent_ns, first_chunk_ns, last_chunk_ns, issue_shift, sending_shift;
    int64_t issues, sends, chunks, retries;
} request;

typedef struct {
    const source *from;
    bool (*take)(void *, batch *);
    void *to;
    batch *rows;
    request **open, *unused; /* by hash; with memory that can be used again */
    size_t slots, opened;
    uint64_t *begun; /* hashes */
    size_t places, count;
    bool unwanted;
} reader;

static bool copy(text *to, const void *bytes, size_t size) {
    if (size > to->room) {
        char *room = realloc(to->bytes, 2 * size);
        if (!room) return false;
        to->bytes = room, to->room = 2 * size;
    }
    if (size) memcpy(to->bytes, bytes, size);
    to->size = size;
    return true;
}

static uint64_t hash_of(const char *bytes, size_t size) {
    uint64_t hash = 0x9E3779B97F4A7C15u ^ size, part;
    for (; size >= 8; bytes += 8, size -= 8) {
        memcpy(&part, bytes, 8);
        hash = (hash ^ part) * 0xD6E8FEB86659FD93u, hash ^= hash >> 32;
    }
    part = 0;
    memcpy(&part, bytes, size);
    hash = (hash ^ part) * 0xD6E8FEB86659FD93u, hash ^= hash >> 32;
    hash *= 0xD6E8FEB86659FD93u;
    return hash ^ hash >> 32 ?: 1;
}

/* Where a hash is, or would be, among those of requests that have begun. */
static uint64_t *place_of(uint64_t *begun, size_t places, uint64_t hash) {
    size_t place = hash & (places - 1);
    while (begun[place] && begun[place] != hash) place = (place + 1) & (places - 1);
    return &begun[place];
}

static bool widen_begun(reader *own) {
    size_t places = own->places ? 2 * own->places : 1024;
    uint64_t *begun = calloc(places, sizeof *begun);
    if (!begun) return false;
    for (size_t place = 0; place < own->places; place++)
        if (own->begun[place]) *place_of(begun, places, own->begun[place]) = own->begun[place];
    free(own->begun);
    own->begun = begun, own->places = places;
    return true;
}

static bool widen(reader *own) {
    size_t slots = own->slots ? 2 * own->slots : 256;
    request **open = calloc(slots, sizeof *open);
    if (!open) return false;
    for (size_t slot = 0; slot < own->slots; slot++)
        for (request *one = own->open[slot], *next; one; one = next) {
            next = one->next;
            request **head = &open[one->hash & (slots - 1)];
            one->next = *head, *head = one;
        }
    free(own->open);
    own->open = open, own->slots = slots;
    return true;
}

/* Where the pointer to an open request is, or to NULL in its place. */
static request **find(reader *own, uint64_t hash, const char *uuid, size_t size) {
    request **at = &own->open[hash & (own->slots - 1)];
    while (*at && !((*at)->hash == hash && (*at)->uuid.size == size && !memcmp((*at)->uuid.bytes, uuid, size)))
        at = &(*at)->next;
    return at;
}

/* A request that no event was about before; NULL if it has ended already, and without memory. */
static request *begin(reader *own, uint64_t hash, const char *uuid, size_t size, int64_t seq) {
    if (own->opened >= own->slots && !widen(own)) return NULL;
    if (4 * (own->count + 1) > 3 * own->places && !widen_begun(own)) return NULL;
    uint64_t *place = place_of(own->begun, own->places, hash);
    if (*place || !is_utf8(uuid, size)) return NULL;
    *place = hash, own->count++;
    request *new = own->unused;
    if (new) own->unused = new->next;
    else if (!(new = calloc(1, sizeof *new))) return NULL;
    *new = (request){.hash = hash, .uuid = new->uuid, .issue = new->issue, .sending = new->sending, .first_seq = seq};
    new->issue.size = new->sending.size = 0;
    request **head = &own->open[hash & (own->slots - 1)];
    new->next = *head, *head = new, own->opened++;
    return copy(&new->uuid, uuid, size) ? new : NULL;
}

static int64_t shift_at(const source *from, int64_t seq) {
    Py_ssize_t place = from->count;
    while (place && from->shifts[place - 1].first_seq > seq) place--;
    return place ? from->shifts[place - 1].by_ns : 0;
}

/* What all requests have, ended or not. */
static bool put_begun(batch *rows, const request *one) {
    bool put = put_bytes(rows, COLUMN_sample_uuid, one->uuid.bytes, one->uuid.size);
    put_integer(rows, COLUMN_first_seq, one->first_seq);
    put_integer(rows, COLUMN_last_seq, one->last_seq);
    put_integer(rows, COLUMN_issues, one->issues);
    put_integer(rows, COLUMN_attempts, one->retries + 1);
    if (one->issues) put_integer(rows, COLUMN_issued_ns, one->issued_ns);
    if (one->sends) put_integer(rows, COLUMN_sent_ns, one->sent_ns);
    if (one->chunks && !one->retries) put_integer(rows, COLUMN_first_chunk_ns, one->first_chunk_ns);
    if (one->chunks && one->retries && one->sends && one->last_chunk_ns >= one->sent_ns)
        put_integer(rows, COLUMN_first_chunk_ns, one->last_chunk_ns);
    return put && read_payload(rows, &ISSUE, one->issue.bytes, one->issue.size, one->issue_shift) &&
           read_payload(rows, &SENDING, one->sending.bytes, one->sending.size, one->sending_shift);
}

static bool write_row(reader *own) {
    end_row(own->rows);
    if (!is_full(own->rows)) return true;
    own->unwanted = !own->take(own->to, own->rows);
    own->rows = own->unwanted ? NULL : batch_new();
    return own->rows;
}

static bool put_ending(reader *own, sqlite3_stmt *event, int64_t code, int64_t at_ns, int64_t shift_ns) {
    batch *rows = own->rows;
    put_integer(rows, COLUMN_ends, 1);
    put_integer(rows, COLUMN_code, code);
    put_integer(rows, COLUMN_ended_ns, at_ns);
    put_integer(rows, COLUMN_ended_seq, sqlite.column_int64(event, SEQ));
    const char *data = (const char *)sqlite.column_text(event, DATA);
    if (!read_payload(rows, &ENDING, data, (size_t)sqlite.column_bytes(event, DATA), shift_ns)) return false;
    int type = sqlite.column_type(event, CHUNK_GAPS);
    if (type != IS_BLOB && type != IS_NULL) return false;
    const void *gaps = sqlite.column_blob(event, CHUNK_GAPS);
    size_t size = (size_t)sqlite.column_bytes(event, CHUNK_GAPS);
    return put_bytes(rows, COLUMN_chunk_gaps_us, gaps, size % 4 ? 0 : size);
}

static bool end_request(reader *own, request **at, sqlite3_stmt *event, int64_t code, int64_t at_ns, int64_t shift_ns) {
    request *one = *at;
    if (!put_begun(own->rows, one) || !put_ending(own, event, code, at_ns, shift_ns)) return false;
    *at = one->next, own->opened--;
    one->next = own->unused, own->unused = one;
    return write_row(own);
}

static bool copy_data(text *to, sqlite3_stmt *event) {
    const void *data = sqlite.column_text(event, DATA);
    return copy(to, data, (size_t)sqlite.column_bytes(event, DATA));
}

static bool read_event(reader *own, sqlite3_stmt *event) {
    int data = sqlite.column_type(event, DATA);
    if (sqlite.column_type(event, CODE) != IS_INTEGER || sqlite.column_type(event, AT_NS) != IS_INTEGER ||
        sqlite.column_type(event, UUID) != IS_TEXT || (data != IS_TEXT && data != IS_NULL))
        return false;
    int64_t seq = sqlite.column_int64(event, SEQ), code = sqlite.column_int64(event, CODE), at_ns;
    int64_t shift_ns = shift_at(own->from, seq);
    if (__builtin_add_overflow(sqlite.column_int64(event, AT_NS), shift_ns, &at_ns)) return false;
    const char *uuid = (const char *)sqlite.column_text(event, UUID);
    size_t size = (size_t)sqlite.column_bytes(event, UUID);
    if (!uuid) return false;
    uint64_t hash = hash_of(uuid, size);
    request **at = find(own, hash, uuid, size), *one = *at;
    if (!one) {
        if (!(one = begin(own, hash, uuid, size, seq))) return false;
        at = find(own, hash, uuid, size);
    }
    one->last_seq = seq;
    switch (code) {
        case ISSUED:
            if (one->issues++) return false;
            one->issued_ns = at_ns, one->issue_shift = shift_ns;
            return copy_data(&one->issue, event);
        case SENT:
            if (one->sends++ && at_ns <= one->sent_ns) return false;
            one->sent_ns = at_ns, one->sending_shift = shift_ns;
            return copy_data(&one->sending, event);
        case FIRST_CHUNK:
            if (!one->chunks || at_ns < one->first_chunk_ns) one->first_chunk_ns = at_ns;
            if (!one->chunks++ || at_ns > one->last_chunk_ns) one->last_chunk_ns = at_ns;
            return true;
        case RETRY: return one->retries++, true;
        default: return end_request(own, at, event, code, at_ns, shift_ns);
    }
}

static bool put_open_requests(reader *own) {
    for (size_t slot = 0; slot < own->slots; slot++)
        for (request *one = own->open[slot]; one; one = one->next) {
            put_integer(own->rows, COLUMN_ends, 0);
            if (!put_begun(own->rows, one) || !write_row(own)) return false;
        }
    return true;
}

static void free_requests(request *first) {
    for (request *next; first; first = next) {
        next = first->next;
        free(first->uuid.bytes), free(first->issue.bytes), free(first->sending.bytes), free(first);
    }
}

static bool read_events(reader *own, sqlite3_stmt *events) {
    int state;
    while ((state = sqlite.step(events)) == ROW)
        if (!read_event(own, events)) return false;
    if (state != DONE || !put_open_requests(own)) return false;
    if (own->rows->rows) own->unwanted = !own->take(own->to, own->rows), own->rows = NULL;
    return true;
}

bool read_joined(const source *from, bool (*take)(void *, batch *), void *to) {
    reader own = {.from = from, .take = take, .to = to, .rows = batch_new()};
    sqlite3 *log = NULL;
    sqlite3_stmt *events = NULL;
    bool done = own.rows && widen(&own) && widen_begun(&own) &&
                sqlite.open_v2(from->uri, &log, READ_ONLY | BY_URI | NO_MUTEX, NULL) == OK &&
                sqlite.prepare_v2(log, from->query, -1, &events, NULL) == OK && read_events(&own, events);
    sqlite.finalize(events), sqlite.close(log);
    for (size_t slot = 0; slot < own.slots; slot++) free_requests(own.open[slot]);
    free_requests(own.unused);
    free(own.open), free(own.begun), batch_free(own.rows);
    return done || own.unwanted;
}
