/* JSON as orjson writes it. What differs, such as a number with a fraction where a whole one is due, is left to DuckDB:
 * the reader says that it cannot be sure. */
#define _GNU_SOURCE
#include "_payload.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define AND_ONE(name, kind) +1
const members ISSUE = {OF_EVENTS(AND_ONE), OF_ISSUE(AND_ONE)};
const members SENDING = {OF_EVENTS(AND_ONE) OF_ISSUE(AND_ONE), OF_SENDING(AND_ONE)};
const members ENDING = {OF_EVENTS(AND_ONE) OF_ISSUE(AND_ONE) OF_SENDING(AND_ONE), OF_ENDING(AND_ONE)};
_Static_assert(0 OF_ENDING(AND_ONE) <= 64, "read_payload has a bit for each member");
#undef AND_ONE

enum { DEEPEST = 32, LONGEST_NUMBER = 40, MOST_DIGITS = 18 };

typedef struct {
    const char *at, *end;
} cursor;

static bool take(cursor *json, char expected) {
    if (json->at == json->end || *json->at != expected) return false;
    json->at++;
    return true;
}

static bool take_word(cursor *json, const char *word, size_t size) {
    if ((size_t)(json->end - json->at) < size || memcmp(json->at, word, size)) return false;
    json->at += size;
    return true;
}

static bool take_null(cursor *json) { return take_word(json, "null", 4); }

/* One character of UTF-8 that is not ASCII. */
static bool take_character(cursor *json) {
    const unsigned char *at = (const unsigned char *)json->at;
    size_t left = (size_t)(json->end - json->at), size = *at >= 0xF0 ? 4 : *at >= 0xE0 ? 3 : 2;
    if (*at < 0xC2 || *at > 0xF4 || left < size) return false;
    for (size_t place = 1; place < size; place++)
        if ((at[place] & 0xC0) != 0x80) return false;
    if ((*at == 0xE0 && at[1] < 0xA0) || (*at == 0xED && at[1] > 0x9F)) return false;
    if ((*at == 0xF0 && at[1] < 0x90) || (*at == 0xF4 && at[1] > 0x8F)) return false;
    json->at += size;
    return true;
}

/* Where characters end that stand for themselves: ASCII without quotes, backslashes and control characters. */
static const char *plain_end(const char *at, const char *end) {
    const uint64_t ones = UINT64_MAX / 255, tops = ones << 7;
    for (uint64_t eight; end - at >= 8; at += 8) {
        memcpy(&eight, at, 8);
        uint64_t quotes = eight ^ ones * '"', slashes = eight ^ ones * '\\';
        if (((quotes - ones) | (slashes - ones) | (eight - ones * 0x20) | eight) & tops) break;
    }
    while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\') at++;
    return at;
}

bool is_utf8(const char *text, size_t size) {
    cursor rest = {text, text + size};
    while ((rest.at = plain_end(rest.at, rest.end)) < rest.end) {
        unsigned char next = (unsigned char)*rest.at;
        if (next < 0x20 || (next >= 0x80 && !take_character(&rest))) return false;
        if (next < 0x80) rest.at++;
    }
    return true;
}

static int digit(char of) { return of >= '0' && of <= '9' ? of - '0' : of >= 'a' && of <= 'f' ? of - 'a' + 10 : -1; }

/* An escape, and what it stands for: of `\u` those that orjson writes, of control characters. */
static bool take_escape(cursor *json, char *meant) {
    static const char WRITTEN[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    size_t left = (size_t)(json->end - json->at);
    const char *at = json->at, *known = left > 1 && at[1] ? strchr(WRITTEN, at[1]) : NULL;
    if (known) {
        *meant = MEANT[known - WRITTEN];
    } else {
        if (left < 6 || memcmp(at, "\\u00", 4) || digit(at[4]) < 0 || digit(at[5]) < 0) return false;
        int code = 16 * digit(at[4]) + digit(at[5]);
        if (!code || code > 0x7F) return false;
        *meant = (char)code;
    }
    json->at += known ? 2 : 6;
    return true;
}

/* The inside of a string, as it is written. */
static bool take_string(cursor *json, const char **start, size_t *size, bool *escaped) {
    if (!take(json, '"')) return false;
    *start = json->at, *escaped = false;
    while (json->at < json->end) {
        json->at = plain_end(json->at, json->end);
        if (json->at == json->end) return false;
        unsigned char next = (unsigned char)*json->at;
        if (next == '"') {
            *size = (size_t)(json->at++ - *start);
            return true;
        }
        if (next == '\\') {
            char meant;
            *escaped = true;
            if (!take_escape(json, &meant)) return false;
        } else if (next < 0x20) {
            return false;
        } else if (!take_character(json)) {
            return false;
        }
    }
    return false;
}

/* Whether eight characters are digits; then their values, the first one in the lowest byte. */
static bool are_digits(const char *at, uint64_t *values) {
    const uint64_t ones = UINT64_MAX / 255;
    uint64_t eight;
    memcpy(&eight, at, 8);
    *values = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? eight ^ ones * '0' : __builtin_bswap64(eight) ^ ones * '0';
    return !((*values | (*values + ones * 6)) & ones * 0xF0);
}

/* The number of eight digits: of pairs, of fours, of all. */
static uint64_t number_of(uint64_t digits) {
    digits = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FFu;
    digits = (digits * 100 + (digits >> 16)) & 0x0000FFFF0000FFFFu;
    return (digits * 10000 + (digits >> 32)) & 0xFFFFFFFFu;
}

static bool take_whole(cursor *json, int64_t *value) {
    bool negative = take(json, '-');
    const char *start = json->at;
    uint64_t digits = 0, eight;
    while (json->end - json->at >= 8 && json->at - start <= MOST_DIGITS - 8 && are_digits(json->at, &eight))
        digits = 100000000 * digits + number_of(eight), json->at += 8;
    while (json->at < json->end && *json->at >= '0' && *json->at <= '9' && json->at - start <= MOST_DIGITS)
        digits = 10 * digits + (uint64_t)(*json->at++ - '0');
    if (json->at == start || (*start == '0' && (json->at - start > 1 || negative))) return false;
    if (digits > INT64_MAX) return false;
    if (json->at < json->end && (*json->at == '.' || *json->at == 'e' || *json->at == 'E' || (*json->at >= '0' && *json->at <= '9')))
        return false;
    *value = negative ? -(int64_t)digits : (int64_t)digits;
    return true;
}

static locale_t plain;

static void make_plain(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

/* Any number of JSON. */
static bool take_number(cursor *json, double *value) {
    char copy[LONGEST_NUMBER + 1];
    size_t size = 0;
    while (json->at + size < json->end && size < LONGEST_NUMBER && memchr("0123456789+-.eE", json->at[size], 15))
        copy[size] = json->at[size], size++;
    copy[size] = 0;
    const char *digits = copy + (*copy == '-');
    if (*digits < '0' || *digits > '9' || (*digits == '0' && digits[1] >= '0' && digits[1] <= '9')) return false;
    const char *dot = strchr(digits, '.');
    if (dot && (dot[1] < '0' || dot[1] > '9')) return false;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_plain);
    char *end;
    if (!plain) return false;
    *value = strtod_l(copy, &end, plain);
    json->at += size;
    return end == copy + size && size < LONGEST_NUMBER && *value - *value == 0;
}

/* Any value; `whole`: only what DuckDB writes again as it is. */
static bool skip_value(cursor *json, int depth, bool whole) {
    const char *text;
    size_t size;
    bool escaped;
    double real;
    int64_t number;
    if (json->at == json->end || !depth) return false;
    char first = *json->at;
    if (first == '"') return take_string(json, &text, &size, &escaped) && !(whole && escaped);
    if (first == 't') return take_word(json, "true", 4);
    if (first == 'f') return take_word(json, "false", 5);
    if (first == 'n') return take_null(json);
    if (first != '{' && first != '[') return whole ? take_whole(json, &number) : take_number(json, &real);
    char last = first == '{' ? '}' : ']';
    json->at++;
    if (take(json, last)) return true;
    do {
        if (first == '{' && !(take_string(json, &text, &size, &escaped) && !(whole && escaped) && take(json, ':')))
            return false;
        if (!skip_value(json, depth - 1, whole)) return false;
    } while (take(json, ','));
    return take(json, last);
}

static bool read_text(batch *to, int place, cursor *json) {
    const char *text;
    size_t size;
    bool escaped;
    if (!take_string(json, &text, &size, &escaped)) return false;
    if (!escaped) return put_bytes(to, place, text, size);
    char *start = reserve(to, place, size), *out = start;
    if (!start) return false;
    for (cursor rest = {text, text + size}; rest.at < rest.end; out++)
        if (*rest.at != '\\') *out = *rest.at++;
        else if (!take_escape(&rest, out)) return false;
    put_reserved(to, place, (size_t)(out - start));
    return true;
}

static bool read_integers(batch *to, int place, cursor *json) {
    size_t count = 0;
    if (!take(json, '[')) return false;
    char *room = reserve(to, place, 8 * (size_t)(json->end - json->at));
    if (!room) return false;
    if (!take(json, ']')) {
        do {
            int64_t number;
            if (!take_whole(json, &number)) return false;
            memcpy(room + 8 * count++, &number, 8);
        } while (take(json, ','));
        if (!take(json, ']')) return false;
    }
    put_reserved(to, place, 8 * count);
    return true;
}

static bool read_value(batch *to, int place, cursor *json, int64_t shift_ns) {
    const char *start = json->at;
    int64_t number;
    double real;
    if (take_null(json)) return true;
    switch (FIELDS[place].kind) {
        case TEXT: return read_text(to, place, json);
        case JSON: return skip_value(json, DEEPEST, true) && put_bytes(to, place, start, (size_t)(json->at - start));
        case TRUTH:
            if (take_word(json, "true", 4)) return put_integer(to, place, 1);
            return take_word(json, "false", 5) && put_integer(to, place, 0);
        case REAL: return take_number(json, &real) && put_real(to, place, real);
        case INTEGERS: return read_integers(to, place, json);
        case MOMENT:
            return take_whole(json, &number) && !__builtin_add_overflow(number, shift_ns, &number) &&
                   put_integer(to, place, number);
        case SMALL: return take_whole(json, &number) && number == (int32_t)number && put_integer(to, place, number);
        default: return take_whole(json, &number) && put_integer(to, place, number);
    }
}

/* The name of a member that is expected, with its colon. */
static bool take_expected(cursor *json, const field *member) {
    const char *at = json->at;
    if ((size_t)(json->end - at) < member->size + 3 || *at != '"' || memcmp(at + 1, member->name, member->size) ||
        at[member->size + 1] != '"' || at[member->size + 2] != ':')
        return false;
    json->at += member->size + 3;
    return true;
}

/* Any name with its colon, and the column of that member; COLUMNS for none. */
static bool take_name(cursor *json, const members *known, int *place) {
    const char *name;
    size_t size;
    bool escaped;
    if (!take_string(json, &name, &size, &escaped) || escaped || !take(json, ':')) return false;
    int end = known->first + known->count;
    for (*place = known->first; *place < end; ++*place)
        if (FIELDS[*place].size == size && !memcmp(FIELDS[*place].name, name, size)) return true;
    *place = COLUMNS;
    return true;
}

bool read_payload(batch *to, const members *known, const char *text, size_t length, int64_t shift_ns) {
    cursor json = {text, text + length};
    if (!length) return true;
    if (!take(&json, '{')) return false;
    if (take(&json, '}')) return json.at == json.end;
    uint64_t seen = 0;
    /* A writer keeps the order of members. The last one stands for what is before the first; column 0 is no member's. */
    int before = known->first + known->count - 1;
    do {
        int place = to->followed_by[before];
        if (!(place && take_expected(&json, &FIELDS[place])) && !take_name(&json, known, &place)) return false;
        if (place == COLUMNS) {
            if (!skip_value(&json, DEEPEST, false)) return false;
            continue;
        }
        uint64_t bit = (uint64_t)1 << (place - known->first);
        if (seen & bit || !read_value(to, place, &json, shift_ns)) return false;
        seen |= bit;
        to->followed_by[before] = place;
        before = place;
    } while (take(&json, ','));
    return take(&json, '}') && json.at == json.end;
}
