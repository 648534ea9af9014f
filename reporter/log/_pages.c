/* The events of a log, from the pages of its SQLite file (sqlite.org/fileformat2.html). SQLite takes as long to read them as
 * joining takes. Nothing is copied but what lies on several pages; the file is not mapped, for it may be cut off meanwhile. */
#include "_events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_BYTES = 16, HEADER_BYTES = 100, PAGE_SIZE_AT = 16, RESERVED_AT = 20, ENCODING_AT = 56, UTF_8 = 1 };
enum { LEAF = 0x0D, INTERIOR = 0x05, LEAF_HEAD = 8, INTERIOR_HEAD = 12, DEEPEST = 20 };
enum { LEAST_PAGE = 1024 /* then the head of each record is on one page */, WINDOW_BYTES = 128 * 1024, NEAR_PAGES = 64 };
enum { SEQ, CODE, AT_NS, UUID, DATA, TEXTS, CHUNK_GAPS, COLUMNS_OF_EVENT };
enum { NULL_TYPE = 0, LAST_INTEGER_TYPE = 6, REAL_TYPE = 7, ZERO_TYPE = 8, ONE_TYPE = 9, FIRST_BLOB_TYPE = 12 };

/* Pages that follow each other. */
typedef struct {
    uint8_t *bytes;
    int64_t first, count;
} window;

typedef struct {
    int file;
    half part;
    size_t page_size, usable;
    int64_t pages, visited;
    window tree, rest;
    char *record; /* one that lies on several pages */
    size_t room;
    bool (*take)(void *, const event *);
    void *to;
} reader;

/* A part of a page, or of a record. */
typedef struct {
    const uint8_t *at, *end;
} span_of_bytes;

static uint32_t read_big(const uint8_t *at, int bytes) {
    uint32_t value = 0;
    while (bytes--) value = value << 8 | *at++;
    return value;
}

static bool read_file(const reader *own, void *to, size_t size, int64_t offset) {
    for (char *at = to; size;) {
        ssize_t got = pread(own->file, at, size, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got, size -= (size_t)got, offset += got;
    }
    return true;
}

/* A page by its number; the next call with the same window may replace it. Those behind it are read with it where pages
 * are asked for in order. */
static const uint8_t *page_at(reader *own, window *in, int64_t number) {
    int64_t behind = number - in->first;
    if (behind < 0 || behind >= in->count) {
        if (number < 1 || number > own->pages) return NULL;
        int64_t count = behind >= 0 && behind < in->count + NEAR_PAGES ? (int64_t)(WINDOW_BYTES / own->page_size) : 1;
        if (count > own->pages - number + 1) count = own->pages - number + 1;
        in->count = 0;
        if (!read_file(own, in->bytes, (size_t)count * own->page_size, (number - 1) * (int64_t)own->page_size)) return NULL;
        in->first = number, in->count = count, behind = 0;
    }
    return in->bytes + (size_t)behind * own->page_size;
}

static bool take_varint(span_of_bytes *from, uint64_t *value) {
    *value = 0;
    for (int byte = 0; byte < 9 && from->at < from->end; byte++) {
        uint8_t next = *from->at++;
        if (byte == 8) return *value = *value << 8 | next, true;
        *value = *value << 7 | (next & 0x7F);
        if (!(next & 0x80)) return true;
    }
    return false;
}

static bool is_text(uint64_t type) { return type > FIRST_BLOB_TYPE && type % 2; }

static bool is_blob(uint64_t type) { return type >= FIRST_BLOB_TYPE && !(type % 2); }

static uint64_t size_of(uint64_t type) {
    static const uint8_t SIZES[FIRST_BLOB_TYPE] = {0, 1, 2, 3, 4, 6, 8, 8};
    return type < FIRST_BLOB_TYPE ? SIZES[type] : (type - FIRST_BLOB_TYPE) / 2;
}

static bool read_integer(uint64_t type, const char *bytes, int64_t *value) {
    if (type == ZERO_TYPE || type == ONE_TYPE) return *value = type == ONE_TYPE, true;
    if (type == NULL_TYPE || type > LAST_INTEGER_TYPE) return false;
    uint64_t read = *(const int8_t *)bytes < 0 ? UINT64_MAX : 0;
    for (uint64_t left = size_of(type); left; left--) read = read << 8 | *(const uint8_t *)bytes++;
    *value = (int64_t)read;
    return true;
}

/* Copy what two parts of a record have on this page. */
static void copy_common(char *to, uint64_t from, uint64_t end, const uint8_t *page, uint64_t page_from, uint64_t page_end) {
    uint64_t first = from > page_from ? from : page_from, last = end < page_end ? end : page_end;
    if (first < last) memcpy(to + (first - from), page + (first - page_from), last - first);
}

/* Bring a record's bytes together, up to `head` and from `tail` on; what is between may be long, and is passed by. */
static const char *gather(reader *own, span_of_bytes here, int64_t next, uint64_t head, uint64_t tail, uint64_t size) {
    uint64_t needed = head + size - tail, from = (uint64_t)(here.end - here.at), until = tail < size ? size : head;
    if (needed > own->room) {
        char *room = realloc(own->record, 2 * needed);
        if (!room) return NULL;
        own->record = room, own->room = 2 * needed;
    }
    copy_common(own->record, 0, head, here.at, 0, from);
    copy_common(own->record + head, tail, size, here.at, 0, from);
    while (from < until) {
        bool is_near = next >= own->tree.first && next < own->tree.first + own->tree.count;
        const uint8_t *page = own->visited++ < own->pages ? page_at(own, is_near ? &own->tree : &own->rest, next) : NULL;
        if (!page) return NULL;
        uint64_t end = from + own->usable - 4;
        if (end > size) end = size;
        copy_common(own->record, 0, head, page + 4, from, end);
        copy_common(own->record + head, tail, size, page + 4, from, end);
        from = end, next = read_big(page, 4);
    }
    return own->record;
}

/* Read a record of which `here` is on the leaf, and the rest from page `next` on. */
static bool take_record(reader *own, int64_t seq, span_of_bytes here, uint64_t size, int64_t next) {
    span_of_bytes head = here;
    uint64_t head_size, types[COLUMNS_OF_EVENT], ends[COLUMNS_OF_EVENT];
    if (!take_varint(&head, &head_size) || head_size > (uint64_t)(here.end - here.at)) return false;
    head.end = here.at + head_size;
    uint64_t end = head_size;
    for (int place = 0; place < COLUMNS_OF_EVENT; place++) {
        if (!take_varint(&head, &types[place]) || size_of(types[place]) > size) return false;
        ends[place] = end += size_of(types[place]);
    }
    if (head.at != head.end || end != size) return false;
    const char *bytes = (const char *)here.at, *gaps = bytes + ends[TEXTS];
    uint64_t needed = types[CHUNK_GAPS] == NULL_TYPE ? ends[DATA] : size;
    if (needed > (uint64_t)(here.end - here.at)) {
        uint64_t tail = types[CHUNK_GAPS] == NULL_TYPE ? size : ends[TEXTS];
        if (!(bytes = gather(own, here, next, ends[DATA], tail, size))) return false;
        gaps = bytes + ends[DATA];
    }
    event read = {.seq = seq, .uuid = bytes + ends[AT_NS], .data = bytes + ends[UUID], .gaps = gaps};
    read.uuid_size = (uint32_t)size_of(types[UUID]), read.data_size = (uint32_t)size_of(types[DATA]);
    read.gaps_size = (uint32_t)size_of(types[CHUNK_GAPS]);
    return types[SEQ] == NULL_TYPE && read_integer(types[CODE], bytes + ends[SEQ], &read.code) &&
           read_integer(types[AT_NS], bytes + ends[CODE], &read.at_ns) && (types[UUID] == NULL_TYPE || is_text(types[UUID])) &&
           (types[DATA] == NULL_TYPE || is_text(types[DATA])) &&
           (types[CHUNK_GAPS] == NULL_TYPE || is_blob(types[CHUNK_GAPS])) &&
           /* Who reads texts of requests checks them. */
           (is_of_request(&read) || types[TEXTS] == NULL_TYPE || is_text(types[TEXTS])) && own->take(own->to, &read);
}

/* How much of a record of this size is on its leaf. */
static uint64_t local_size(const reader *own, uint64_t size) {
    uint64_t most = own->usable - 35, least = (own->usable - 12) * 32 / 255 - 23;
    if (size <= most) return size;
    uint64_t local = least + (size - least) % (own->usable - 4);
    return local <= most ? local : least;
}

static bool take_leaf(reader *own, const uint8_t *page) {
    uint32_t cells = read_big(page + 3, 2);
    if (LEAF_HEAD + 2 * cells > own->usable) return false;
    for (uint32_t cell = 0; cell < cells; cell++) {
        span_of_bytes at = {page + read_big(page + LEAF_HEAD + 2 * cell, 2), page + own->usable};
        uint64_t size, seq;
        if (!take_varint(&at, &size) || !take_varint(&at, &seq) || size > INT32_MAX) return false;
        uint64_t local = local_size(own, size);
        if (at.at > at.end || (uint64_t)(at.end - at.at) < local + (local < size ? 4 : 0)) return false;
        int64_t next = local < size ? read_big(at.at + local, 4) : 0;
        if (!take_record(own, (int64_t)seq, (span_of_bytes){at.at, at.at + local}, size, next)) return false;
    }
    return true;
}

static bool take_tree(reader *own, int64_t number, int depth);

/* A copy of the page, which is not there any more behind the first of its children. */
static bool take_children(reader *own, const uint8_t *page, int depth) {
    uint32_t cells = read_big(page + 3, 2), middle = depth == DEEPEST - 1 ? (cells + 1) / 2 : 0;
    uint32_t cell = own->part == SECOND_HALF ? middle : 0, end = own->part == FIRST_HALF && middle ? middle : cells + 1;
    if (INTERIOR_HEAD + 2 * cells > own->usable) return false;
    for (; cell < end; cell++) {
        size_t at = cell < cells ? read_big(page + INTERIOR_HEAD + 2 * cell, 2) : LEAF_HEAD;
        if (at + 4 > own->usable || !take_tree(own, read_big(page + at, 4), depth)) return false;
    }
    return true;
}

/* Each page is part of one tree once, so that more pages than the file has are a circle. */
static bool take_tree(reader *own, int64_t number, int depth) {
    const uint8_t *page = depth && own->visited++ < own->pages ? page_at(own, &own->tree, number) : NULL;
    if (!page || number == 1) return false;
    if (*page == LEAF) return (depth == DEEPEST && own->part == SECOND_HALF) || take_leaf(own, page);
    uint8_t *copy = *page == INTERIOR ? malloc(own->page_size) : NULL;
    if (!copy) return false;
    memcpy(copy, page, own->page_size);
    bool taken = take_children(own, copy, depth - 1);
    free(copy);
    return taken;
}

static bool read_head(reader *own) {
    uint8_t head[HEADER_BYTES];
    struct stat about;
    if (fstat(own->file, &about) || !read_file(own, head, sizeof head, 0)) return false;
    own->page_size = read_big(head + PAGE_SIZE_AT, 2);
    if (own->page_size == 1) own->page_size = 65536;
    if (own->page_size < LEAST_PAGE || own->page_size > 65536 || own->page_size & (own->page_size - 1)) return false;
    own->usable = own->page_size - head[RESERVED_AT];
    own->pages = about.st_size / (int64_t)own->page_size;
    return !memcmp(head, "SQLite format 3", MAGIC_BYTES) && read_big(head + ENCODING_AT, 4) == UTF_8;
}

bool read_pages(const char *path, int64_t root, half part, bool (*take)(void *, const event *), void *to) {
    reader own = {.file = open(path, O_RDONLY | O_CLOEXEC), .part = part, .take = take, .to = to};
    if (own.file < 0) return false;
    own.tree.bytes = malloc(WINDOW_BYTES), own.rest.bytes = malloc(WINDOW_BYTES);
    bool read = own.tree.bytes && own.rest.bytes && read_head(&own) && take_tree(&own, root, DEEPEST);
    free(own.tree.bytes), free(own.rest.bytes), free(own.record);
    close(own.file);
    return read;
}
