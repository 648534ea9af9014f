/* Texts of JSON as they stand in frames. No Python. */
#ifndef LOADGEN_JSON_H
#define LOADGEN_JSON_H

#include "_http1.h"

/* A text in JSON, without its quotes. */
typedef struct {
    ptrdiff_t characters;
    bool escapes;
} json_text;

/* The length of the beginning of a frame, with the response's id, which is plain ASCII, and its time, up to the comma;
 * 0 where it has another one (`_RESPONSE` in frame_cache.py). */
static inline size_t json_start(const unsigned char *frame, size_t size, const void *before, size_t before_size,
                                const void *between, size_t between_size) {
    size_t at = before_size;
    if (size < at || memcmp(frame, before, before_size)) return 0;
    while (at < size && frame[at] >= ' ' && frame[at] <= '~' && frame[at] != '"' && frame[at] != '\\') at++;
    if (size - at < between_size || memcmp(frame + at, between, between_size)) return 0;
    size_t digits = at += between_size;
    while (at < size && frame[at] >= '0' && frame[at] <= '9') at++;
    bool is_number = at > digits && (frame[digits] != '0' || at == digits + 1);
    return is_number && at < size && frame[at] == ',' ? at : 0;
}

/* Four hexadecimal digits as a number, or -1. */
static inline int json_hex(const unsigned char *at, const unsigned char *end) {
    int value = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int digit = http1_hex(at[i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* The length of the UTF-8 character at a place (RFC 3629), or 0 where there is none. */
static inline size_t json_utf8(const unsigned char *at, const unsigned char *end) {
    unsigned char c = *at;
    size_t size = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (!size || (size_t)(end - at) < size) return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    bool is_long = (c == 0xE0 && at[1] < 0xA0) || (c == 0xF0 && at[1] < 0x90);
    return is_long || (c == 0xED && at[1] >= 0xA0) || (c == 0xF4 && at[1] >= 0x90) ? 0 : size;
}

/* Whether bytes are one text in JSON, the whole of it. Halves of a character are left to server_json.py. */
static inline bool json_is_text(const unsigned char *at, size_t size, json_text *what) {
    const unsigned char *end = at + size;
    for (; at < end; at++, what->characters++) {
        if (*at == '"' || *at < ' ') return false;
        if (*at >= 0x80) {
            size_t bytes = json_utf8(at, end);
            if (!bytes) return false;
            at += bytes - 1;
        } else if (*at == '\\') {
            what->escapes = true;
            if (++at == end || !*at || !strchr("\"\\/bfnrtu", *at)) return false;
            if (*at != 'u') continue;
            int value = json_hex(at + 1, end);
            if (value < 0 || (value >= 0xD800 && value < 0xE000)) return false;
            at += 4;
        }
    }
    return true;
}

/* Append the character of an escape as orjson writes it. */
static inline bool json_append_character(buffer *to, unsigned value) {
    static const char *const names[] = {['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r",
                                        ['"'] = "\\\"", ['\\'] = "\\\\"};
    if (value <= '\\' && names[value]) return buffer_append(to, names[value], 2);
    if (value < ' ') {
        const char digits[] = "0123456789abcdef", text[] = {'\\', 'u', '0', '0', digits[value >> 4], digits[value & 15]};
        return buffer_append(to, text, sizeof text);
    }
    unsigned char bytes[3] = {(unsigned char)value};
    if (value < 0x80) return buffer_append(to, bytes, 1);
    if (value < 0x800) {
        bytes[0] = (unsigned char)(0xC0 | value >> 6), bytes[1] = (unsigned char)(0x80 | (value & 63));
        return buffer_append(to, bytes, 2);
    }
    bytes[0] = (unsigned char)(0xE0 | value >> 12), bytes[1] = (unsigned char)(0x80 | (value >> 6 & 63));
    bytes[2] = (unsigned char)(0x80 | (value & 63));
    return buffer_append(to, bytes, 3);
}

/* Append what `json_is_text` has accepted, as orjson writes the same text. */
static inline bool json_append(buffer *to, const unsigned char *at, size_t size, const json_text *what) {
    const unsigned char *end = at + size;
    if (!what->escapes) return buffer_append(to, at, size);
    while (at < end) {
        const unsigned char *escape = memchr(at, '\\', (size_t)(end - at));
        if (!escape) escape = end;
        if (!buffer_append(to, at, (size_t)(escape - at))) return false;
        if (escape == end) break;
        const char *name = strchr("b\bf\fn\nr\rt\t", escape[1]);
        unsigned value = name ? (unsigned char)name[1] : escape[1];
        at = escape + 2;
        if (escape[1] == 'u') value = (unsigned)json_hex(at, end), at += 4;
        if (!json_append_character(to, value)) return false;
    }
    return true;
}

#endif
