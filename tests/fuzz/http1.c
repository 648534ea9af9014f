/* Feeds the framing of HTTP/1.1 (loadgen/driver/client/_http1.h) with files and mutations of them.
 *
 *   cc -g -fsanitize=address,undefined -fno-sanitize-recover=all -I. -o http1 tests/fuzz/http1.c
 *   ./http1 ROUNDS SEED FILE...
 *
 * Each input is parsed whole, and again cut at random: the outcome must be the same. The sanitizers see to the rest. */
#include "loadgen/driver/client/_http1.h"

#include <stdio.h>

enum { LONGEST = 8192 };

typedef struct {
    buffer body;
    int pieces;
} sink;

static uint64_t state;

static unsigned draw(unsigned below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return below ? (unsigned)(state % below) : 0;
}

static bool keep(void *context, const unsigned char *bytes, size_t length) {
    sink *to = context;
    to->pieces++;
    return buffer_append(&to->body, bytes, length);
}

static http1_result parse(const unsigned char *input, size_t length, bool cut, buffer *head, sink *body) {
    http1 parser;
    http1_begin(&parser);
    http1_result result = HTTP1_MORE;
    for (size_t at = 0; at < length && result == HTTP1_MORE;) {
        size_t count = cut ? 1 + draw(24) : length, used = 0;
        if (count > length - at) count = length - at;
        /* Their own bytes, so that a read beyond them is seen. */
        unsigned char *copy = malloc(count);
        memcpy(copy, input + at, count);
        result = http1_feed(&parser, head, copy, count, keep, body, &used);
        free(copy);
        if (used > count || head->length > HTTP1_MAX_HEAD + count) abort();
        at += count;
    }
    http1_keeps_alive(&parser);
    return result;
}

static void check(const unsigned char *input, size_t length) {
    buffer heads[2] = {{0}};
    sink bodies[2] = {{{0}, 0}};
    http1_result whole = parse(input, length, false, &heads[0], &bodies[0]);
    http1_result cut = parse(input, length, true, &heads[1], &bodies[1]);
    if (whole != cut || bodies[0].body.length != bodies[1].body.length) abort();
    if (bodies[0].body.length && memcmp(bodies[0].body.bytes, bodies[1].body.bytes, bodies[0].body.length)) abort();
    for (int i = 0; i < 2; i++) free(heads[i].bytes), free(bodies[i].body.bytes);
}

static size_t mutate(unsigned char *input, size_t length) {
    static const char *const words[] = {"\r\n", "\n", "\r", ":", ";", "=", "\"", "0\r\n\r\n", "ffffffffffffffff", "HTTP/1.1 200 OK\r\n",
                                        "Transfer-Encoding: chunked\r\n", "Content-Length: 18446744073709551615\r\n",
                                        "Content-Length: 3\r\n", "Connection: close, x\r\n", "HTTP/1.1 103 X\r\n\r\n", ",", " "};
    for (unsigned edits = draw(5); edits--;) {
        size_t at = draw((unsigned)length + 1), cut = draw(4);
        const char *word = words[draw(sizeof words / sizeof *words)];
        size_t size = draw(4) ? strlen(word) : 1;
        if (cut > length - at) cut = length - at;
        if (length - cut + size > LONGEST) continue;
        memmove(input + at + size, input + at + cut, length - at - cut);
        memcpy(input + at, word, size);
        if (size == 1) input[at] = (unsigned char)draw(256);
        length += size - cut;
    }
    return length;
}

int main(int count, char **arguments) {
    static unsigned char file[LONGEST], input[LONGEST];
    if (count < 4) return 2;
    state = strtoull(arguments[2], NULL, 10) * 2654435761u + 88172645463325252u;
    for (int i = 3; i < count; i++) {
        FILE *opened = fopen(arguments[i], "rb");
        if (!opened) return 2;
        /* The first byte of a corpus file says how it is cut. */
        fgetc(opened);
        size_t length = fread(file, 1, LONGEST, opened);
        fclose(opened);
        for (long round = atol(arguments[1]); round--;) {
            memcpy(input, file, length);
            check(input, round ? mutate(input, length) : length);
        }
    }
    return 0;
}
