/* Events as rows of the log, which the module of the I/O loop offers. */
#ifndef LOADGEN_ROWS_H
#define LOADGEN_ROWS_H

#include <Python.h>

PyObject *rows_of_events(PyObject *module, PyObject *arguments);

#endif
