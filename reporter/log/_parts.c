/* A part of an archive has its events by kind, and those of a kind in the order of their numbers. Runs of them are merged:
 * so events of a request come together, and few requests are open at a time. Nothing is copied. */
#include "_parts.h"

#include <string.h>

enum { SEQ, CODE, AT_NS, ID, NAME, DATA, CHUNK_GAPS, COLUMNS_OF_PART };
enum { ID_BYTES = 16, HEXADECIMAL = 2 * ID_BYTES };
enum { MOST_BATCHES = 64, MOST_RUNS = 64 /* a recorder's archive has a few */ };

/* Rows of a batch whose numbers rise, from the next one on. */
typedef struct {
    const struct ArrowArray *batch;
    int64_t row, end, seq;
} run;

typedef struct {
    struct ArrowArray batches[MOST_BATCHES];
    run runs[MOST_RUNS];
    int batch_count, run_count;
} part;

static bool is_null(const struct ArrowArray *column, int64_t row) {
    const uint8_t *valid = column->buffers[0];
    row += column->offset;
    return valid && !(valid[row >> 3] >> (row & 7) & 1);
}

static int64_t int64_at(const struct ArrowArray *column, int64_t row) {
    return ((const int64_t *)column->buffers[1])[column->offset + row];
}

static int16_t int16_at(const struct ArrowArray *column, int64_t row) {
    return ((const int16_t *)column->buffers[1])[column->offset + row];
}

/* Where the values of a text or a list begin, and how many they are; without values, whatever pointer. */
static int32_t first_of(const struct ArrowArray *column, int64_t row, uint32_t *count) {
    *count = 0;
    if (is_null(column, row)) return 0;
    const int32_t *ends = (const int32_t *)column->buffers[1] + column->offset + row;
    *count = (uint32_t)(ends[1] - ends[0]);
    return ends[0];
}

static const char *text_at(const struct ArrowArray *column, int64_t row, uint32_t *size) {
    int32_t first = first_of(column, row, size);
    return *size ? (const char *)column->buffers[2] + first : NULL;
}

static const char *gaps_at(const struct ArrowArray *column, int64_t row, uint32_t *size) {
    const struct ArrowArray *gaps = column->children[0];
    int32_t first = first_of(column, row, size);
    if (!*size) return NULL;
    *size *= (uint32_t)sizeof(uint32_t);
    return (const char *)((const uint32_t *)gaps->buffers[1] + gaps->offset + first);
}

static void write_hexadecimal(char *to, const char *bytes) {
    for (int place = 0; place < ID_BYTES; place++) {
        unsigned char byte = (unsigned char)bytes[place];
        to[2 * place] = "0123456789abcdef"[byte >> 4];
        to[2 * place + 1] = "0123456789abcdef"[byte & 15];
    }
}

/* Whether a row has what a recorder writes; then its event, whose name may be written to `hexadecimal`. */
static bool event_at(const struct ArrowArray *batch, int64_t row, char *hexadecimal, event *to) {
    struct ArrowArray *const *columns = batch->children;
    if (is_null(columns[SEQ], row) || is_null(columns[CODE], row) || is_null(columns[AT_NS], row)) return false;
    *to = (event){int64_at(columns[SEQ], row), int16_at(columns[CODE], row), int64_at(columns[AT_NS], row)};
    to->uuid = text_at(columns[ID], row, &to->uuid_size);
    if (!to->uuid) {
        to->uuid = text_at(columns[NAME], row, &to->uuid_size);
    } else {
        if (to->uuid_size != ID_BYTES) return false;
        write_hexadecimal(hexadecimal, to->uuid);
        to->uuid = hexadecimal, to->uuid_size = HEXADECIMAL;
    }
    to->data = text_at(columns[DATA], row, &to->data_size);
    to->gaps = gaps_at(columns[CHUNK_GAPS], row, &to->gaps_size);
    return true;
}

/* Find the runs of a batch. False: there are too many. */
static bool add_runs(part *to, const struct ArrowArray *batch) {
    const struct ArrowArray *seqs = batch->children[SEQ];
    run *last = NULL;
    for (int64_t row = batch->offset; row < batch->offset + batch->length; row++) {
        int64_t seq = int64_at(seqs, row);
        if (!last || seq <= int64_at(seqs, row - 1)) {
            if (to->run_count == MOST_RUNS) return false;
            last = &to->runs[to->run_count++];
            *last = (run){batch, row, row, seq};
        }
        last->end++;
    }
    return true;
}

static run *lowest(part *of) {
    run *first = of->runs;
    for (int place = 1; place < of->run_count; place++)
        if (of->runs[place].seq < first->seq) first = &of->runs[place];
    return first;
}

static bool take_events(part *from, bool (*take)(void *, const event *), void *to) {
    char hexadecimal[HEXADECIMAL];
    event next;
    while (from->run_count) {
        run *first = lowest(from);
        if (!event_at(first->batch, first->row, hexadecimal, &next)) return false;
        if (is_of_request(&next) && !take(to, &next)) return false;
        if (++first->row == first->end) *first = from->runs[--from->run_count];
        else first->seq = int64_at(first->batch->children[SEQ], first->row);
    }
    return true;
}

static bool is_of(const struct ArrowSchema *column, const char *format) {
    return !strcmp(column->format, format) && !column->dictionary;
}

static bool has_known_types(struct ArrowArrayStream *stream) {
    static const char *const FORMATS[COLUMNS_OF_PART] = {"l", "s", "l", "z", "u", "u", "+l"};
    struct ArrowSchema schema;
    if (stream->get_schema(stream, &schema)) return false;
    bool known = is_of(&schema, "+s") && schema.n_children == COLUMNS_OF_PART;
    for (int place = 0; known && place < COLUMNS_OF_PART; place++) known = is_of(schema.children[place], FORMATS[place]);
    known = known && is_of(schema.children[CHUNK_GAPS]->children[0], "I");
    schema.release(&schema);
    return known;
}

static bool is_without_nulls(const struct ArrowArray *array) { return !array->null_count || !array->buffers[0]; }

/* Read the batches of a part. False: the stream fails, or there are too many. */
static bool read_part(struct ArrowArrayStream *stream, part *to, bool *ended) {
    while (to->batch_count < MOST_BATCHES) {
        struct ArrowArray *batch = &to->batches[to->batch_count];
        if (stream->get_next(stream, batch)) return false;
        if (!batch->release) return *ended = true;
        to->batch_count++;
        if (!batch->length) return true;
        /* No recorder leaves single gaps out. */
        if (!is_without_nulls(batch) || !is_without_nulls(batch->children[CHUNK_GAPS]->children[0])) return false;
        if (!add_runs(to, batch)) return false;
    }
    return false;
}

static void free_batches(part *of) {
    for (int place = 0; place < of->batch_count; place++) of->batches[place].release(&of->batches[place]);
    of->batch_count = of->run_count = 0;
}

bool read_parts(struct ArrowArrayStream *stream, bool (*take)(void *, const event *), void *to) {
    part next = {.batch_count = 0};
    bool ended = false, known = has_known_types(stream);
    while (known && !ended) {
        known = read_part(stream, &next, &ended) && take_events(&next, take, to);
        free_batches(&next);
    }
    return known;
}
