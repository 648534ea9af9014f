/* A client that only receives: what the kernel takes for a request on this core. receiving_client PORT STREAMS REQUESTS */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static const char body[] = "{\"model\":\"bench\",\"messages\":[{\"role\":\"user\",\"content\":\"one two three four five\"}],\"stream\":true}";

static int connected(int port) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) exit(1);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
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
        int ready = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            ssize_t got = recv(events[i].data.fd, read, sizeof read, MSG_DONTWAIT);
            if (got == 0) return 1;
            if (got < 5 || memcmp(read + got - 5, "0\r\n\r\n", 5)) continue; /* the end comes in one piece */
            if (left-- > 0 ? send(events[i].data.fd, request, (size_t)size, 0) != size : !open--) return 1;
        }
    }
    return 0;
}
