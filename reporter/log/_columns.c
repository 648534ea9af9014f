/* Columns that grow by rows, and leave as Arrow arrays. */
#include "_columns.h"

#include <stdlib.h>
#include <string.h>

#include "_arrow.h"

#define FIELD(name, kind) {#name, sizeof #name - 1, kind},
const field FIELDS[COLUMNS] = {OF_EVENTS(FIELD) OF_ISSUE(FIELD) OF_SENDING(FIELD) OF_ENDING(FIELD)};
#undef FIELD

static bool is_varied(kind of) { return of >= TEXT; }

static bool is_list(kind of) { return of >= INTEGERS; }

static size_t width(kind of) { return of == SMALL ? 4 : 8; }

/* What a column without values has: all its values are NULL. */
static char NOTHING[(ROWS + 1) * 8];

batch *batch_new(void) { return calloc(1, sizeof(batch)); }

bool open_column(batch *to, int place) {
    column *one = &to->columns[place];
    kind of = FIELDS[place].kind;
    one->valid = calloc(1, ROWS / 8);
    if (is_varied(of)) {
        one->offsets = calloc(ROWS + 1, sizeof *one->offsets);
        one->values = malloc(one->room = 1024);
        to->varied[to->varied_count++] = place;
    } else {
        one->values = calloc(1, of == TRUTH ? ROWS / 8 : ROWS * width(of));
    }
    bool opened = one->valid && one->values && (one->offsets || !is_varied(of));
    if (!opened) to->failed = true;
    return opened;
}

static void free_column(column *one) {
    free(one->valid), free(one->values), free(one->offsets);
    memset(one, 0, sizeof *one);
}

void batch_free(batch *old) {
    if (!old) return;
    for (int place = 0; place < COLUMNS; place++) free_column(&old->columns[place]);
    free(old);
}

bool put_real(batch *to, int place, double value) {
    if (!is_open(to, place)) return false;
    ((double *)to->columns[place].values)[to->rows] = value;
    is_present(to, &to->columns[place]);
    return true;
}

char *reserve(batch *to, int place, size_t size) {
    column *one = &to->columns[place];
    if (!is_open(to, place) || size > INT32_MAX - one->used) return NULL;
    if (one->used + size > one->room) {
        size_t room = 2 * (one->used + size);
        char *values = realloc(one->values, room);
        if (!values) return NULL;
        one->values = values, one->room = room;
    }
    return one->values + one->used;
}

void put_reserved(batch *to, int place, size_t size) {
    column *one = &to->columns[place];
    one->used += size, to->bytes += size;
    is_present(to, one);
}

bool put_bytes(batch *to, int place, const void *bytes, size_t size) {
    char *room = reserve(to, place, size);
    if (!room) return false;
    if (size) memcpy(room, bytes, size);
    put_reserved(to, place, size);
    return true;
}

bool end_row(batch *to) {
    if (to->failed) return false;
    to->rows++;
    for (int place = 0; place < to->varied_count; place++) {
        column *one = &to->columns[to->varied[place]];
        one->offsets[to->rows] = (int32_t)one->used;
    }
    return true;
}

bool is_full(const batch *of) { return of->rows == ROWS || of->bytes >= MOST_BYTES; }

static uint64_t first_number(const column *one, kind of) {
    uint64_t number = 0;
    memcpy(&number, one->values, of == TRUTH ? 1 : width(of));
    return of == TRUTH ? number & 1 : number;
}

bool first_values(const batch *from, value to[COLUMNS]) {
    for (int place = 0; place < COLUMNS; place++) {
        const column *one = &from->columns[place];
        if (!one->present || !(*one->valid & 1)) continue;
        to[place].is_present = true;
        if (!is_varied(FIELDS[place].kind)) {
            to[place].number = first_number(one, FIELDS[place].kind);
            continue;
        }
        to[place].size = (size_t)one->offsets[1];
        if (!(to[place].text = malloc(to[place].size + 1))) return false;
        memcpy(to[place].text, one->values, to[place].size);
    }
    return true;
}

void free_values(value of[COLUMNS]) {
    for (int place = 0; place < COLUMNS; place++) free(of[place].text);
}

/* Whether bytes are parts of one size that are all the same. */
static bool is_repeated(const char *bytes, size_t size, size_t all) { return all <= size || !memcmp(bytes, bytes + size, all - size); }

static bool has_truths(const column *one, int64_t rows, bool truth) {
    for (int64_t row = 0; row < rows; row++)
        if ((one->values[row >> 3] >> (row & 7) & 1) != truth) return false;
    return true;
}

/* Whether all rows of a column have a value; lists are taken for different ones. */
static bool has_only(const column *one, kind of, int64_t rows, const value *with) {
    if (!one->present || !with->is_present) return !one->present && !with->is_present;
    if (one->present < rows || is_list(of)) return false;
    if (of == TRUTH) return has_truths(one, rows, with->number);
    size_t each = is_varied(of) ? with->size : width(of);
    if (!is_varied(of)) return first_number(one, of) == with->number && is_repeated(one->values, each, (size_t)rows * each);
    for (int64_t row = 1; row <= rows; row++)
        if (one->offsets[row] != row * (int64_t)each) return false;
    return !memcmp(one->values, with->text, each) && is_repeated(one->values, each, one->used);
}

void compare_values(batch *to, const value with[COLUMNS]) {
    for (int place = 0; place < COLUMNS; place++)
        to->differs[place] = !has_only(&to->columns[place], FIELDS[place].kind, to->rows, &with[place]);
}

/* What an exported array owns: its buffers, and the arrays inside it. */
typedef struct {
    column owned;
    const void *buffers[3];
    struct ArrowArray **children;
} held;

static void release_array(struct ArrowArray *array) {
    held *own = array->private_data;
    for (int64_t child = 0; child < array->n_children; child++) {
        struct ArrowArray *inside = array->children[child];
        if (inside && inside->release) inside->release(inside);
        free(inside);
    }
    free(own->children);
    free_column(&own->owned);
    free(own);
    array->release = NULL;
}

/* An array of these rows with room for children; false without memory. */
static bool open_array(struct ArrowArray *array, int64_t rows, int64_t children) {
    held *own = calloc(1, sizeof *own);
    if (own && children && !(own->children = calloc((size_t)children, sizeof *own->children))) free(own), own = NULL;
    if (!own) return false;
    *array = (struct ArrowArray){
        .length = rows, .n_buffers = 1, .buffers = own->buffers, .children = own->children, .private_data = own};
    array->release = release_array;
    for (; array->n_children < children; array->n_children++)
        if (!(own->children[array->n_children] = calloc(1, sizeof(struct ArrowArray)))) {
            release_array(array);
            return false;
        }
    return true;
}

static bool export_list_values(column *one, struct ArrowArray *array, size_t each) {
    struct ArrowArray *numbers = array->children[0];
    if (!open_array(numbers, (int64_t)(one->used / each), 0)) return false;
    held *own = numbers->private_data;
    own->owned.values = one->values, one->values = NULL;
    own->buffers[1] = own->owned.values ? own->owned.values : NOTHING;
    numbers->n_buffers = 2;
    for (int64_t row = 0; one->offsets && row <= array->length; row++) one->offsets[row] /= (int32_t)each;
    return true;
}

static bool export_column(column *one, kind of, int64_t rows, struct ArrowArray *array) {
    if (!open_array(array, rows, is_list(of))) return false;
    array->null_count = rows - one->present;
    if (is_list(of) && !export_list_values(one, array, of == GAPS ? 4 : 8)) return false;
    held *own = array->private_data;
    own->owned = *one;
    memset(one, 0, sizeof *one);
    bool is_empty = !own->owned.valid;
    own->buffers[0] = is_empty ? (void *)NOTHING : own->owned.valid;
    own->buffers[1] = is_empty ? NOTHING : is_varied(of) ? (void *)own->owned.offsets : own->owned.values;
    own->buffers[2] = own->owned.values ? own->owned.values : NOTHING;
    array->n_buffers = is_varied(of) && !is_list(of) ? 3 : 2;
    return true;
}

bool batch_export(batch *from, struct ArrowArray *to) {
    bool done = open_array(to, from->rows, COLUMNS);
    for (int place = 0; done && place < COLUMNS; place++)
        if (!export_column(&from->columns[place], FIELDS[place].kind, from->rows, to->children[place])) {
            to->release(to);
            done = false;
        }
    batch_free(from);
    return done;
}

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t child = 0; child < schema->n_children; child++) {
        struct ArrowSchema *inside = schema->children[child];
        if (inside && inside->release) inside->release(inside);
        free(inside);
    }
    free(schema->children);
    schema->release = NULL;
}

static bool open_schema(struct ArrowSchema *schema, const char *format, const char *name, int64_t children) {
    *schema = (struct ArrowSchema){.format = format, .name = name, .flags = ARROW_FLAG_NULLABLE};
    schema->release = release_schema;
    if (!children) return true;
    if (!(schema->children = calloc((size_t)children, sizeof *schema->children))) return false;
    for (; schema->n_children < children; schema->n_children++)
        if (!(schema->children[schema->n_children] = calloc(1, sizeof(struct ArrowSchema)))) {
            release_schema(schema);
            return false;
        }
    return true;
}

/* One pair, after its number, in the byte order of the machine: what DuckDB calls JSON. */
static const struct {
    int32_t pairs, name_size;
    char name[20];
    int32_t value_size;
    char value[12];
} IS_JSON = {1, 20, "ARROW:extension:name", 10, "arrow.json"};

bool schema_export(struct ArrowSchema *to) {
    static const char *const FORMATS[] = {"l", "l", "i", "g", "b", "u", "u", "+l", "+l"};
    if (!open_schema(to, "+s", "", COLUMNS)) return false;
    bool done = true;
    for (int place = 0; done && place < COLUMNS; place++) {
        kind of = FIELDS[place].kind;
        done = open_schema(to->children[place], FORMATS[of], FIELDS[place].name, is_list(of)) &&
               (!is_list(of) || open_schema(to->children[place]->children[0], of == GAPS ? "I" : "l", "item", 0));
    }
    for (int place = 0; done && place < COLUMNS; place++)
        if (FIELDS[place].kind == JSON) to->children[place]->metadata = (const char *)&IS_JSON;
    if (!done) to->release(to);
    return done;
}
