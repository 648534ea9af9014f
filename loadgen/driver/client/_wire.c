/* The I/O loop of HTTP/1.1 connections, in a thread that does not need the interpreter.
 *
 * Python hands over connected sockets and requests; the thread reads, stamps, parses, and hands back what came:
 * the head, the pieces of the body with their stamps, and how the response ended, a batch at a time. All that
 * is decided about them is decided in Python (wire_connection.py), which also documents what a batch holds.
 *
 * One lock guards all connections. Who holds it never waits for the interpreter, and Python objects are made
 * without it. Stamps are those of arrival.py, and late pieces are found as in late_reads.py. */
#define _GNU_SOURCE
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "_body.h"
#include "_chunks.h"
#include "_http1.h"
#include "_plain.h"
#include "_relay.h"
#include "_rows.h"
#include "_tls.h"

enum {
    READ_BYTES = 64 * 1024,
    MOST_READS = 64,          /* of one connection without a break */
    MOST_READY = 256,         /* connections per turn */
    HANDOVERS = 32,           /* that Python takes at once: with each it prepares a request */
    TURNS = 8,                /* of them, after which Python gets the lock if it waits */
    TOGETHER = 128,           /* pieces that are handed over together, unless Python is waiting for them */
    LARGE = 16 * 1024,        /* or as many bytes */
    MOST_PIECES = 512,        /* with so many pieces or bytes not taken, a connection is not read */
    MOST_BYTES = 64 * 1024,
    MOST_SPARE = 64,
    MOST_SPARE_PIECES = 512,
    MUCH = 60,                /* reads per window from which on epoll is asked by time, and down to which */
    LITTLE = 40,
    SLOW = 16,                /* one read in so many, or fewer, is not the first of its connection in a window */
    UPLOAD_BYTES = 64 * 1024, /* memory_bounds.py */
    ONE_SEGMENT = 1200,       /* late_reads.py */
    WINDOW = 4,               /* late_reads.py */
    BUSY_PERCENT = 55,        /* of a core */
    CROWDED_SPANS = 3,
};
#define SECOND 1000000000LL
#define WINDOW_NS 4000000LL
#define REST_NS 250000L
#define LONG_REST_NS 1000000L /* while streams are slow: no two chunks of one come so soon after each other */
#define NAP_NS 500000L
#define LATE_NS 250000LL /* after a rest */
#define OVERDUE_NS 3000000LL /* a read so long after the arrival: another chunk may have come */
#define CROWD_NS 50000000LL
#define SLICE_NS 100000ULL /* the least that Linux accepts */
#define DOUBT_NS 20000LL          /* late_reads.py */
#define RESAMPLE_NS 100000000LL   /* arrival.py */
#define PLAUSIBLE_NS 1000000LL    /* arrival.py */
#define UNSEEN_NS 1000000LL /* after so long without a look at all, an idle connection is looked at before it is used */
#define FAREWELL_LENGTH 12
#define INTERFACE 10 /* compiled.py has the same number: raise both when what Python calls or gets changes */
#define ENDS (EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI) /* after these a short read may not be the last */
#define FLAG(value) ((value) ? Py_True : Py_False)

/* What a batch says of the end of a response: wire_connection.py has the same numbers. */
enum { OPEN, ENDED, CUT, MALFORMED, HEADERS_TOO_LARGE, TRAILERS_TOO_LARGE, UPGRADED, NO_MEMORY, IDLE_READABLE, CONNECTED };

typedef struct batch {
    buffer body;
    piece *pieces;
    size_t count, capacity;
    struct batch *next;
    buffer head;
    bool has_head, framed, reusable, unasked, stale;
    bool plain, announced; /* of a plain request: its end, and whether FIRST_CHUNK is among the rows */
    int end, error;
    int64_t at, first_byte, sent, sent_by, ttft;
    size_t tokens, answer; /* where the answer begins in the head */
} batch;

typedef struct {
    int fd;
    uint32_t number, generation;
    bool connecting, active, urgent, watched, queued, stirred, reusable, unasked;
    bool uploads; /* the request is large: the kernel stamps its last byte */
    bool waits;   /* a part of the request waits in `unsent` */
    size_t request_bytes;
    tls *tls; /* NULL without TLS */
    PyObject *tls_owner;
    http1 parser;
    buffer unsent;
    size_t unsent_from;
    int64_t begun, first_byte, heard, body_at;
    size_t bare; /* bytes since the last piece of the body */
    size_t reads;
    int64_t extra; /* late_reads.py: segments more than reads, that are accounted for */
    int64_t held;
    int64_t behind; /* it was left unread: what it has may have arrived from then on */
    int64_t sure;
    int64_t window; /* in which it was read */
    batch *batch;
    plain *plain; /* NULL before the first plain request */
} connection;

typedef struct {
    PyObject_HEAD
    PyTypeObject *body_type;
    pthread_mutex_t lock;
    pthread_t thread;
    bool running, stopping;
    bool woken; /* Python has been woken, and has not found everything taken since */
    bool naps;  /* the thread lets Python read */
    long rest;  /* much is coming in: epoll is asked by time, after so many ns; 0: epoll wakes the thread */
    bool late;  /* a read was overdue */
    bool first; /* the thread goes before other work: Python, which may be kept waiting, does not read */
    int served, repeated; /* reads since, and those of connections that were read before since then */
    int turns;  /* under way, of the thread and of Python: what one of them was told of, no other one is */
    int epoll, wake, stop;
    connection **connections;
    size_t count, capacity;
    uint32_t *unused;
    size_t unused_count;
    uint64_t *ready; /* connections with something to hand over, a ring */
    size_t ready_from, ready_count, ready_capacity;
    batch *spare;
    size_t spare_count;
    size_t usual_pieces, usual_bytes; /* of a plain response: memory for the next is allocated at once */
    int64_t quiet, offset, sampled, turned, since;
    known_shapes *shapes; /* NULL while nothing is known */
    plain_rows rows, taken; /* the rows of plain requests; and those that Python is taking, without the lock */
    relay relay;
    buffer plaintext, records; /* of the connection that is being served */
    unsigned char read[READ_BYTES];
} wire;

static int64_t now_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static int64_t now_ns(void) { return now_of(CLOCK_MONOTONIC); }

/* Stamps, as in arrival.py... */

static void sample_clocks(wire *w) {
    int64_t tightest = INT64_MAX;
    for (int i = 0; i < 3; i++) {
        int64_t before = now_ns(), wall = now_of(CLOCK_REALTIME), after = now_ns();
        if (after - before < tightest) {
            tightest = after - before;
            w->offset = wall - (before + after) / 2;
            w->sampled = after;
        }
    }
}

static int64_t to_monotonic(wire *w, int64_t wall, int64_t now) {
    int64_t before = w->offset, age = now - wall + before, sample_age = now - w->sampled;
    if (age >= 0 && age < PLAUSIBLE_NS && sample_age <= RESAMPLE_NS) return wall - before;
    if (sample_age >= PLAUSIBLE_NS) sample_clocks(w);
    int64_t one = wall - before, other = wall - w->offset;
    int64_t earlier = one < other ? one : other, later = one < other ? other : one;
    if (later <= now) return later;
    return earlier < now ? earlier : now;
}

static ssize_t receive(wire *w, int fd, int64_t *at, int64_t *now) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(3 * sizeof(struct timespec))];
    } control;
    struct iovec vector = {w->read, READ_BYTES};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t count = recvmsg(fd, &message, MSG_DONTWAIT);
    if (count <= 0) return count;
    *at = *now = now_ns();
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPING) continue;
        struct timespec stamp;
        memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
        if (stamp.tv_sec) *at = to_monotonic(w, stamp.tv_sec * SECOND + stamp.tv_nsec, *now);
    }
    return count;
}

/* Batches... */

static batch *batch_of(wire *w, connection *c) {
    if (!c->batch && w->spare) {
        c->batch = w->spare;
        w->spare = c->batch->next;
        w->spare_count--;
    } else if (!c->batch) {
        c->batch = calloc(1, sizeof(batch));
    }
    return c->batch;
}

static void batch_free(batch *b) {
    free(b->head.bytes);
    free(b->body.bytes);
    free(b->pieces);
    free(b);
}

static void batch_put_back(wire *w, batch *b) {
    if (w->spare_count >= MOST_SPARE || b->body.capacity > 4 * LARGE || b->capacity > MOST_SPARE_PIECES) {
        batch_free(b);
        return;
    }
    buffer head = b->head, body = b->body;
    piece *pieces = b->pieces;
    size_t capacity = b->capacity;
    head.length = body.length = 0;
    memset(b, 0, sizeof *b);
    b->head = head, b->body = body, b->pieces = pieces, b->capacity = capacity;
    b->next = w->spare;
    w->spare = b;
    w->spare_count++;
}

static void wake_python(wire *w) {
    bool learns = w->relay.handover_count && w->relay.count <= w->relay.few;
    if (w->woken || (!w->ready_count && !learns)) return;
    w->woken = true;
    uint64_t one = 1;
    if (write(w->wake, &one, sizeof one) < 0) w->woken = false;
}

static uint64_t identity(const connection *c) { return (uint64_t)c->generation << 32 | c->number; }

static connection *find(wire *w, uint64_t id) {
    uint32_t number = (uint32_t)id;
    connection *c = number < w->count ? w->connections[number] : NULL;
    return c && c->generation == (uint32_t)(id >> 32) ? c : NULL;
}

static void hand_over(wire *w, connection *c) {
    if (c->queued) return;
    if (w->ready_count == w->ready_capacity) {
        size_t capacity = w->ready_capacity * 2 + 64;
        uint64_t *grown = malloc(capacity * sizeof *grown);
        if (!grown) return; /* it is handed over with what comes next, or when Python asks */
        for (size_t i = 0; i < w->ready_count; i++)
            grown[i] = w->ready[(w->ready_from + i) % w->ready_capacity];
        free(w->ready);
        w->ready = grown, w->ready_capacity = capacity, w->ready_from = 0;
    }
    w->ready[(w->ready_from + w->ready_count++) % w->ready_capacity] = identity(c);
    c->queued = true;
}

/* Connections... */

/* epoll reports a change once. */
static struct epoll_event changes_of(const connection *c) {
    return (struct epoll_event){.events = EPOLLIN | EPOLLOUT | ENDS | EPOLLET, .data.u64 = identity(c)};
}

static void watch(wire *w, connection *c, bool wanted) {
    if (c->fd < 0 || c->watched == wanted) return;
    struct epoll_event changes = changes_of(c);
    if (!epoll_ctl(w->epoll, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, c->fd, &changes)) c->watched = wanted;
}

/* Have epoll report once more what is there. */
static void rearm(wire *w, connection *c) {
    struct epoll_event changes = changes_of(c);
    if (c->fd >= 0 && c->watched) epoll_ctl(w->epoll, EPOLL_CTL_MOD, c->fd, &changes);
}

static void drop(wire *w, connection *c) {
    c->reusable = false;
    if (c->fd < 0) return;
    watch(w, c, false);
    close(c->fd);
    c->fd = -1;
}

static bool is_plain(const connection *c) { return c->plain && c->plain->on; }

/* A request ends that Python has not followed: in order, or Python has to see why not. */
static void finish_plain(wire *w, connection *c, batch *b, bool in_order, int64_t at) {
    plain *p = c->plain;
    p->on = false;
    b->answer = b->head.length; /* the head is for Python where the end is */
    if (!in_order || (p->answers && !plain_answer(p, &b->head)) || !plain_end(p, &w->rows, b->body.length, b->pieces, b->count, at)) {
        b->head.length = b->answer;
        return;
    }
    w->usual_pieces = b->count, w->usual_bytes = b->body.length;
    int64_t tokens = p->usage[OUTPUT] > 0 ? p->usage[OUTPUT] : (int64_t)p->tokens;
    b->plain = true;
    b->ttft = p->first_token - p->sent;
    size_t bytes = b->body.length + p->removed;
    b->tokens = (size_t)tokens < bytes ? (size_t)tokens : bytes;
}

static bool go_on(wire *w, connection *c);

static void finish(wire *w, connection *c, int end, int error, int64_t at) {
    batch *b = batch_of(w, c);
    c->active = false;
    if (end == ENDED)
        c->reusable = c->reusable && !c->unsent.length && http1_keeps_alive(&c->parser);
    if (end != ENDED || !c->reusable) drop(w, c);
    if (!b) return;
    if (is_plain(c)) finish_plain(w, c, b, end == ENDED && c->reusable, at);
    b->end = end, b->error = error, b->at = b->plain ? c->plain->ended : at;
    b->first_byte = c->first_byte;
    b->framed = c->parser.state != UNTIL_CLOSE;
    if (!b->plain || !go_on(w, c)) hand_over(w, c);
}

static bool tcp_number(int fd, size_t offset, size_t size, uint64_t *number) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) || length < offset + size) return false;
    *number = 0;
    memcpy(number, (char *)&info + offset, size); /* little-endian, as all that is supported */
    return true;
}

/* A peek would take the error of a reset, and the next read would be an orderly end. */
static bool is_drained(int fd) {
    int waiting;
    return !ioctl(fd, FIONREAD, &waiting) && !waiting;
}

/* The connection is over: the end of the response, or a failure. */
static void lost(wire *w, connection *c, int error) {
    if (!c->active) {
        drop(w, c);
        return;
    }
    batch *b = batch_of(w, c);
    if (c->parser.has_head && c->parser.state == UNTIL_CLOSE && !error) {
        finish(w, c, ENDED, 0, c->heard);
        return;
    }
    if (b) b->stale = !c->first_byte;
    finish(w, c, CUT, error, now_ns());
}

/* How many more segments than reads there have been, as in late_reads.py. */
static int64_t together(connection *c) {
    uint64_t segments;
    if (!tcp_number(c->fd, offsetof(struct tcp_info, tcpi_data_segs_in), 4, &segments)) return 1 << 30;
    int64_t extra = (int64_t)segments - (int64_t)c->reads, more = extra - c->extra;
    if (more <= 0) return 0;
    if (is_drained(c->fd)) c->extra = extra;
    return more;
}

/* Note the pieces of a read that may have arrived before its stamp, as in late_reads.py. */
static void look(wire *w, connection *c, size_t first, int64_t at, bool ends) {
    batch *b = c->batch;
    int64_t held = c->held, many;
    c->held = 0;
    c->sure = c->parser.chunked ? ONE_SEGMENT : 0;
    many = at - (c->behind ? c->behind : w->quiet) > DOUBT_NS ? together(c) : 0;
    if (!many && !held) return;
    int64_t quiet = c->behind ? c->behind : w->quiet, since = held ? held : quiet;
    for (size_t i = first; i < b->count; i++) b->pieces[i].since = since, b->pieces[i].whole = true;
    b->pieces[b->count - 1].whole = ends || many >= WINDOW - 1 || held;
    if (many >= WINDOW - 1) c->held = quiet, c->sure = -1;
}

typedef struct {
    wire *wire;
    batch *batch;
    plain *plain; /* NULL where Python follows */
    int64_t at;
} arrival;

static bool on_piece(void *context, const unsigned char *bytes, size_t length) {
    arrival *a = context;
    batch *b = a->batch;
    if (b->count == b->capacity) {
        size_t capacity = b->capacity ? b->capacity * 2 : a->wire->usual_pieces + 8;
        piece *grown = realloc(b->pieces, capacity * sizeof *grown);
        if (!grown) return false;
        b->pieces = grown, b->capacity = capacity;
    }
    if (!b->body.capacity && (b->body.bytes = malloc(a->wire->usual_bytes + 256))) b->body.capacity = a->wire->usual_bytes + 256;
    piece next = {.at = a->at};
    if (!plain_add(a->plain, &a->wire->rows, &b->body, (span){bytes, length}, &next, b->count)) return false;
    b->pieces[b->count++] = next;
    return true;
}

static bool begins_response(const unsigned char *bytes, size_t length) {
    static const char *const farewells[] = {"HTTP/1.1 408", "HTTP/1.0 408"}; /* unasked.py */
    if (length < 7 || memcmp(bytes, "HTTP/1.", 7)) return false;
    for (size_t i = 0; i < 2; i++)
        if (length >= FAREWELL_LENGTH && !memcmp(bytes, farewells[i], FAREWELL_LENGTH)) return false;
    return true;
}

static bool ends_with_done(const batch *b) {
    size_t start = b->count > 1 ? b->pieces[b->count - 2].end : 0;
    return b->body.length - start >= 12 && !memcmp(b->body.bytes + start, "data: [DONE]", 12);
}

/* Parse a read. */
static void take(wire *w, connection *c, const unsigned char *bytes, size_t length, int64_t at) {
    batch *b = batch_of(w, c);
    if (!b) {
        finish(w, c, NO_MEMORY, 0, at);
        return;
    }
    arrival context = {w, b, is_plain(c) ? c->plain : NULL, at};
    size_t used = 0, first = b->count;
    bool had_head = c->parser.has_head;
    if (!c->first_byte) c->first_byte = at;
    c->reads++;
    http1_result result = http1_feed(&c->parser, &b->head, bytes, length, on_piece, &context, &used);
    if (!had_head && c->parser.has_head) {
        b->has_head = true;
        b->first_byte = c->first_byte;
        c->sure = c->parser.chunked ? ONE_SEGMENT : 0;
        c->held = 0;
        c->body_at = at;
    }
    size_t count = b->count - first;
    bool complete = result == HTTP1_COMPLETE;
    if (count) {
        c->bare = 0;
        c->body_at = at;
        if (!complete ? count > 1 || (int64_t)length > c->sure : count > 1 || c->held || !ends_with_done(b))
            look(w, c, first, at, complete);
    } else {
        c->bare += length;
    }
    c->heard = c->parser.has_head ? c->body_at : at;
    if (is_plain(c))
        c->plain->on = (complete || result == HTTP1_MORE) &&
                       (had_head == c->parser.has_head || (c->first_byte >= c->begun && plain_head(c->plain, b->head.bytes, b->head.length, c->first_byte))) &&
                       plain_pieces(c->plain, &w->rows, &b->body, b->pieces, b->count, c->parser.state == IN_CHUNK);
    if (complete) {
        while (used < length && (bytes[used] == '\r' || bytes[used] == '\n')) used++;
        if (used < length) {
            c->reusable = false;
            b->unasked = c->unasked = begins_response(bytes + used, length - used);
        }
        finish(w, c, ENDED, 0, at);
    } else if (result != HTTP1_MORE) {
        static const int ends[] = {[HTTP1_MALFORMED] = MALFORMED, [HTTP1_TOO_LARGE] = HEADERS_TOO_LARGE,
                                   [HTTP1_UPGRADE] = UPGRADED, [HTTP1_NO_MEMORY] = NO_MEMORY};
        finish(w, c, ends[result], result == HTTP1_MALFORMED ? (int)c->parser.state : 0, now_ns());
    } else if (c->bare > HTTP1_MAX_HEAD) {
        finish(w, c, c->parser.has_head ? TRAILERS_TOO_LARGE : HEADERS_TOO_LARGE, 0, now_ns());
    } else if (!is_plain(c) && (c->urgent ? b->has_head || b->count : b->count >= TOGETHER || b->body.length >= LARGE)) {
        hand_over(w, c);
    }
}

/* Send what TLS itself has to say, after what waits; an error shows at the next read. */
static void send_reply(wire *w, connection *c) {
    buffer *records = &w->records;
    records->length = 0;
    if (!tls_reply(c->tls, records) || !records->length) return;
    ssize_t count = c->unsent.length ? 0 : send(c->fd, records->bytes, records->length, MSG_DONTWAIT | MSG_NOSIGNAL);
    size_t sent = count > 0 ? (size_t)count : 0;
    if (sent < records->length && buffer_append(&c->unsent, records->bytes + sent, records->length - sent)) rearm(w, c);
}

static int decrypt(wire *w, connection *c, size_t length) {
    w->plaintext.length = 0;
    int end = tls_decrypt(c->tls, w->read, length, &w->plaintext);
    send_reply(w, c);
    if (!w->plaintext.length) c->reads++;
    return end;
}

/* Parse a read, which is encrypted. */
static void take_records(wire *w, connection *c, size_t length, int64_t at) {
    int end = decrypt(w, c, length);
    if (w->plaintext.length) take(w, c, w->plaintext.bytes, w->plaintext.length, at);
    if (end == TLS_NO_MEMORY && c->active)
        finish(w, c, NO_MEMORY, 0, at);
    else if (end)
        lost(w, c, end == TLS_CLOSED ? 0 : -end);
}

static bool is_full(const connection *c) {
    return c->batch && (c->batch->count >= MOST_PIECES || c->batch->body.length >= MOST_BYTES);
}

/* Read a connection until it has nothing, and to its end where `ends`; return how many reads there were, *left where
 * it has more. */
static int read_connection(wire *w, connection *c, int most, bool ends, bool *left) {
    for (int reads = 0; reads < most; reads++) {
        if (c->fd < 0) return reads;
        if (!c->active) {
            /* What comes now is for Python to look at, in its own time. */
            watch(w, c, false);
            c->stirred = true;
            hand_over(w, c);
            return reads;
        }
        if (is_full(c)) {
            if (is_plain(c)) {
                c->plain->on = false; /* Python takes long answers part by part */
                hand_over(w, c);
            }
            watch(w, c, false);
            if (!c->behind) c->behind = w->quiet;
            *left = true;
            return reads;
        }
        int64_t at = 0, now;
        ssize_t count = receive(w, c->fd, &at, &now);
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return reads;
        if (count <= 0) {
            lost(w, c, count < 0 ? errno : 0);
            return reads;
        }
        /* The thread reads it without the lock. */
        if (!c->behind && now - at > OVERDUE_NS) __atomic_store_n(&w->late, true, __ATOMIC_RELAXED);
        if (c->tls)
            take_records(w, c, (size_t)count, at);
        else
            take(w, c, w->read, (size_t)count, at);
        if (count < READ_BYTES) {
            c->behind = 0;
            if (!ends) return reads + 1;
        }
    }
    *left = true;
    rearm(w, c);
    return most;
}

/* Send; the last byte of a large request by itself, and have the kernel stamp when it leaves and is acknowledged. */
static ssize_t send_some(const connection *c, const char *bytes, size_t length, int64_t *at) {
    size_t before = c->uploads ? length - 1 : length;
    ssize_t count = before ? send(c->fd, bytes, before, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
    if (count < 0 || (size_t)count < before || !c->uploads) return count;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(uint32_t))];
    } control = {0};
    struct iovec vector = {(char *)bytes + before, 1};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *asked = CMSG_FIRSTHDR(&message);
    *asked = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(uint32_t)), .cmsg_level = SOL_SOCKET, .cmsg_type = SO_TIMESTAMPING};
    *at = now_ns();
    uint32_t flags = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_TX_ACK;
    memcpy(CMSG_DATA(asked), &flags, sizeof flags);
    ssize_t last = sendmsg(c->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return last > 0 ? count + last : before ? count : last;
}

/* Send what is left of a request. */
static void send_rest(wire *w, connection *c) {
    int64_t at = now_ns();
    size_t length = c->unsent.length - c->unsent_from;
    ssize_t count = send_some(c, (char *)c->unsent.bytes + c->unsent_from, length, &at);
    if (count < 0) {
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) lost(w, c, errno);
        return;
    }
    c->unsent_from += (size_t)count;
    if ((size_t)count < length) return;
    free(c->unsent.bytes);
    c->unsent = (buffer){0};
    c->unsent_from = 0;
    batch *b = c->waits ? batch_of(w, c) : NULL;
    c->waits = false;
    if (b && c->active && !c->parser.has_head) {
        b->sent = at, b->sent_by = now_ns();
        hand_over(w, c);
    }
}

/* The handshake of a socket is over. */
static void connected(wire *w, connection *c) {
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &length)) error = errno;
    batch *b = batch_of(w, c);
    if (!b) return; /* Python gives up on it in its time */
    c->connecting = false;
    b->end = CONNECTED, b->error = error, b->at = now_ns();
    hand_over(w, c);
}

/* Serve who has changed; under the lock. */
static void serve(wire *w, const struct epoll_event *event, bool *left) {
    connection *c = find(w, event->data.u64);
    if (!c || !c->watched) return;
    if (c->connecting) {
        connected(w, c);
        if (event->events & (EPOLLIN | ENDS)) rearm(w, c);
        return;
    }
    if (event->events & EPOLLOUT && c->unsent.length) send_rest(w, c);
    w->repeated += c->window == w->since;
    c->window = w->since;
    if (event->events & (EPOLLIN | ENDS)) read_connection(w, c, MOST_READS, event->events & ENDS, left);
}

/* One turn: read everybody who is ready. Returns how many were; *all: whether nobody is left. */
static int turn(wire *w, bool *all) {
    struct epoll_event events[MOST_READY];
    int64_t asked = now_ns();
    bool left = false;
    __atomic_add_fetch(&w->turns, 1, __ATOMIC_SEQ_CST);
    int count = epoll_wait(w->epoll, events, MOST_READY, 0), served = 0;
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < count; i++) {
        if (events[i].data.u64 == UINT64_MAX) {
            uint64_t kicks;
            if (!__atomic_load_n(&w->stopping, __ATOMIC_ACQUIRE) && read(w->stop, &kicks, sizeof kicks) < 0) continue;
            continue;
        }
        if (++served % TURNS == 0) {
            pthread_mutex_unlock(&w->lock);
            pthread_mutex_lock(&w->lock);
        }
        serve(w, &events[i], &left);
    }
    *all = count < MOST_READY && !left;
    int others = __atomic_sub_fetch(&w->turns, 1, __ATOMIC_SEQ_CST);
    if (*all && !others && asked > w->quiet) w->quiet = asked;
    __atomic_store_n(&w->turned, asked, __ATOMIC_RELAXED); /* Python reads it without the lock */
    w->served += served;
    if (asked - w->since >= WINDOW_NS) {
        /* A window that is long over was a quiet one. */
        bool much = asked - w->since < 2 * WINDOW_NS && w->served >= (w->rest ? LITTLE : MUCH);
        long rest = !much ? 0 : w->repeated * SLOW > w->served ? REST_NS : LONG_REST_NS;
        __atomic_store_n(&w->rest, rest, __ATOMIC_RELAXED); /* the thread reads it without the lock */
        w->served = w->repeated = 0;
        w->since = asked;
    }
    wake_python(w);
    pthread_mutex_unlock(&w->lock);
    return served;
}

/* Whether Python is at work: then it reads between what it does, without a switch between threads. */
static bool naps(wire *w) {
    pthread_mutex_lock(&w->lock);
    bool naps = w->naps = w->woken && !w->rest && !w->first && now_ns() - w->turned < NAP_NS;
    pthread_mutex_unlock(&w->lock);
    return naps;
}

/* Ask for short slices of CPU time: on a busy core the thread then gets its share sooner, and no more of it (Linux
 * 6.12 and later; earlier kernels ignore it). */
static void be_prompt(void) {
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {0};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0)) return;
    attributes.size = sizeof attributes;
    attributes.runtime = SLICE_NS;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/* A span of time, the CPU time of this process at its start, and in how many spans in a row others had the CPU. */
typedef struct {
    int64_t start, cpu;
    int crowded;
} span_of_work;

static int64_t process_cpu_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * SECOND + used.tv_nsec;
}

/* Whether reads were late in several spans and the process was not busy: other processes have the CPU. A process that is
 * busy itself reads late too, and would only lose to its own reads. */
static bool is_crowded(wire *w, span_of_work *last) {
    int64_t now = now_ns(), passed = now - last->start;
    if (passed < CROWD_NS) return false;
    int64_t cpu = process_cpu_ns(), used = cpu - last->cpu;
    bool late = __atomic_exchange_n(&w->late, false, __ATOMIC_RELAXED), busy = used >= passed / 100 * BUSY_PERCENT;
    *last = (span_of_work){now, cpu, busy ? 0 : last->crowded + late};
    return last->crowded == CROWDED_SPANS;
}

/* Go before all other work of this core, where Linux allows it (CAP_SYS_NICE, or `ulimit -r`): from then on every turn
 * is followed by a rest, which leaves time to Python. */
static bool go_first(void) {
    struct sched_param least = {.sched_priority = 1};
    return !pthread_setschedparam(pthread_self(), SCHED_FIFO | SCHED_RESET_ON_FORK, &least);
}

/* Read instead of the thread, if it waits for the CPU that Python has: what is read late is read together. */
static void read_if_due(wire *w) {
    bool all;
    long rest = __atomic_load_n(&w->rest, __ATOMIC_RELAXED);
    if (!rest || __atomic_load_n(&w->first, __ATOMIC_RELAXED)) return;
    if (now_ns() - __atomic_load_n(&w->turned, __ATOMIC_RELAXED) > rest + LATE_NS) turn(w, &all);
}

static void *run(void *argument) {
    wire *w = argument;
    bool asked = false;
    span_of_work last = {now_ns(), process_cpu_ns(), 0};
    be_prompt();
    prctl(PR_SET_NAME, "loadgen-io");
    while (!__atomic_load_n(&w->stopping, __ATOMIC_ACQUIRE)) {
        if (naps(w)) {
            struct pollfd kick = {w->stop, POLLIN, 0};
            struct timespec nap = {0, NAP_NS};
            ppoll(&kick, 1, &nap, NULL);
            pthread_mutex_lock(&w->lock);
            w->naps = false;
            pthread_mutex_unlock(&w->lock);
            if (naps(w)) continue;
        }
        bool all;
        int count = turn(w, &all);
        if (!asked && is_crowded(w, &last)) {
            asked = true;
            __atomic_store_n(&w->first, go_first(), __ATOMIC_RELAXED); /* Python reads it without the lock */
        }
        long rest = __atomic_load_n(&w->rest, __ATOMIC_RELAXED);
        if (rest) {
            struct timespec span = {0, rest};
            if (all || w->first) clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
        } else if (!count && !__atomic_load_n(&w->stopping, __ATOMIC_ACQUIRE)) {
            /* The turn may have taken the kick of who stops it, together with another one. */
            struct pollfd ready = {w->epoll, POLLIN, 0};
            poll(&ready, 1, -1);
        }
    }
    return NULL;
}

/* What Python calls... */

static PyObject *bytes_of(const unsigned char *bytes, size_t length) {
    return PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)length);
}

/* A batch as Python takes it; see wire_connection.py. */
static PyObject *object_of(const wire *w, uint64_t id, const batch *b) {
    if (b->plain)
        return Py_BuildValue("KLnLy#", (unsigned long long)id, (long long)b->ttft, (Py_ssize_t)b->tokens, (long long)b->at,
                             b->head.length > b->answer ? b->head.bytes + b->answer : NULL, (Py_ssize_t)(b->head.length - b->answer));
    PyObject *head = b->has_head ? bytes_of(b->head.bytes, b->head.length) : Py_NewRef(Py_None);
    PyObject *body = b->count ? body_of(w->body_type, b->body.bytes, b->pieces, b->count) : Py_NewRef(Py_None);
    if (!head || !body) {
        Py_XDECREF(head);
        Py_XDECREF(body);
        return NULL;
    }
    return Py_BuildValue("KLLNLNiLiOOOOO", (unsigned long long)id, (long long)b->sent, (long long)b->sent_by, head,
                         (long long)b->first_byte, body, b->end, (long long)b->at, b->error, FLAG(b->framed),
                         FLAG(b->reusable), FLAG(b->unasked), FLAG(b->stale), FLAG(b->announced));
}

/* Detach what a connection has to hand over; under the lock. NULL where that is nothing. */
static batch *detach(wire *w, connection *c) {
    batch *b = c->batch;
    if (c->plain) c->plain->on = false;
    if (c->stirred && !c->active && (!b || !b->end)) {
        c->stirred = false;
        if ((b = batch_of(w, c))) b->end = IDLE_READABLE;
    }
    if (!b) return NULL;
    bool partial = !c->parser.has_head && b->head.length; /* a head that is not complete stays here */
    if (!b->has_head && !b->count && !b->end && !b->sent) return NULL;
    batch *left = NULL;
    if (c->plain && !b->plain && !plain_restore(c->plain, &b->body, b->pieces, b->count)) {
        b->count = 0;
        finish(w, c, NO_MEMORY, 0, now_ns());
    }
    c->batch = NULL;
    if (partial && !b->end && (left = batch_of(w, c)) && !buffer_append(&left->head, b->head.bytes, b->head.length))
        finish(w, c, NO_MEMORY, 0, now_ns());
    b->reusable = c->reusable;
    b->unasked = c->unasked;
    b->announced = c->plain && c->plain->announced;
    if (c->active) watch(w, c, true);
    if (c->stirred) hand_over(w, c); /* after the end of the response that it followed */
    return b;
}

static void lock_slowly(wire *w) {
    if (!pthread_mutex_trylock(&w->lock)) return;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&w->lock);
    Py_END_ALLOW_THREADS;
}

static PyObject *give(wire *w, uint64_t id, batch *b) {
    PyObject *object = object_of(w, id, b);
    lock_slowly(w);
    batch_put_back(w, b);
    pthread_mutex_unlock(&w->lock);
    return object;
}

/* Take the next batch from the queue; under the lock. */
static batch *next_batch(wire *w, uint64_t *id) {
    while (w->ready_count) {
        *id = w->ready[w->ready_from];
        w->ready_from = (w->ready_from + 1) % w->ready_capacity;
        w->ready_count--;
        connection *c = find(w, *id);
        if (!c) continue;
        c->queued = false;
        batch *b = detach(w, c);
        if (b) return b;
    }
    return NULL;
}

/* Everything is taken: from now on the thread wakes Python; under the lock. */
static void all_taken(wire *w) {
    uint64_t count = 1;
    if (w->woken && read(w->wake, &count, sizeof count) > 0) w->woken = false;
    count = 1;
    if (w->naps && write(w->stop, &count, sizeof count) > 0) w->naps = false;
}

static PyObject *wire_collect(wire *w, PyObject *argument) {
    long most = PyLong_AsLong(argument);
    if (most == -1 && PyErr_Occurred()) return NULL;
    PyObject *list = PyList_New(0);
    bool looked = false;
    Py_BEGIN_ALLOW_THREADS;
    if (most) read_if_due(w);
    Py_END_ALLOW_THREADS;
    for (long taken = 0; list && (taken < most || !most);) {
        uint64_t id = 0;
        lock_slowly(w);
        relay left = relay_detach(&w->relay, most ? HANDOVERS : SIZE_MAX); /* before what came after them */
        bool only = !most || w->relay.handover_count;
        batch *b = only ? NULL : next_batch(w, &id);
        bool look = !only && !b && !taken && !looked && !w->rest && !w->first && w->running;
        if (!only && !b && !look && (!taken || w->rest)) all_taken(w);
        pthread_mutex_unlock(&w->lock);
        if (!relay_append(&left, list)) Py_CLEAR(list);
        relay_free(&left);
        if (look) {
            Py_BEGIN_ALLOW_THREADS;
            turn(w, &looked);
            Py_END_ALLOW_THREADS;
            looked = true;
            continue;
        }
        if (!b) break;
        PyObject *object = give(w, id, b);
        if (!object || !list || PyList_Append(list, object)) Py_CLEAR(list);
        Py_XDECREF(object);
        taken++;
    }
    return list;
}

/* Whether plain requests are followed by prepared ones until a moment, and with how few of them Python learns it. */
static PyObject *wire_relay(wire *w, PyObject *arguments) {
    long long until;
    Py_ssize_t few;
    if (!PyArg_ParseTuple(arguments, "Ln", &until, &few)) return NULL;
    lock_slowly(w);
    w->relay.until = until, w->relay.few = (size_t)few;
    pthread_mutex_unlock(&w->lock);
    Py_RETURN_NONE;
}

static PyObject *wire_prepare(wire *w, PyObject *arguments) {
    prepared *next = prepared_of_python(arguments);
    if (!next) return NULL;
    bool fits = next->request.size < UPLOAD_BYTES && next->id.size <= MOST_ID;
    if (fits) {
        lock_slowly(w);
        relay_add(&w->relay, next);
        pthread_mutex_unlock(&w->lock);
    } else {
        free(next);
    }
    return PyBool_FromLong(fits);
}

static PyObject *wire_withdraw(wire *w, PyObject *Py_UNUSED(none)) {
    lock_slowly(w);
    prepared *next = relay_next(&w->relay);
    pthread_mutex_unlock(&w->lock);
    if (!next) Py_RETURN_NONE;
    PyObject *ticket = PyLong_FromUnsignedLongLong(next->ticket);
    free(next);
    return ticket;
}

static connection *find_or_raise(wire *w, PyObject *number, uint64_t *id) {
    *id = PyLong_AsUnsignedLongLong(number);
    if (*id == (uint64_t)-1 && PyErr_Occurred()) return NULL;
    lock_slowly(w);
    connection *c = find(w, *id);
    if (!c) {
        pthread_mutex_unlock(&w->lock);
        PyErr_SetString(PyExc_KeyError, "no such connection");
    }
    return c;
}

/* The ticket of a connection's request, when the relay issued it and when it was sent; zeros for a request of Python's. */
static PyObject *wire_relayed(wire *w, PyObject *number) {
    uint64_t id;
    connection *c = find_or_raise(w, number, &id);
    if (!c) return NULL;
    bool relayed = c->plain && c->plain->ticket;
    uint64_t ticket = relayed ? c->plain->ticket : 0;
    int64_t issued = relayed ? c->plain->issued : 0, sent = relayed ? c->plain->sent : 0;
    pthread_mutex_unlock(&w->lock);
    return Py_BuildValue("KLL", (unsigned long long)ticket, (long long)issued, (long long)sent);
}

static bool grow(wire *w) {
    size_t capacity = w->capacity * 2 + 64;
    connection **connections = realloc(w->connections, capacity * sizeof *connections);
    if (connections) w->connections = connections;
    uint32_t *unused = realloc(w->unused, capacity * sizeof *unused);
    if (unused) w->unused = unused;
    if (!connections || !unused) return false;
    w->capacity = capacity;
    return true;
}

static connection *new_connection(wire *w) {
    if (w->unused_count) return w->connections[w->unused[--w->unused_count]];
    if (w->count == w->capacity && !grow(w)) return NULL;
    connection *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->number = (uint32_t)w->count;
    c->generation = 1;
    return w->connections[w->count++] = c;
}

/* The segments of the handshake are not those of reads here, as in late_reads.py. */
static void begin_tls(connection *c, PyObject *owner) {
    uint64_t segments;
    c->tls = tls_of(owner);
    c->tls_owner = owner;
    bool known = tcp_number(c->fd, offsetof(struct tcp_info, tcpi_data_segs_in), 4, &segments) && is_drained(c->fd);
    c->extra = known ? (int64_t)segments : -1;
}

static PyObject *take_over(wire *w, int fd, bool connecting, PyObject *tls_owner) {
    lock_slowly(w);
    connection *c = new_connection(w);
    bool added = false;
    uint64_t id = 0;
    if (c) {
        uint32_t number = c->number, generation = c->generation;
        memset(c, 0, sizeof *c);
        c->number = number, c->generation = generation;
        c->fd = fd;
        c->connecting = connecting;
        if (tls_owner) begin_tls(c, tls_owner);
        c->reusable = true;
        id = identity(c);
        watch(w, c, true);
        added = c->watched;
        if (!added) {
            c->fd = -1;
            c->tls_owner = NULL;
            c->generation++;
            w->unused[w->unused_count++] = number;
        }
    }
    pthread_mutex_unlock(&w->lock);
    if (!added) return c ? PyErr_SetFromErrno(PyExc_OSError) : PyErr_NoMemory();
    Py_XINCREF(tls_owner);
    return PyLong_FromUnsignedLongLong(id);
}

static PyObject *wire_add(wire *w, PyObject *arguments) {
    int fd;
    PyObject *tls_owner = NULL;
    if (!PyArg_ParseTuple(arguments, "i|O", &fd, &tls_owner)) return NULL;
    if (tls_owner == Py_None) tls_owner = NULL;
    if (tls_owner && !tls_of(tls_owner)) return PyErr_Format(PyExc_TypeError, "not an object of TLS");
    return take_over(w, fd, false, tls_owner);
}

static PyObject *wire_connect(wire *w, PyObject *argument) {
    long fd = PyLong_AsLong(argument);
    if (fd == -1 && PyErr_Occurred()) return NULL;
    return take_over(w, (int)fd, true, NULL);
}

static bool begin(wire *w, connection *c, const char *bytes, size_t length, int64_t *at) {
    if (c->batch) {
        batch_put_back(w, c->batch);
        c->batch = NULL;
    }
    if (c->plain) c->plain->removed = 0; /* of an earlier response */
    c->stirred = c->unasked = false;
    c->active = c->urgent = true;
    http1_begin(&c->parser);
    c->first_byte = c->heard = c->body_at = 0;
    c->bare = 0;
    c->held = c->sure = c->behind = 0;
    watch(w, c, true);
    c->uploads = length >= UPLOAD_BYTES;
    if (c->tls && c->fd >= 0) {
        *at = c->begun = now_ns();
        w->records.length = 0;
        if (!tls_encrypt(c->tls, bytes, length, &w->records)) {
            lost(w, c, EPROTO); /* or the keys are being changed; nothing has left, so another connection can carry it */
            return false;
        }
        bytes = (char *)w->records.bytes, length = w->records.length;
    }
    c->request_bytes = length;
    *at = c->begun = now_ns();
    ssize_t count = c->fd < 0 ? (errno = ENOTCONN, -1) : c->unsent.length ? 0 : send_some(c, bytes, length, at);
    if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        lost(w, c, errno);
        return false;
    }
    if (count < 0) count = 0;
    if ((size_t)count == length) return true;
    if (!buffer_append(&c->unsent, bytes + count, length - (size_t)count)) {
        finish(w, c, NO_MEMORY, 0, now_ns());
        return false;
    }
    c->waits = true;
    rearm(w, c);
    return false;
}

static PyObject *wire_request(wire *w, PyObject *arguments) {
    unsigned long long id;
    const char *bytes;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(arguments, "Ky#", &id, &bytes, &length)) return NULL;
    bool sent = false;
    int64_t at = 0, by = 0;
    connection *c;
    Py_BEGIN_ALLOW_THREADS;
    read_if_due(w);
    pthread_mutex_lock(&w->lock);
    c = find(w, id);
    if (c) sent = begin(w, c, bytes, (size_t)length, &at);
    by = now_ns();
    pthread_mutex_unlock(&w->lock);
    Py_END_ALLOW_THREADS;
    if (!c) return PyErr_Format(PyExc_KeyError, "no such connection");
    return Py_BuildValue("LLN", (long long)at, (long long)by, PyBool_FromLong(sent));
}

/* Whether an idle connection can carry a plain request; under the lock. */
static bool is_ready(wire *w, connection *c, size_t length, size_t id_size) {
    char byte;
    if (!c || !w->shapes || c->fd < 0 || c->active || c->stirred || c->batch || length >= UPLOAD_BYTES || id_size > MOST_ID) return false;
    if (!c->plain && !(c->plain = calloc(1, sizeof *c->plain))) return false;
    return (c->watched && now_ns() - w->quiet < UNSEEN_NS) || (recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN);
}

/* Send the next prepared request on a connection whose plain request has ended; tell whether it has one. */
static bool go_on(wire *w, connection *c) {
    relay *r = &w->relay;
    plain *p = c->plain;
    prepared *next = r->first;
    batch *ended = c->batch;
    uint64_t ticket = p->ticket;
    int64_t now, at = 0;
    if (!next || !p->relays || (now = now_ns()) >= r->until || !relay_has_room(r)) return false;
    c->batch = NULL;
    bool ready = is_ready(w, c, next->request.size, next->id.size);
    if (ready) {
        plain_begin(p, w->shapes);
        p->relays = true;
    }
    if (!ready || !relay_issues(next, &w->rows, p, now)) {
        p->on = false;
        p->ticket = ticket;
        c->batch = ended;
        return false;
    }
    handover *left = r->handovers + r->handover_count++;
    *left = (handover){ticket, next->ticket, ended->ttft, ended->tokens};
    batch_put_back(w, ended);
    relay_next(r);
    bool sent = begin(w, c, (const char *)next->request.bytes, next->request.size, &at);
    p->on = sent && rows_sent(&w->rows, p, at, now_ns(), next->members);
    p->sent = sent ? at : 0;
    free(next);
    return true;
}

/* The row of an issue (schema.py). */
typedef struct {
    int code; /* 0: there is no row, and only the id is needed */
    int64_t at;
    span id, data, texts;
} issue;

static bool read_issue(PyObject *row, issue *to) {
    PyObject *gaps;
    long long at;
    const char *id, *data, *texts;
    Py_ssize_t id_size, data_size, texts_size;
    if (!PyArg_ParseTuple(row, "iLs#z#z#O", &to->code, &at, &id, &id_size, &data, &data_size, &texts, &texts_size, &gaps)) return false;
    to->at = at;
    to->id = (span){(unsigned char *)id, (size_t)id_size};
    to->data = (span){(unsigned char *)data, (size_t)data_size};
    to->texts = (span){(unsigned char *)texts, (size_t)texts_size};
    return true;
}

static bool add_issue(wire *w, const issue *of) { return !of->code || rows_add(&w->rows, of->id, of->code, of->at, of->data, of->texts); }

static PyObject *wire_issued(wire *w, PyObject *row) {
    issue of;
    if (!read_issue(row, &of)) return NULL;
    lock_slowly(w);
    bool added = add_issue(w, &of);
    pthread_mutex_unlock(&w->lock);
    if (!added) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* Send a plain request, and add the row of its issue; return when it was sent, 0 if not at once, or None if the connection is not to be used. */
static PyObject *wire_plain(wire *w, PyObject *arguments) {
    unsigned long long number;
    issue of;
    PyObject *row;
    const char *bytes, *members;
    Py_ssize_t length;
    int answers, relays;
    if (!PyArg_ParseTuple(arguments, "Ky#sppO!", &number, &bytes, &length, &members, &answers, &relays, &PyTuple_Type, &row) || !read_issue(row, &of))
        return NULL;
    bool ready, sent = false, added = true;
    int64_t at = 0;
    Py_BEGIN_ALLOW_THREADS;
    read_if_due(w);
    pthread_mutex_lock(&w->lock);
    connection *c = find(w, number);
    if ((ready = is_ready(w, c, (size_t)length, of.id.size))) {
        plain *p = c->plain;
        plain_begin(p, w->shapes);
        p->answers = answers, p->relays = relays;
        memcpy(p->id, of.id.bytes, p->id_size = of.id.size);
        added = add_issue(w, &of);
        sent = begin(w, c, bytes, (size_t)length, &at);
        p->sent = at;
        p->on = sent && (added &= rows_sent(&w->rows, p, at, now_ns(), members));
    }
    pthread_mutex_unlock(&w->lock);
    Py_END_ALLOW_THREADS;
    if (!added) return PyErr_NoMemory();
    if (!ready) Py_RETURN_NONE;
    return PyLong_FromLongLong(sent ? at : 0);
}

static PyObject *wire_teach(wire *w, PyObject *source) {
    known_shapes *shapes = shapes_of_python(source);
    if (!shapes) return NULL;
    lock_slowly(w);
    shapes->older = w->shapes;
    if (w->shapes) w->shapes->newer = shapes;
    w->shapes = shapes;
    pthread_mutex_unlock(&w->lock);
    Py_RETURN_NONE;
}

static PyObject *wire_rows(wire *w, PyObject *kind) {
    long code = PyLong_AsLong(kind);
    if (code == -1 && PyErr_Occurred()) return NULL;
    if (!w->taken.count) {
        lock_slowly(w);
        buffer emptied = w->taken.bytes;
        w->taken = w->rows;
        w->rows.bytes = emptied, w->rows.count = 0;
        pthread_mutex_unlock(&w->lock);
    }
    if (!w->taken.count) Py_RETURN_NONE;
    PyObject *message = rows_message(&w->taken, (int)code);
    if (message) w->taken.bytes.length = w->taken.count = 0;
    return message;
}

static PyObject *wire_take(wire *w, PyObject *arguments) {
    PyObject *number;
    int reads;
    uint64_t id;
    if (!PyArg_ParseTuple(arguments, "Oi", &number, &reads)) return NULL;
    connection *c = find_or_raise(w, number, &id);
    if (!c) return NULL;
    if (c->plain) c->plain->relays = false;
    bool left;
    if (reads && c->active) read_connection(w, c, reads, false, &left);
    batch *b = detach(w, c);
    pthread_mutex_unlock(&w->lock);
    if (!b) Py_RETURN_NONE;
    return give(w, id, b);
}

/* How long a large request was, when it began, its last byte left and was acknowledged, and the round-trip time; 0 for unknown. */
static PyObject *wire_upload(wire *w, PyObject *number) {
    uint64_t id, round_us = 0;
    connection *c = find_or_raise(w, number, &id);
    if (!c) return NULL;
    int64_t left = 0, acknowledged = 0;
    for (;;) {
        union {
            struct cmsghdr align;
            char bytes[256];
        } control;
        struct msghdr message = {.msg_control = &control, .msg_controllen = sizeof control};
        if (c->fd < 0 || recvmsg(c->fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) break;
        int64_t at = 0;
        uint32_t kind = SCM_TSTAMP_SCHED;
        for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
            struct timespec stamp;
            struct sock_extended_err about;
            if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SO_TIMESTAMPING) {
                memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
                at = stamp.tv_sec * SECOND + stamp.tv_nsec - w->offset;
            } else if (part->cmsg_len >= CMSG_LEN(sizeof about)) {
                memcpy(&about, CMSG_DATA(part), sizeof about);
                if (about.ee_origin == SO_EE_ORIGIN_TIMESTAMPING) kind = about.ee_info;
            }
        }
        if (at < c->begun) continue; /* of an earlier request */
        if (kind == SCM_TSTAMP_SND) left = at;
        if (kind == SCM_TSTAMP_ACK) acknowledged = at;
    }
    if (c->fd >= 0) tcp_number(c->fd, offsetof(struct tcp_info, tcpi_min_rtt), sizeof(uint32_t), &round_us);
    int64_t begun = c->begun;
    size_t length = c->request_bytes;
    pthread_mutex_unlock(&w->lock);
    return Py_BuildValue("nLLLK", (Py_ssize_t)length, (long long)begun, (long long)left, (long long)acknowledged, (unsigned long long)round_us * 1000);
}

static PyObject *wire_calm(wire *w, PyObject *number) {
    uint64_t id;
    connection *c = find_or_raise(w, number, &id);
    if (!c) return NULL;
    c->urgent = false;
    pthread_mutex_unlock(&w->lock);
    Py_RETURN_NONE;
}

static PyObject *wire_heard(wire *w, PyObject *number) {
    uint64_t id;
    connection *c = find_or_raise(w, number, &id);
    if (!c) return NULL;
    int64_t heard = c->heard;
    pthread_mutex_unlock(&w->lock);
    return PyLong_FromLongLong(heard);
}

/* Whether an idle connection has nothing to read, but for what TLS keeps to itself. */
static bool is_quiet(wire *w, connection *c) {
    for (;;) {
        ssize_t count = recv(c->fd, w->read, READ_BYTES, MSG_DONTWAIT);
        if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        const unsigned char *bytes = w->read;
        if (count > 0 && c->tls) {
            int end = decrypt(w, c, (size_t)count);
            bytes = w->plaintext.bytes, count = (ssize_t)w->plaintext.length;
            if (!count && !end) continue;
        }
        if (count > 0) c->unasked = begins_response(bytes, (size_t)count);
        return false;
    }
}

/* Look at an idle connection: 0 where all is quiet, else 1 where it is over, 2 where a response came on it. */
static PyObject *wire_idle(wire *w, PyObject *number) {
    uint64_t id;
    connection *c = find_or_raise(w, number, &id);
    if (!c) return NULL;
    bool quiet = false;
    if (c->fd >= 0 && !c->active) {
        quiet = is_quiet(w, c);
        if (!quiet)
            drop(w, c);
        else
            watch(w, c, true);
    }
    int state = quiet ? 0 : c->unasked ? 2 : 1;
    pthread_mutex_unlock(&w->lock);
    return PyLong_FromLong(state);
}

static PyObject *wire_forget(wire *w, PyObject *number) {
    uint64_t id;
    connection *c = find_or_raise(w, number, &id);
    if (!c) return NULL;
    drop(w, c);
    if (c->batch) batch_put_back(w, c->batch);
    free(c->unsent.bytes);
    plain_free(c->plain);
    PyObject *tls_owner = c->tls_owner;
    c->tls = NULL;
    c->tls_owner = NULL;
    c->batch = NULL;
    c->plain = NULL;
    c->unsent = (buffer){0};
    c->generation = c->generation == UINT32_MAX - 1 ? 1 : c->generation + 1;
    w->unused[w->unused_count++] = c->number;
    pthread_mutex_unlock(&w->lock);
    Py_XDECREF(tls_owner);
    Py_RETURN_NONE;
}

static PyObject *wire_catch_up(wire *w, PyObject *Py_UNUSED(none)) {
    int64_t asked;
    Py_BEGIN_ALLOW_THREADS;
    bool all = false;
    for (int turns = 0; turns < 8 && !all; turns++) turn(w, &all);
    pthread_mutex_lock(&w->lock);
    asked = w->quiet;
    pthread_mutex_unlock(&w->lock);
    Py_END_ALLOW_THREADS;
    return PyLong_FromLongLong(asked);
}

static PyObject *wire_fileno(wire *w, PyObject *Py_UNUSED(none)) { return PyLong_FromLong(w->wake); }

static void stop_thread(wire *w) {
    if (!w->running) return;
    w->running = false;
    __atomic_store_n(&w->stopping, true, __ATOMIC_RELEASE);
    uint64_t one = 1;
    if (write(w->stop, &one, sizeof one) < 0) return;
    pthread_join(w->thread, NULL);
    w->first = false;
}

static void close_files(wire *w) {
    int *files[] = {&w->epoll, &w->wake, &w->stop};
    for (size_t i = 0; i < w->count; i++) drop(w, w->connections[i]);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (*files[i] >= 0) close(*files[i]);
        *files[i] = -1;
    }
}

static PyObject *wire_stop(wire *w, PyObject *Py_UNUSED(none)) {
    Py_BEGIN_ALLOW_THREADS;
    stop_thread(w);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

/* Not at the object's end alone: a traceback can keep the object. */
static PyObject *wire_close(wire *w, PyObject *Py_UNUSED(none)) {
    Py_BEGIN_ALLOW_THREADS;
    stop_thread(w);
    close_files(w);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static void wire_dealloc(wire *w) {
    stop_thread(w);
    close_files(w);
    for (size_t i = 0; i < w->count; i++) {
        connection *c = w->connections[i];
        if (c->batch) batch_free(c->batch);
        free(c->unsent.bytes);
        plain_free(c->plain);
        Py_XDECREF(c->tls_owner);
        free(c);
    }
    while (w->shapes) {
        known_shapes *shapes = w->shapes;
        w->shapes = shapes->older;
        shapes_free(shapes);
    }
    relay_free(&w->relay);
    free(w->rows.bytes.bytes);
    free(w->taken.bytes.bytes);
    free(w->rows.scratch.bytes);
    free(w->plaintext.bytes);
    free(w->records.bytes);
    while (w->spare) {
        batch *b = w->spare;
        w->spare = b->next;
        batch_free(b);
    }
    free(w->connections);
    free(w->unused);
    free(w->ready);
    pthread_mutex_destroy(&w->lock);
    Py_XDECREF((PyObject *)w->body_type);
    PyTypeObject *type = Py_TYPE((PyObject *)w);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(w);
    Py_DECREF(type);
}

/* Who holds the lock runs as early as a thread that waits for it, where Linux can do that. */
static void init_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t inherits;
    pthread_mutexattr_init(&inherits);
    pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
    if (pthread_mutex_init(lock, &inherits)) pthread_mutex_init(lock, NULL);
    pthread_mutexattr_destroy(&inherits);
}

static PyObject *wire_new(PyTypeObject *type, PyObject *Py_UNUSED(arguments), PyObject *Py_UNUSED(keywords)) {
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    wire *w = (wire *)allocate(type, 0);
    if (!w) return NULL;
    PyTypeObject *const *body_type = PyType_GetModuleState(type);
    w->body_type = (PyTypeObject *)Py_NewRef((PyObject *)*body_type);
    init_lock(&w->lock);
    w->epoll = epoll_create1(EPOLL_CLOEXEC);
    w->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    w->stop = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    sample_clocks(w);
    w->quiet = now_ns();
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = UINT64_MAX};
    sigset_t all, before;
    if (w->epoll < 0 || w->wake < 0 || w->stop < 0 || epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->stop, &event)) {
        PyErr_SetFromErrno(PyExc_OSError);
        Py_DECREF(w);
        return NULL;
    }
    /* Signals are for the main thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&w->thread, NULL, run, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        errno = error;
        PyErr_SetFromErrno(PyExc_OSError);
        Py_DECREF(w);
        return NULL;
    }
    w->running = true;
    return (PyObject *)w;
}

static PyMethodDef wire_methods[] = {
    {"add", (PyCFunction)wire_add, METH_VARARGS, "Take over a connected socket by its descriptor, and its TLS; return its number."},
    {"connect", (PyCFunction)wire_connect, METH_O, "Take over a socket that is being connected; return its number."},
    {"request", (PyCFunction)wire_request, METH_VARARGS, "Send a request; return (at_ns, by_ns, whether all of it left)."},
    {"issued", (PyCFunction)wire_issued, METH_O, "Add the row of an issue to those of plain requests."},
    {"plain", (PyCFunction)wire_plain, METH_VARARGS, "Send a plain request; return when, 0 if not at once; None if the connection cannot."},
    {"teach", (PyCFunction)wire_teach, METH_O, "Take over what is known of responses: (starts, tags, headers)."},
    {"rows", (PyCFunction)wire_rows, METH_O, "Return the rows of plain requests as a message of a kind, and how many; or None."},
    {"collect", (PyCFunction)wire_collect, METH_O, "Return what came, at most so many batches, and what has left where plain requests ended."},
    {"relay", (PyCFunction)wire_relay, METH_VARARGS, "Have prepared requests leave where plain ones end, until a moment; with how few left Python learns of it."},
    {"prepare", (PyCFunction)wire_prepare, METH_VARARGS, "Prepare a request; return whether it can leave where a plain one ends."},
    {"relayed", (PyCFunction)wire_relayed, METH_O, "The ticket of the request that a connection carries, when it was issued and when sent; zeros for one of Python's."},
    {"withdraw", (PyCFunction)wire_withdraw, METH_NOARGS, "Take the first prepared request back; return its ticket, or None."},
    {"take", (PyCFunction)wire_take, METH_VARARGS, "Return what came on one connection, after so many reads; or None."},
    {"calm", (PyCFunction)wire_calm, METH_O, "Hand over the rest of a response in larger batches."},
    {"upload", (PyCFunction)wire_upload, METH_O, "Return how long a large request was, when it began, its last byte left and was acknowledged, and the round-trip time."},
    {"heard", (PyCFunction)wire_heard, METH_O, "When the last bytes of the response arrived, ns; 0 before the first."},
    {"idle", (PyCFunction)wire_idle, METH_O, "Look at an idle connection: 0 quiet, 1 over, 2 over after a response."},
    {"forget", (PyCFunction)wire_forget, METH_O, "Close a connection and forget it."},
    {"catch_up", (PyCFunction)wire_catch_up, METH_NOARGS, "Read what has arrived; return before which moment that was."},
    {"fileno", (PyCFunction)wire_fileno, METH_NOARGS, "What is readable while there is something to collect."},
    {"stop", (PyCFunction)wire_stop, METH_NOARGS, "End the thread: calls read instead."},
    {"close", (PyCFunction)wire_close, METH_NOARGS, "End the thread, and close all connections."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot wire_slots[] = {
    {Py_tp_doc, "An I/O loop in a separate thread."},
    {Py_tp_new, wire_new},
    {Py_tp_dealloc, wire_dealloc},
    {Py_tp_methods, wire_methods},
    {0, NULL},
};

static PyType_Spec wire_spec = {
    .name = "loadgen.driver.client._wire.Wire",
    .basicsize = sizeof(wire),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = wire_slots,
};

/* The state of the module is the type of bodies. */
static int execute(PyObject *module) {
    PyTypeObject **body_type = PyModule_GetState(module);
    *body_type = (PyTypeObject *)PyType_FromSpec(&body_spec);
    PyObject *type = *body_type ? PyType_FromModuleAndSpec(module, &wire_spec, NULL) : NULL;
    int failed = !type || PyModule_AddIntConstant(module, "INTERFACE", INTERFACE) || PyModule_AddObjectRef(module, "Wire", type) || PyModule_AddObjectRef(module, "Body", (PyObject *)*body_type);
    Py_XDECREF(type);
    return failed ? -1 : 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
    PyTypeObject **body_type = PyModule_GetState(module);
    Py_VISIT(*body_type);
    return 0;
}

static int clear(PyObject *module) {
    PyTypeObject **body_type = PyModule_GetState(module);
    Py_CLEAR(*body_type);
    return 0;
}

static void release(void *module) { clear(module); }

static PyMethodDef module_methods[] = {
    {"alike", chunks_alike, METH_VARARGS, "Return how many frames have both ends, and what is between them as JSON; or None."},
    {"known", chunks_known, METH_VARARGS, "Return what the first frames mean whose shapes are known."},
    {"gaps_us", chunks_gaps_us, METH_VARARGS, "Return the gaps between moments, as in the log."},
    {"coalesced", chunks_coalesced, METH_O, "Return how many moments occur more than once."},
    {"takes_tls", tls_takes, METH_VARARGS, "Return whether the TLS of such an object of a module can be taken over."},
    {"tls_reason", tls_reason, METH_O, "Return what a code of OpenSSL means."},
    {"rows", rows_of_events, METH_VARARGS, "Return events as rows of the log; each event is replaced by None."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, execute}, {0, NULL}};
static struct PyModuleDef module_definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_wire",
    .m_doc = "The I/O loop of HTTP/1.1 connections, without the interpreter; and what is done for every chunk.",
    .m_size = sizeof(PyTypeObject *),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__wire(void) { return PyModuleDef_Init(&module_definition); }
