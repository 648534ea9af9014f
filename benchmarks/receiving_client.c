/* A client that only receives: what the kernel takes on this core. receiving_client PORT STREAMS REQUESTS
 *
 * It reads with the kernel's stamps, and asks epoll every millisecond, as the compiled I/O loop while streams are slow. */
#include <arpa/inet.h>
#include <linux/net_tstamp.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

static const char body[] = "{\"model\":\"bench\",\"messages\":[{\"role\":\"user\",\"content\":\"one two three four five\"}],\"stream\":true}";

static int connected(int port) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    int stamps = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) exit(1);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof stamps);
    return fd;
}

static ssize_t receive(int fd, void *bytes, size_t size) {
    char control[CMSG_SPACE(3 * sizeof(struct timespec))];
    struct iovec room = {bytes, size};
    struct msghdr message = {.msg_iov = &room, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    return recvmsg(fd, &message, MSG_DONTWAIT);
}

int main(int count, char **arguments) {
    static char read[65536];
    char request[512];
    if (count != 4) return 2;
    int streams = atoi(arguments[2]), epoll = epoll_create1(0);
    long left = atol(arguments[3]), open = 0;
    int size = snprintf(request, sizeof request, "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %zu\r\n\r\n%s",
                        strlen(body), body);
    for (int i = 0; i < streams && left; i++, left--, open++) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = connected(atoi(arguments[1]))};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event) || send(event.data.fd, request, (size_t)size, 0) != size) return 1;
    }
    while (open) {
        struct epoll_event events[256];
        int ready = epoll_wait(epoll, events, 256, 0);
        if (ready < 256) nanosleep(&(struct timespec){0, 1000000}, NULL);
        for (int i = 0; i < ready; i++) {
            ssize_t got = receive(events[i].data.fd, read, sizeof read);
            if (got == 0) return 1;
            if (got < 5 || memcmp(read + got - 5, "0\r\n\r\n", 5)) continue; /* the end comes in one piece */
            if (left-- > 0 ? send(events[i].data.fd, request, (size_t)size, 0) != size : !open--) return 1;
        }
    }
    return 0;
}
