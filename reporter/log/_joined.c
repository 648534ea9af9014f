/* The events of each request are gathered until it ends. Of all that began a number is kept, by which an event that comes
 * after the end is noticed. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "_joined.h"
#include "_parts.h"
#include "_payload.h"

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

/* An event of a second half, of a request that did not begin there. */
typedef struct deferred {
    struct deferred *next;
    event of;
    int64_t shift_ns;
    char bytes[];
} deferred;

enum { AWAITED = 32, HUGE_PAGE = 2 << 20 };

typedef struct reader {
    source *from;
    bool (*take)(void *, batch *);
    void *to;
    batch *rows;
    request **open, *unused; /* by hash; with memory that can be used again */
    size_t slots, opened;
    uint64_t *begun; /* hashes */
    size_t places, count;
    uint64_t awaited[AWAITED]; /* hashes that begun ones will get, in a ring: memory for them is on its way to the cache */
    size_t next;
    int64_t first_seq, last_seq;
    deferred *first, **end; /* in order */
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

/* Of memory that is reached in no order, few pages are faster. */
static void use_huge_pages(void *memory, size_t size) {
#ifdef MADV_HUGEPAGE
    uintptr_t first = ((uintptr_t)memory + HUGE_PAGE - 1) & -(uintptr_t)HUGE_PAGE;
    size_t before = first - (uintptr_t)memory;
    if (size >= before + HUGE_PAGE) madvise((void *)first, (size - before) & -(size_t)HUGE_PAGE, MADV_HUGEPAGE);
#endif
}

static bool widen_begun(reader *own) {
    size_t places = own->places ? 2 * own->places : 1024;
    uint64_t *begun = calloc(places, sizeof *begun);
    if (!begun) return false;
    use_huge_pages(begun, places * sizeof *begun);
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

/* Add the oldest awaited hash, if any. False: a request of this hash has begun before. */
static bool add_awaited(reader *own) {
    uint64_t hash = own->awaited[own->next];
    uint64_t *place = place_of(own->begun, own->places, hash);
    if (hash && *place) return false;
    if (hash) *place = hash;
    return true;
}

/* A request that no event was about before; NULL where a former one may have ended already, and without memory. */
static request *begin(reader *own, uint64_t hash, const char *uuid, size_t size, int64_t seq) {
    if (own->opened >= own->slots && !widen(own)) return NULL;
    if (4 * (own->count + 1) > 3 * own->places && !widen_begun(own)) return NULL;
    if (!add_awaited(own) || !is_utf8(uuid, size)) return NULL;
    __builtin_prefetch(&own->begun[hash & (own->places - 1)], 1);
    own->awaited[own->next] = hash, own->next = (own->next + 1) % AWAITED, own->count++;
    request *new = own->unused;
    if (new) own->unused = new->next;
    else if (!(new = calloc(1, sizeof *new))) return NULL;
    *new = (request){.hash = hash, .uuid = new->uuid, .issue = new->issue, .sending = new->sending, .first_seq = seq};
    new->issue.size = new->sending.size = 0;
    request **head = &own->open[hash & (own->slots - 1)];
    new->next = *head, *head = new, own->opened++;
    return copy(&new->uuid, uuid, size) ? new : NULL;
}

/* What an event is part of: the last span that began before it; NULL: it comes before all. */
static const span *span_at(const source *from, int64_t seq) {
    int64_t place = from->count;
    while (place && from->spans[place - 1].first_seq > seq) place--;
    return place ? &from->spans[place - 1] : NULL;
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
    if (!end_row(own->rows)) return false;
    if (!is_full(own->rows)) return true;
    own->rows = own->take(own->to, own->rows) ? batch_new() : NULL;
    return own->rows;
}

static bool put_ending(batch *rows, const event *end, int64_t shift_ns) {
    put_integer(rows, COLUMN_ends, 1);
    put_integer(rows, COLUMN_code, end->code);
    put_integer(rows, COLUMN_ended_ns, end->at_ns);
    put_integer(rows, COLUMN_ended_seq, end->seq);
    return read_payload(rows, &ENDING, end->data, end->data_size, shift_ns) &&
           put_bytes(rows, COLUMN_chunk_gaps_us, end->gaps, end->gaps_size % 4 ? 0 : end->gaps_size);
}

static bool has_phase(const batch *rows, size_t used, const char *phase, size_t size) {
    const column *phases = &rows->columns[COLUMN_phase];
    return phases->used == used + size && !memcmp(phases->values + used, phase, size);
}

/* The first number of a list is the time until the first chunk. */
static void count_gaps(source *to, const event *end) {
    for (uint32_t at = sizeof(uint32_t), gap; at < end->gaps_size; at += sizeof gap) {
        memcpy(&gap, end->gaps + at, sizeof gap);
        if (gap > to->longest_gap) to->longest_gap = gap;
        if (gap <= LONGEST_GAP) to->gaps[gap]++;
    }
}

static bool end_request(reader *own, request **at, const event *end, int64_t shift_ns) {
    static const char MEASURED[] = "performance";
    request *one = *at;
    size_t used = own->rows->columns[COLUMN_phase].used;
    if (!put_begun(own->rows, one) || !put_ending(own->rows, end, shift_ns)) return false;
    bool is_counted = own->from->gaps && end->code == COMPLETE && end->gaps_size % 4 == 0;
    if (is_counted && has_phase(own->rows, used, MEASURED, sizeof MEASURED - 1)) count_gaps(own->from, end);
    *at = one->next, own->opened--;
    one->next = own->unused, own->unused = one;
    return write_row(own);
}

/* Whether the recorder could not write the data of an event of one of the kinds of which that is counted. */
static bool is_unencoded(const event *one) {
    static const char BEGIN[] = "{\"encode_error\":";
    return one->code != FIRST_CHUNK && one->code != RETRY && one->data_size >= sizeof BEGIN - 1 &&
           !memcmp(one->data, BEGIN, sizeof BEGIN - 1);
}

static bool defer(reader *own, const event *one, int64_t shift_ns) {
    deferred *new = malloc(sizeof *new + one->uuid_size + one->data_size + one->gaps_size);
    if (!new) return false;
    char *uuid = new->bytes, *data = uuid + one->uuid_size, *gaps = data + one->data_size;
    if (one->uuid_size) memcpy(uuid, one->uuid, one->uuid_size);
    if (one->data_size) memcpy(data, one->data, one->data_size);
    if (one->gaps_size) memcpy(gaps, one->gaps, one->gaps_size);
    new->next = NULL, new->of = *one, new->shift_ns = shift_ns;
    new->of.uuid = uuid, new->of.data = data, new->of.gaps = gaps;
    *own->end = new, own->end = &new->next;
    return true;
}

/* An event with the number and the time that it has in the run. */
static bool join(reader *own, const event *next, int64_t shift_ns) {
    uint64_t hash = hash_of(next->uuid, next->uuid_size);
    request **at = find(own, hash, next->uuid, next->uuid_size), *one = *at;
    if (!one) {
        if (own->from->part == SECOND_HALF && next->code != ISSUED) return defer(own, next, shift_ns);
        if (!(one = begin(own, hash, next->uuid, next->uuid_size, next->seq))) return false;
        at = find(own, hash, next->uuid, next->uuid_size);
    }
    one->last_seq = next->seq;
    switch (next->code) {
        case ISSUED:
            if (one->issues++) return false;
            one->issued_ns = next->at_ns, one->issue_shift = shift_ns;
            return copy(&one->issue, next->data, next->data_size);
        case SENT:
            if (one->sends++ && next->at_ns <= one->sent_ns) return false;
            one->sent_ns = next->at_ns, one->sending_shift = shift_ns;
            return copy(&one->sending, next->data, next->data_size);
        case FIRST_CHUNK:
            if (!one->chunks || next->at_ns < one->first_chunk_ns) one->first_chunk_ns = next->at_ns;
            if (!one->chunks++ || next->at_ns > one->last_chunk_ns) one->last_chunk_ns = next->at_ns;
            return true;
        case RETRY: return one->retries++, true;
        default: return end_request(own, at, next, shift_ns);
    }
}

static bool note(source *from, const event *one) {
    if (one->code < 0 || one->code >= 64 || !(from->rare >> one->code & 1) || from->noted_count > MOST_NOTED) return true;
    if (from->noted_count == from->noted_room) {
        size_t room = from->noted_room ? 2 * from->noted_room : 64;
        int64_t *noted = realloc(from->noted, room * sizeof *noted);
        if (!noted) return false;
        from->noted = noted, from->noted_room = room;
    }
    from->noted[from->noted_count++] = one->seq;
    return true;
}

static bool read_event(void *to, const event *read) {
    reader *own = to;
    event next = *read;
    if (next.seq <= own->last_seq) return false;
    if (own->last_seq == INT64_MIN) own->first_seq = next.seq;
    own->last_seq = next.seq;
    if (!is_of_request(read)) return note(own->from, read);
    const span *part = span_at(own->from, next.seq);
    if (!part) return false;
    if (!part->is_of_run || !next.uuid_size) return true;
    if (is_unencoded(read)) return false;
    return !__builtin_add_overflow(next.seq, part->offset, &next.seq) &&
           !__builtin_add_overflow(next.at_ns, part->shift_ns, &next.at_ns) && join(own, &next, part->shift_ns);
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

static void free_reader(reader *old) {
    if (!old) return;
    for (size_t slot = 0; slot < old->slots; slot++) free_requests(old->open[slot]);
    for (deferred *next; old->first; old->first = next) next = old->first->next, free(old->first);
    free_requests(old->unused);
    free(old->open), free(old->begun), batch_free(old->rows), free(old);
}

void free_source(source *old) {
    free(old->path), free(old->spans), free(old->noted), free(old->gaps), free_reader(old->reader);
    if (old->stream.release) old->stream.release(&old->stream);
}

bool read_joined(source *from, bool (*take)(void *, batch *), void *to) {
    reader *own = from->reader = calloc(1, sizeof *own);
    if (!own) return false;
    *own = (reader){.from = from, .take = take, .to = to, .rows = batch_new(), .first_seq = INT64_MAX, .last_seq = INT64_MIN};
    own->end = &own->first;
    if (from->part != ALL) from->gaps = calloc(LONGEST_GAP + 1, sizeof *from->gaps);
    return own->rows && widen(own) && widen_begun(own) &&
           (from->stream.release ? read_parts(&from->stream, read_event, own)
                                 : read_pages(from->path, from->root, from->part, read_event, own));
}

static bool add_all_awaited(reader *own) {
    bool added = true;
    for (int place = 0; added && place < AWAITED; place++) added = add_awaited(own), own->next = (own->next + 1) % AWAITED;
    memset(own->awaited, 0, sizeof own->awaited);
    return added;
}

/* Join what a second half has of requests that began before it. False: a request of the second half began before it too. */
static bool join_halves(reader *earlier, const reader *own) {
    if (own->first_seq <= earlier->last_seq) return false;
    for (const deferred *one = own->first; one; one = one->next)
        if (!join(earlier, &one->of, one->shift_ns)) return false;
    if (!add_all_awaited(earlier)) return false;
    for (size_t place = 0; place < own->places; place++)
        if (own->begun[place] && *place_of(earlier->begun, earlier->places, own->begun[place])) return false;
    return true;
}

bool end_joined(source *from) {
    reader *own = from->reader;
    bool done = add_all_awaited(own) && (from->part != SECOND_HALF || join_halves(from[-1].reader, own)) && put_open_requests(own);
    if (done && own->rows->rows) done = own->take(own->to, own->rows), own->rows = NULL;
    free_reader(own), from->reader = NULL;
    return done;
}
