/* Functions over the chunks of a response, which the module of the I/O loop offers. */
#ifndef LOADGEN_CHUNKS_H
#define LOADGEN_CHUNKS_H

#include <Python.h>

#include "_body.h"

PyObject *chunks_alike(PyObject *module, PyObject *arguments);
PyObject *chunks_known(PyObject *module, PyObject *arguments);
PyObject *chunks_gaps_us(PyObject *module, PyObject *arguments);
PyObject *chunks_coalesced(PyObject *module, PyObject *moments);


/* What the first *count pieces of a body mean: those whose shapes are known. */
PyObject *chunks_of_body(const body *of, PyObject *known, size_t *count);

#endif
