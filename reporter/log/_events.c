/* SQLite takes as long to read a log as joining takes: so it is left to another thread, which copies what it reads. */
#include "_events.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The few of SQLite's functions that are needed; its headers are not there everywhere. */
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_value sqlite3_value;
#define FUNCTIONS(X)                                                                   \
    X(int, threadsafe, (void))                                                         \
    X(int, open_v2, (const char *, sqlite3 **, int, const char *))                     \
    X(int, close, (sqlite3 *))                                                         \
    X(int, prepare_v2, (sqlite3 *, const char *, int, sqlite3_stmt **, const char **)) \
    X(int, step, (sqlite3_stmt *))                                                     \
    X(int, finalize, (sqlite3_stmt *))                                                 \
    X(sqlite3_value *, column_value, (sqlite3_stmt *, int))                            \
    X(int, value_type, (sqlite3_value *))                                              \
    X(int64_t, value_int64, (sqlite3_value *))                                         \
    X(const unsigned char *, value_text, (sqlite3_value *))                            \
    X(const void *, value_blob, (sqlite3_value *))                                     \
    X(int, value_bytes, (sqlite3_value *))

#define POINTER(type, name, arguments) type(*name) arguments;
static struct {
    FUNCTIONS(POINTER)
} sqlite;

enum { OK = 0, ROW = 100, DONE = 101, READ_ONLY = 1, BY_URI = 0x40, NO_MUTEX = 0x8000 };
enum { IS_INTEGER = 1, IS_TEXT = 3, IS_BLOB = 4, IS_NULL = 5 };
enum { SEQ, CODE, AT_NS, UUID, DATA, CHUNK_GAPS }; /* columns of the query */
enum { BLOCK_BYTES = 256 * 1024, BLOCKS = 6 /* are full, at most */ };

bool find_sqlite(void *library, void *(*look_up)(void *, const char *)) {
#define FIND(type, name, arguments) \
    if (!(*(void **)&sqlite.name = look_up(library, "sqlite3_" #name))) return false;
    FUNCTIONS(FIND)
    return sqlite.threadsafe() != 0;
}

/* Events one after the other, each aligned to eight bytes and followed by its texts. */
typedef struct block {
    struct block *next;
    size_t used, room;
    char bytes[];
} block;

typedef struct {
    const char *uri, *query;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    block *first, *last, *unused;
    int full;
    bool stopped, ended, whole;
} events;

static block *new_block(events *own, size_t least) {
    pthread_mutex_lock(&own->lock);
    block *new = own->unused;
    if (new) own->unused = new->next;
    pthread_mutex_unlock(&own->lock);
    if (new && new->room < least) free(new), new = NULL;
    size_t room = least > BLOCK_BYTES ? least : BLOCK_BYTES;
    if (!new && (new = malloc(sizeof *new + room))) new->room = room;
    if (new) new->next = NULL, new->used = 0;
    return new;
}

/* Wait until there is room, and add a block. False: nobody wants more. */
static bool hand_on(events *own, block *full) {
    pthread_mutex_lock(&own->lock);
    while (own->full >= BLOCKS && !own->stopped) pthread_cond_wait(&own->changed, &own->lock);
    if (own->last) own->last->next = full;
    else own->first = full;
    own->last = full, own->full++;
    bool wanted = !own->stopped;
    pthread_cond_broadcast(&own->changed);
    pthread_mutex_unlock(&own->lock);
    return wanted;
}

static bool take_number(sqlite3_value *from, int64_t *to) {
    *to = sqlite.value_int64(from);
    return sqlite.value_type(from) == IS_INTEGER;
}

static bool take_bytes(sqlite3_value *from, int expected, const char **to, uint32_t *size) {
    if (sqlite.value_type(from) != expected) return false;
    *to = expected == IS_BLOB ? sqlite.value_blob(from) : (const char *)sqlite.value_text(from);
    *size = (uint32_t)sqlite.value_bytes(from);
    return *to || (expected == IS_BLOB && !*size);
}

/* Read a row, whose texts stay SQLite's until the next one; whether it has the types that a recorder writes.
 * A column is fetched once: as the connection is one thread's, its values need no protection by SQLite. */
static bool take_row(sqlite3_stmt *row, event *to) {
    sqlite3_value *data = sqlite.column_value(row, DATA), *gaps = sqlite.column_value(row, CHUNK_GAPS);
    *to = (event){0};
    return take_number(sqlite.column_value(row, SEQ), &to->seq) && take_number(sqlite.column_value(row, CODE), &to->code) &&
           take_number(sqlite.column_value(row, AT_NS), &to->at_ns) &&
           take_bytes(sqlite.column_value(row, UUID), IS_TEXT, &to->uuid, &to->uuid_size) &&
           (sqlite.value_type(data) == IS_NULL || take_bytes(data, IS_TEXT, &to->data, &to->data_size)) &&
           (sqlite.value_type(gaps) == IS_NULL || take_bytes(gaps, IS_BLOB, &to->gaps, &to->gaps_size));
}

static size_t size_of(const event *of) {
    return (sizeof *of + of->uuid_size + (size_t)of->data_size + of->gaps_size + 7) & ~(size_t)7;
}

/* Copy a text, which is there from now on. */
static char *put(char *at, const char **text, size_t size) {
    if (size) memcpy(at, *text, size);
    *text = at;
    return at + size;
}

static bool read_rows(events *own, sqlite3_stmt *rows) {
    block *to = NULL;
    event next;
    int state;
    while ((state = sqlite.step(rows)) == ROW && take_row(rows, &next)) {
        size_t size = size_of(&next);
        if (to && to->room - to->used < size) {
            if (!hand_on(own, to)) return false;
            to = NULL;
        }
        if (!to && !(to = new_block(own, size))) return false;
        event *copy = (event *)(to->bytes + to->used);
        char *at = (char *)(copy + 1);
        at = put(at, &next.uuid, next.uuid_size);
        at = put(at, &next.data, next.data_size);
        put(at, &next.gaps, next.gaps_size);
        *copy = next;
        to->used += size;
    }
    return (!to || hand_on(own, to)) && state == DONE;
}

static void *read_log(void *of) {
    events *own = of;
    sqlite3 *log = NULL;
    sqlite3_stmt *rows = NULL;
    bool whole = sqlite.open_v2(own->uri, &log, READ_ONLY | BY_URI | NO_MUTEX, NULL) == OK &&
                 sqlite.prepare_v2(log, own->query, -1, &rows, NULL) == OK && read_rows(own, rows);
    sqlite.finalize(rows), sqlite.close(log);
    pthread_mutex_lock(&own->lock);
    own->ended = true, own->whole = whole;
    pthread_cond_broadcast(&own->changed);
    pthread_mutex_unlock(&own->lock);
    return NULL;
}

static events *open_log(const char *uri, const char *query) {
    events *new = calloc(1, sizeof *new);
    if (!new) return NULL;
    new->uri = uri, new->query = query;
    pthread_mutex_init(&new->lock, NULL), pthread_cond_init(&new->changed, NULL);
    if (!pthread_create(&new->thread, NULL, read_log, new)) return new;
    pthread_mutex_destroy(&new->lock), pthread_cond_destroy(&new->changed);
    free(new);
    return NULL;
}

/* The next events; the last block is given back with it. NULL at the end. */
static block *next_block(events *own, block *last) {
    pthread_mutex_lock(&own->lock);
    if (last) last->next = own->unused, own->unused = last;
    while (!own->first && !own->ended) pthread_cond_wait(&own->changed, &own->lock);
    block *next = own->first;
    if (next) {
        if (!(own->first = next->next)) own->last = NULL;
        own->full--;
        pthread_cond_broadcast(&own->changed);
    }
    pthread_mutex_unlock(&own->lock);
    return next;
}

static void free_blocks(block *first) {
    for (block *next; first; first = next) next = first->next, free(first);
}

static void close_log(events *own) {
    pthread_mutex_lock(&own->lock);
    own->stopped = true;
    pthread_cond_broadcast(&own->changed);
    pthread_mutex_unlock(&own->lock);
    pthread_join(own->thread, NULL);
    free_blocks(own->first), free_blocks(own->unused);
    pthread_mutex_destroy(&own->lock), pthread_cond_destroy(&own->changed);
    free(own);
}

static bool take_block(const block *from, bool (*take)(void *, const event *), void *to) {
    for (const char *at = from->bytes; at < from->bytes + from->used; at += size_of((const event *)at))
        if (!take(to, (const event *)at)) return false;
    return true;
}

bool read_query(const char *uri, const char *query, bool (*take)(void *, const event *), void *to) {
    events *log = open_log(uri, query);
    if (!log) return false;
    bool wanted = true;
    block *last = NULL;
    while (wanted && (last = next_block(log, last))) wanted = take_block(last, take, to);
    free(last);
    bool whole = wanted && log->whole;
    close_log(log);
    return whole;
}
