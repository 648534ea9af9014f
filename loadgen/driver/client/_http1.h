/* The framing of HTTP/1.1 responses (RFC 9112): bytes in, a head and pieces of a body out. No I/O, no Python.
 *
 * A response may be cut into reads at any byte. Nothing is kept but the head; a piece of the body is passed on
 * as it comes: at most one per chunk and read. */
#ifndef LOADGEN_HTTP1_H
#define LOADGEN_HTTP1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HTTP1_MAX_HEAD = 64 * 1024 }; /* bounds.py: MAX_HEAD_BYTES */

typedef enum {
    HTTP1_MORE,      /* the response continues */
    HTTP1_COMPLETE,  /* the response is complete */
    HTTP1_MALFORMED, /* this is not HTTP/1.1 */
    HTTP1_TOO_LARGE, /* more than HTTP1_MAX_HEAD bytes before the body */
    HTTP1_UPGRADE,   /* the server switches to another protocol */
    HTTP1_NO_MEMORY,
} http1_result;

typedef enum {
    IN_HEAD,
    IN_LENGTH,
    UNTIL_CLOSE,
    IN_SIZE,
    IN_EXTENSION,
    AFTER_SIZE,
    IN_CHUNK,
    AFTER_CHUNK,
    AFTER_CHUNK_CR,
    AT_TRAILER,
    IN_TRAILER_NAME,
    IN_TRAILER,
    AFTER_TRAILER_CR,
    AFTER_TRAILERS_CR,
    AT_END,
    BARE_LINE_END, /* of the head */
    TWO_LENGTHS,   /* of the body */
} http1_state;

typedef struct {
    unsigned char *bytes;
    size_t length, capacity;
} buffer;

typedef struct {
    http1_state state;
    uint64_t left;     /* of the body, or of the chunk */
    size_t line;       /* where the current line of the head begins */
    size_t head_bytes; /* so far, informational responses included */
    int status;        /* 0 before the status line */
    int digits;        /* of the size of a chunk */
    enum { BEFORE_NAME, NAME, BEFORE_VALUE, VALUE, QUOTED, AFTER_QUOTES } extension; /* of a chunk */
    bool has_head;     /* the head of the final response is complete */
    bool chunked, coded, sized, close, keep, is_1_0;
} http1;

/* Take a piece of the body; return false without memory. */
typedef bool (*http1_piece)(void *context, const unsigned char *bytes, size_t length);

static inline bool buffer_append(buffer *to, const void *bytes, size_t length) {
    if (length > to->capacity - to->length) {
        size_t capacity = (to->length + length) * 2 + 512;
        unsigned char *grown = realloc(to->bytes, capacity);
        if (!grown) return false;
        to->bytes = grown;
        to->capacity = capacity;
    }
    if (length) memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
    return true;
}

static inline void http1_begin(http1 *parser) { memset(parser, 0, sizeof *parser); }

static inline bool http1_keeps_alive(const http1 *parser) {
    return parser->state == AT_END && (parser->is_1_0 ? parser->keep : !parser->close);
}

static inline bool http1_is_token(unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static inline bool http1_is_text(unsigned char c) { return c == '\t' || (c >= ' ' && c != 127); }

static inline bool http1_is(const unsigned char *bytes, size_t length, const char *word) {
    return strlen(word) == length && !strncasecmp((const char *)bytes, word, length);
}

static inline bool http1_status_line(http1 *parser, const unsigned char *line, size_t length) {
    if (length < 12 || (memcmp(line, "HTTP/1.1 ", 9) && memcmp(line, "HTTP/1.0 ", 9))) return false;
    for (size_t i = 9; i < 12; i++) {
        if (line[i] < '0' || line[i] > '9') return false;
        parser->status = parser->status * 10 + (line[i] - '0');
    }
    for (size_t i = 12; i < length; i++)
        if (!http1_is_text(line[i])) return false;
    parser->is_1_0 = line[7] == '0';
    return parser->status >= 100 && (length == 12 || line[12] == ' ');
}

static inline bool http1_length(http1 *parser, const unsigned char *value, size_t length) {
    if (!length || parser->sized) return false;
    parser->sized = true;
    for (size_t i = 0; i < length; i++) {
        if (value[i] < '0' || value[i] > '9' || parser->left > (UINT64_MAX - 9) / 10) return false;
        parser->left = parser->left * 10 + (value[i] - '0');
    }
    return true;
}

/* Go through the words of a list; return false for a coding after `chunked`, which is the last. */
static inline bool http1_words(http1 *parser, const unsigned char *value, size_t length, bool is_coding) {
    for (size_t start = 0; start <= length;) {
        const unsigned char *comma = start < length ? memchr(value + start, ',', length - start) : NULL;
        size_t end = comma ? (size_t)(comma - value) : length, first = start, last = end;
        while (first < last && (value[first] == ' ' || value[first] == '\t')) first++;
        while (last > first && (value[last - 1] == ' ' || value[last - 1] == '\t')) last--;
        if (is_coding) {
            bool chunked = http1_is(value + first, last - first, "chunked");
            if (parser->chunked && !chunked) return false;
            parser->chunked = chunked;
        } else {
            parser->close |= http1_is(value + first, last - first, "close");
            parser->keep |= http1_is(value + first, last - first, "keep-alive");
        }
        start = end + 1;
    }
    return true;
}

static inline bool http1_field(http1 *parser, const unsigned char *line, size_t length) {
    size_t name = 0;
    while (name < length && http1_is_token(line[name])) name++;
    if (!name || name == length || line[name] != ':') return false;
    size_t first = name + 1, last = length;
    for (size_t i = first; i < last; i++)
        if (!http1_is_text(line[i])) return false;
    while (first < last && (line[first] == ' ' || line[first] == '\t')) first++;
    while (last > first && (line[last - 1] == ' ' || line[last - 1] == '\t')) last--;
    const unsigned char *value = line + first;
    if (http1_is(line, name, "content-length")) return http1_length(parser, value, last - first);
    if (http1_is(line, name, "transfer-encoding")) {
        if (first == last) return false;
        parser->coded = true;
        return http1_words(parser, value, last - first, true);
    } else if (http1_is(line, name, "connection")) {
        return http1_words(parser, value, last - first, false);
    }
    return true;
}

/* The blank line after a head: what follows? */
static inline http1_result http1_end_of_head(http1 *parser, buffer *head) {
    if (parser->status == 101) return HTTP1_UPGRADE;
    if (parser->status < 200) {
        /* It says that nothing follows, so that there is no final response. */
        if (parser->is_1_0 ? !parser->keep : parser->close) return HTTP1_MALFORMED;
        size_t head_bytes = parser->head_bytes;
        http1_begin(parser);
        parser->head_bytes = head_bytes;
        head->length = 0;
        return HTTP1_MORE;
    }
    if (parser->coded && parser->sized) {
        /* The chunks count, and nothing that follows can be trusted (RFC 9112, 6.3). */
        if (!parser->chunked) {
            parser->state = TWO_LENGTHS;
            return HTTP1_MALFORMED;
        }
        parser->left = 0;
        parser->close = true;
        parser->keep = false;
    }
    parser->has_head = true;
    if (parser->status == 204 || parser->status == 304)
        parser->state = AT_END;
    else if (parser->coded)
        parser->state = parser->chunked ? IN_SIZE : UNTIL_CLOSE;
    else if (parser->sized)
        parser->state = parser->left ? IN_LENGTH : AT_END;
    else
        parser->state = UNTIL_CLOSE;
    return parser->state == AT_END ? HTTP1_COMPLETE : HTTP1_MORE;
}

/* Take bytes of a head, to its end at most; *used says how many. */
static inline http1_result http1_head(http1 *parser, buffer *head, const unsigned char *bytes, size_t length,
                                      size_t *used) {
    size_t at = 0;
    while (at < length) {
        if (!head->length && (bytes[at] == '\r' || bytes[at] == '\n')) {
            /* Empty lines before a response mean nothing. */
            at++;
            if (++parser->head_bytes > HTTP1_MAX_HEAD) return HTTP1_TOO_LARGE;
            continue;
        }
        const unsigned char *newline = memchr(bytes + at, '\n', length - at);
        size_t count = newline ? (size_t)(newline - bytes) - at + 1 : length - at;
        if (!buffer_append(head, bytes + at, count)) return HTTP1_NO_MEMORY;
        at += count;
        parser->head_bytes += count;
        *used = at;
        const unsigned char *line = head->bytes + parser->line;
        size_t size = head->length - parser->line;
        if (!parser->status && memcmp(line, "HTTP/1.", size < 7 ? size : 7)) return HTTP1_MALFORMED;
        if (parser->head_bytes > HTTP1_MAX_HEAD) return HTTP1_TOO_LARGE;
        if (!newline) return HTTP1_MORE;
        if (size < 2 || line[size - 2] != '\r') {
            parser->state = BARE_LINE_END;
            return HTTP1_MALFORMED;
        }
        parser->line = head->length;
        if (size == 2) return http1_end_of_head(parser, head);
        bool right = parser->status ? http1_field(parser, line, size - 2) : http1_status_line(parser, line, size - 2);
        if (!right) return HTTP1_MALFORMED;
    }
    *used = at;
    return HTTP1_MORE;
}

static inline int http1_hex(unsigned char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One byte of the extensions of a chunk, which mean nothing here. */
static inline http1_result http1_extension(http1 *parser, unsigned char c) {
    if (parser->extension == QUOTED) {
        if (c == '"') parser->extension = AFTER_QUOTES;
        return http1_is_text(c) ? HTTP1_MORE : HTTP1_MALFORMED;
    }
    if (c == '\r' || c == ';') {
        if (parser->extension == BEFORE_NAME) return HTTP1_MALFORMED;
        if (c == '\r') parser->state = AFTER_SIZE;
        parser->extension = BEFORE_NAME;
    } else if (c == '=' && parser->extension == NAME) {
        parser->extension = BEFORE_VALUE;
    } else if (c == '"' && parser->extension == BEFORE_VALUE) {
        parser->extension = QUOTED;
    } else {
        if (!http1_is_token(c) || parser->extension == AFTER_QUOTES) return HTTP1_MALFORMED;
        if (parser->extension == BEFORE_NAME) parser->extension = NAME;
        if (parser->extension == BEFORE_VALUE) parser->extension = VALUE;
    }
    return HTTP1_MORE;
}

/* One byte of what is around the chunks. */
static inline http1_result http1_around(http1 *parser, unsigned char c) {
    http1_state state = parser->state;
    switch (parser->state) {
    case IN_SIZE: {
        int digit = http1_hex(c);
        if (digit >= 0) {
            if (++parser->digits > 15) return HTTP1_MALFORMED;
            parser->left = parser->left * 16 + (unsigned)digit;
            return HTTP1_MORE;
        }
        if (!parser->digits || (c != '\r' && c != ';')) return HTTP1_MALFORMED;
        parser->state = c == '\r' ? AFTER_SIZE : IN_EXTENSION;
        parser->extension = BEFORE_NAME;
        return HTTP1_MORE;
    }
    case IN_EXTENSION:
        return http1_extension(parser, c);
    case AFTER_SIZE:
        parser->state = parser->left ? IN_CHUNK : AT_TRAILER;
        break;
    case AFTER_CHUNK:
        parser->state = AFTER_CHUNK_CR;
        return c == '\r' ? HTTP1_MORE : HTTP1_MALFORMED;
    case AFTER_CHUNK_CR:
        parser->state = IN_SIZE;
        parser->digits = 0;
        break;
    case AT_TRAILER:
        parser->state = c == '\r' ? AFTER_TRAILERS_CR : IN_TRAILER_NAME;
        return c == '\r' || http1_is_token(c) ? HTTP1_MORE : HTTP1_MALFORMED;
    case IN_TRAILER_NAME:
        if (c == ':') parser->state = IN_TRAILER;
        return c == ':' || http1_is_token(c) ? HTTP1_MORE : HTTP1_MALFORMED;
    case IN_TRAILER:
        if (c == '\r') parser->state = AFTER_TRAILER_CR;
        return c == '\r' || http1_is_text(c) ? HTTP1_MORE : HTTP1_MALFORMED;
    case AFTER_TRAILER_CR:
        parser->state = AT_TRAILER;
        break;
    case AFTER_TRAILERS_CR:
        parser->state = AT_END;
        break;
    default:
        return HTTP1_MALFORMED;
    }
    if (c != '\n') {
        parser->state = state;
        return HTTP1_MALFORMED;
    }
    return parser->state == AT_END ? HTTP1_COMPLETE : HTTP1_MORE;
}

/* Take bytes of a response; `*used` of them belong to it.
 *
 * The bytes of the head go into `head`, those of the body to `on_piece`. */
static inline http1_result http1_feed(http1 *parser, buffer *head, const unsigned char *bytes, size_t length,
                                      http1_piece on_piece, void *context, size_t *used) {
    size_t at = 0;
    http1_result result = HTTP1_MORE;
    while (at < length && result == HTTP1_MORE) {
        if (parser->state == IN_HEAD) {
            size_t taken = 0;
            result = http1_head(parser, head, bytes + at, length - at, &taken);
            at += taken;
        } else if (parser->state == IN_LENGTH || parser->state == IN_CHUNK || parser->state == UNTIL_CLOSE) {
            size_t count = length - at;
            if (parser->state != UNTIL_CLOSE) {
                if (count > parser->left) count = (size_t)parser->left;
                parser->left -= count;
            }
            if (!on_piece(context, bytes + at, count)) return HTTP1_NO_MEMORY;
            at += count;
            if (parser->state == IN_CHUNK && !parser->left) {
                parser->state = AFTER_CHUNK;
            } else if (parser->state == IN_LENGTH && !parser->left) {
                parser->state = AT_END;
                result = HTTP1_COMPLETE;
            }
        } else {
            result = http1_around(parser, bytes[at++]);
        }
    }
    *used = at;
    return result;
}

#endif
