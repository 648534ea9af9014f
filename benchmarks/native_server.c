/* A native endpoint that knows the truth: OpenAI chat chunks over SSE, at a constant pace (Linux).
 *
 *     native_server TRUTH TTFT_US GAP_US TOKENS
 *
 * One thread, one epoll. It prints its port, and serves until SIGTERM or the end of its parent. At SIGTERM it
 * writes TRUTH, a line for each finished request: its X-Request-Id ("-" without one), when its last segment
 * arrived (the kernel's stamp, in ns of CLOCK_MONOTONIC), and for each token how many ns later its chunk was
 * handed to the kernel.
 *
 * The pace is constant, so due times are in order: first tokens in the order of their requests, later tokens in
 * the order of the tokens before them. Two queues replace a heap.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { ID_SIZE = 64, READ_SIZE = 16384, EVENTS = 256, SENDS_PER_TURN = 64, CHUNK_SIZE = 256, CLOSE_NS = 5000 };

typedef struct {
    char id[ID_SIZE];
    int64_t received_ns;
    uint32_t sent_ns[]; /* one for each token, after received_ns: 4.29 s at most, or the maximum */
} Record;

typedef struct Client {
    struct Client *next; /* in the queue that it waits in */
    int64_t due_ns, last_read_ns;
    Record *record; /* of the request that is being answered; NULL between two */
    char *in, *out;
    size_t in_size, in_room, out_start, out_end, out_room;
    int socket, sent;
    unsigned number; /* of the request, in the ids of its chunks */
    bool closed;
} Client;

typedef struct {
    Client *head, *tail;
} Queue;

static int64_t ttft_ns, gap_ns;
static int tokens, poller, timer;
static Queue first_tokens, next_tokens;
static Record **records;
static size_t record_count, record_room;
static unsigned request_count;
static volatile sig_atomic_t stopped;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void *resized(void *memory, size_t size) {
    if (!(memory = realloc(memory, size))) fail("realloc");
    return memory;
}

static int64_t ns_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* What CLOCK_REALTIME is ahead of CLOCK_MONOTONIC, from readings that nothing came between. */
static int64_t realtime_ahead_ns(void) {
    for (;;) {
        int64_t before_ns = ns_of(CLOCK_MONOTONIC), realtime_ns = ns_of(CLOCK_REALTIME);
        if (ns_of(CLOCK_MONOTONIC) - before_ns < CLOSE_NS) return realtime_ns - before_ns;
    }
}

static void enqueue(Queue *queue, Client *client, int64_t due_ns) {
    client->due_ns = due_ns;
    client->next = NULL;
    *(queue->head ? &queue->tail->next : &queue->head) = client;
    queue->tail = client;
}

/* The queue whose head is due first; NULL where no token waits. */
static Queue *earliest(void) {
    if (!first_tokens.head) return next_tokens.head ? &next_tokens : NULL;
    if (!next_tokens.head) return &first_tokens;
    return first_tokens.head->due_ns < next_tokens.head->due_ns ? &first_tokens : &next_tokens;
}

static Client *dequeue(Queue *queue) {
    Client *client = queue->head;
    queue->head = client->next;
    return client;
}

/* Writing. */

static void watch(const Client *client, int change, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = (void *)client};
    if (epoll_ctl(poller, change, client->socket, &event)) fail("epoll_ctl");
}

static void append(Client *client, const char *data, size_t size) {
    if (client->out_end + size > client->out_room) {
        client->out_room = 2 * (client->out_end + size);
        client->out = resized(client->out, client->out_room);
    }
    memcpy(client->out + client->out_end, data, size);
    client->out_end += size;
}

/* One server-sent event, as one HTTP chunk. */
static void append_event(Client *client, const char *data, int size) {
    char line[16];
    append(client, line, sprintf(line, "%x\r\n", size));
    append(client, data, size);
    append(client, "\r\n", 2);
}

#define CHUNK "data: {\"id\":\"chatcmpl-%08x\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"bench\","

static void append_token(Client *client) {
    char data[CHUNK_SIZE];
    append_event(client, data, sprintf(data,
        CHUNK "\"choices\":[{\"index\":0,\"delta\":{%s\"content\":\" token%d\"},\"finish_reason\":null}]}\n\n",
        client->number, client->sent ? "" : "\"role\":\"assistant\",", client->sent));
}

static void append_end(Client *client) {
    char data[CHUNK_SIZE];
    append_event(client, data, sprintf(data,
        CHUNK "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", client->number));
    append_event(client, data, sprintf(data,
        CHUNK "\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\n",
        client->number, tokens, tokens + 5));
    append_event(client, "data: [DONE]\n\n", 14);
    append(client, "0\r\n\r\n", 5);
}

static void flush(Client *client) {
    while (client->out_start < client->out_end) {
        ssize_t size = send(client->socket, client->out + client->out_start,
                            client->out_end - client->out_start, MSG_NOSIGNAL);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) return watch(client, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
        if (size < 0) client->out_start = client->out_end; /* the client is gone: its end will be read */
        else client->out_start += size;
    }
    client->out_start = client->out_end = 0;
}

static void keep(Record *record) {
    if (record_count == record_room) {
        record_room = record_room ? 2 * record_room : 4096;
        records = resized(records, record_room * sizeof *records);
    }
    records[record_count++] = record;
}

static void release(Client *client) {
    free(client->record);
    free(client->in);
    free(client->out);
    free(client);
}

static void answer_next(Client *client);

/* Send the token that is due, and where the pace has no gap all that follow, in one write. */
static void send_token(Client *client) {
    int64_t now_ns = ns_of(CLOCK_MONOTONIC);
    Record *record = client->record;
    int64_t after_ns = now_ns - record->received_ns;
    if (!client->sent) {
        static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                                   "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";
        append(client, head, sizeof head - 1);
    }
    do {
        append_token(client);
        record->sent_ns[client->sent++] = after_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)after_ns;
    } while (!gap_ns && client->sent < tokens);
    if (client->sent < tokens) {
        enqueue(&next_tokens, client, client->due_ns + gap_ns);
        return flush(client);
    }
    append_end(client);
    flush(client);
    keep(record);
    client->record = NULL;
    answer_next(client);
}

/* Reading. */

/* The value of a header; its size is 0 where the head lacks it. */
static const char *header(const char *head, const char *end, const char *name, size_t *size) {
    size_t name_size = strlen(name);
    for (const char *line = head; line < end;) {
        const char *line_end = memmem(line, end - line, "\r\n", 2);
        if (!line_end) line_end = end;
        if ((size_t)(line_end - line) > name_size && !strncasecmp(line, name, name_size)) {
            const char *value = line + name_size;
            while (value < line_end && *value == ' ') value++;
            *size = line_end - value;
            return value;
        }
        line = line_end + 2;
    }
    *size = 0;
    return head;
}

static void begin(Client *client, const char *id, size_t id_size) {
    Record *record = resized(NULL, sizeof *record + tokens * sizeof *record->sent_ns);
    if (!id_size || id_size >= ID_SIZE) id = "-", id_size = 1;
    memcpy(record->id, id, id_size);
    record->id[id_size] = 0;
    record->received_ns = client->last_read_ns;
    client->record = record;
    client->sent = 0;
    client->number = request_count++;
    enqueue(&first_tokens, client, client->last_read_ns + ttft_ns);
}

/* Take the next whole request, unless one is being answered. */
static void answer_next(Client *client) {
    while (!client->record && client->in_size) {
        char *end = memmem(client->in, client->in_size, "\r\n\r\n", 4);
        if (!end) return;
        size_t size, id_size;
        const char *length = header(client->in, end, "content-length:", &size);
        size_t whole = end + 4 - client->in + (size ? strtoul(length, NULL, 10) : 0);
        if (client->in_size < whole) return;
        if (!strncmp(client->in, "POST ", 5)) {
            const char *id = header(client->in, end, "x-request-id:", &id_size);
            begin(client, id, id_size);
        } else {
            static const char models[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 58\r\n\r\n"
                                         "{\"object\":\"list\",\"data\":[{\"id\":\"bench\",\"object\":\"model\"}]}";
            append(client, models, sizeof models - 1);
            flush(client);
        }
        memmove(client->in, client->in + whole, client->in_size -= whole);
    }
}

/* Read once, with the kernel's stamp of the last segment; its clock is CLOCK_REALTIME. */
static ssize_t receive(Client *client) {
    if (client->in_room - client->in_size < READ_SIZE) {
        client->in_room = client->in_size + 2 * READ_SIZE;
        client->in = resized(client->in, client->in_room);
    }
    char control[CMSG_SPACE(sizeof(struct timespec))];
    struct iovec room = {client->in + client->in_size, client->in_room - client->in_size};
    struct msghdr message = {.msg_iov = &room, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t size = recvmsg(client->socket, &message, 0);
    if (size <= 0) return size;
    client->in_size += size;
    client->last_read_ns = ns_of(CLOCK_MONOTONIC);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_TIMESTAMPNS) {
        struct timespec stamp;
        memcpy(&stamp, CMSG_DATA(header), sizeof stamp);
        int64_t arrived_ns = stamp.tv_sec * INT64_C(1000000000) + stamp.tv_nsec - realtime_ahead_ns();
        if (arrived_ns < client->last_read_ns) client->last_read_ns = arrived_ns;
    }
    return size;
}

static void on_event(Client *client, uint32_t events) {
    if (events & EPOLLOUT) {
        watch(client, EPOLL_CTL_MOD, EPOLLIN);
        flush(client);
    }
    if (!(events & ~(uint32_t)EPOLLOUT)) return;
    ssize_t size = receive(client);
    if (size > 0) return answer_next(client);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    close(client->socket);
    client->closed = true; /* one that waits in a queue is released when it is due */
    if (!client->record) release(client);
}

static void accept_all(int listener) {
    const int on = 1;
    for (int accepted; (accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
        setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(accepted, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
        Client *client = resized(NULL, sizeof *client);
        *client = (Client){.socket = accepted};
        watch(client, EPOLL_CTL_ADD, EPOLLIN);
    }
}

/* Send what is due, but look at the sockets in between; wake again for what is due next. */
static void send_due(void) {
    Queue *queue;
    for (int sends = 0; (queue = earliest()) && queue->head->due_ns <= ns_of(CLOCK_MONOTONIC); sends++) {
        if (sends == SENDS_PER_TURN) break;
        Client *client = dequeue(queue);
        if (client->closed) release(client);
        else send_token(client);
    }
    if (!queue) return;
    int64_t due_ns = queue->head->due_ns;
    struct itimerspec wake = {.it_value = {due_ns / 1000000000, due_ns % 1000000000}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &wake, NULL);
}

/* SIGTERM is taken only while the server waits, so that none is missed before a wait. */
static void serve(int listener) {
    sigset_t while_waiting;
    sigemptyset(&while_waiting);
    struct epoll_event events[EVENTS], listens = {.events = EPOLLIN, .data.ptr = &listener},
                                       wakes = {.events = EPOLLIN, .data.ptr = &timer};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, listener, &listens)) fail("epoll_ctl");
    if (epoll_ctl(poller, EPOLL_CTL_ADD, timer, &wakes)) fail("epoll_ctl");
    while (!stopped) {
        int count = epoll_pwait(poller, events, EVENTS, -1, &while_waiting);
        for (int i = 0; i < count; i++) {
            uint64_t expirations;
            if (events[i].data.ptr == &listener) accept_all(listener);
            else if (events[i].data.ptr != &timer) on_event(events[i].data.ptr, events[i].events);
            else if (read(timer, &expirations, sizeof expirations) < 0 && errno != EAGAIN) fail("read");
        }
        send_due();
    }
}

static void write_truth(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) fail(path);
    for (size_t i = 0; i < record_count; i++) {
        fprintf(file, "%s %lld", records[i]->id, (long long)records[i]->received_ns);
        for (int token = 0; token < tokens; token++) fprintf(file, " %u", records[i]->sent_ns[token]);
        fputc('\n', file);
    }
    if (fclose(file)) fail(path);
}

static void stop(int signal_number) {
    (void)signal_number;
    stopped = 1;
}

int main(int argc, char **argv) {
    if (argc != 5) return fputs("usage: native_server TRUTH TTFT_US GAP_US TOKENS\n", stderr), 2;
    ttft_ns = atoll(argv[2]) * 1000, gap_ns = atoll(argv[3]) * 1000, tokens = atoi(argv[4]);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = stop}, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    poller = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096)) fail("listen");
    if (getsockname(listener, (struct sockaddr *)&address, &size)) fail("getsockname");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    serve(listener);
    write_truth(argv[1]);
    return 0;
}
