/* TLS of connections, by the OpenSSL and the handshake of Python's module `ssl`. See _tls.c. */
#ifndef LOADGEN_TLS_H
#define LOADGEN_TLS_H

#include <Python.h>

#include "_http1.h"

enum { TLS_OPEN = 0, TLS_CLOSED = -1, TLS_NO_MEMORY = -2 }; /* else a code of OpenSSL */

typedef struct ssl_st tls;

/* What an object of `ssl` has, which has to live as long; NULL where that is not known. */
tls *tls_of(PyObject *object);

/* Append the plaintext to what is received; return how the connection goes on. */
int tls_decrypt(tls *t, const unsigned char *bytes, size_t length, buffer *plaintext);

/* Append the records that are to be sent for some bytes. */
bool tls_encrypt(tls *t, const void *bytes, size_t length, buffer *records);

/* Append the records that TLS itself has to send: mostly none. */
bool tls_reply(tls *t, buffer *records);

PyObject *tls_takes(PyObject *module, PyObject *arguments);
PyObject *tls_reason(PyObject *module, PyObject *code);

#endif
