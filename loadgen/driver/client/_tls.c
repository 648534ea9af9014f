/* TLS of connections, by the OpenSSL and the handshake of Python's module `ssl`.
 *
 * Python makes the handshake, with all that it checks. From then on its SSL is used here alone: bytes in, bytes out, by the
 * very library that `_ssl` is linked to. Only tls.py knows for which versions of Python an SSL is where `tls_of` looks. */
#define _GNU_SOURCE
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include "_tls.h"

#include <dlfcn.h>
#include <limits.h>

enum { MOST_RECORD = 16 * 1024, ZERO_RETURN = 6, WANT_READ = 2, PENDING = 10 }; /* of OpenSSL: the last three */

static struct {
    int (*read)(tls *, void *, int), (*write)(tls *, const void *, int), (*error)(const tls *, int), (*has_pending)(const tls *);
    void *(*data)(const tls *, int), *(*received)(const tls *), *(*to_send)(const tls *);
    int (*put)(void *, const void *, int), (*get)(void *, void *, int);
    long (*control)(void *, int, long, void *);
    unsigned long (*first_error)(void);
    void (*forget_errors)(void);
    const char *(*reason)(unsigned long);
} ssl;

static bool load(const char *module) {
    static const char *const names[] = {
        "SSL_read", "SSL_write", "SSL_get_error", "SSL_has_pending", "SSL_get_ex_data",
        "SSL_get_rbio", "SSL_get_wbio",
        "BIO_write", "BIO_read", "BIO_ctrl", "ERR_get_error", "ERR_clear_error", "ERR_reason_error_string"};
    void **functions = (void **)&ssl, *library = dlopen(module, RTLD_LAZY | RTLD_NOLOAD);
    for (size_t i = 0; library && i < sizeof names / sizeof *names; i++)
        if (!(functions[i] = dlsym(library, names[i]))) library = NULL;
    return library;
}

/* `PySSLSocket` begins with a reference and the SSL, which refers back to it. */
tls *tls_of(PyObject *object) {
    tls *t = *(tls **)((char *)object + sizeof(PyObject) + sizeof(PyObject *));
    if (!t || !ssl.data || ssl.data(t, 0) != object) return NULL;
    return t;
}

static int end_of(tls *t, int result) {
    int why = ssl.error(t, result);
    if (why == WANT_READ) return TLS_OPEN;
    int code = why == ZERO_RETURN ? TLS_CLOSED : (int)(ssl.first_error() & INT_MAX);
    ssl.forget_errors();
    return code ? code : TLS_CLOSED;
}

static bool make_room(buffer *to, size_t size) {
    size_t length = to->length;
    if (to->capacity - length >= size) return true;
    unsigned char *grown = realloc(to->bytes, length + size);
    if (grown) to->bytes = grown, to->capacity = length + size;
    return grown;
}

int tls_decrypt(tls *t, const unsigned char *bytes, size_t length, buffer *plaintext) {
    void *received = ssl.received(t);
    if (ssl.put(received, bytes, (int)length) != (int)length) return TLS_NO_MEMORY;
    do {
        if (!make_room(plaintext, MOST_RECORD)) return TLS_NO_MEMORY;
        int count = ssl.read(t, plaintext->bytes + plaintext->length, MOST_RECORD);
        if (count <= 0) return end_of(t, count);
        plaintext->length += (size_t)count;
        /* One more read would take as long as this one. */
    } while (ssl.control(received, PENDING, 0, NULL) || ssl.has_pending(t));
    return TLS_OPEN;
}

bool tls_reply(tls *t, buffer *records) {
    void *to_send = ssl.to_send(t);
    for (long left; (left = ssl.control(to_send, PENDING, 0, NULL)) > 0;) {
        if (!make_room(records, (size_t)left)) return false;
        int count = ssl.get(to_send, records->bytes + records->length, (int)left);
        if (count <= 0) return false;
        records->length += (size_t)count;
    }
    return true;
}

bool tls_encrypt(tls *t, const void *bytes, size_t length, buffer *records) {
    for (const char *at = bytes, *end = at + length; at < end;) {
        int count = ssl.write(t, at, end - at > INT_MAX ? INT_MAX : (int)(end - at));
        if (count <= 0) return end_of(t, count), false;
        at += count;
    }
    return tls_reply(t, records);
}

PyObject *tls_takes(PyObject *Py_UNUSED(module), PyObject *arguments) {
    const char *module;
    PyObject *object;
    if (!PyArg_ParseTuple(arguments, "sO", &module, &object)) return NULL;
    return PyBool_FromLong(load(module) && tls_of(object));
}

PyObject *tls_reason(PyObject *Py_UNUSED(module), PyObject *code) {
    unsigned long number = PyLong_AsUnsignedLong(code);
    if (number == (unsigned long)-1 && PyErr_Occurred()) return NULL;
    const char *reason = ssl.reason ? ssl.reason(number) : NULL;
    return PyUnicode_FromString(reason ? reason : "TLS failed");
}
