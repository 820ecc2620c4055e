/*
 * What a call of a compiled function needs to know.
 *
 * A compiled function is called with cells: one for each number, for each array its address and its extents, and for
 * each result where it goes.
 */
#ifndef ADGEN_CALL_H
#define ADGEN_CALL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/ndarrayobject.h>
#include <structmember.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 256, MOST_AXES = 32, DETAILS = 4, ALIGNMENT = 64 };
#define KEPT_BYTES ((npy_intp)1 << 28) /* a workspace larger than this is not kept for the next call */

typedef union {
    double number;
    int64_t integer;
    void *pointer;
} Cell;

typedef int (*Function)(const Cell *cells, void *work, int64_t *detail);
typedef void (*Sizes)(const Cell *cells, int64_t *sizes);

typedef union {
    double f64;
    float f32;
    unsigned char boolean;
    int64_t i64;
    int32_t i32;
    int16_t i16;
    int8_t i8;
    uint32_t u32;
    uint16_t u16;
    uint8_t u8;
} Number;

typedef enum { F64, F32, BOOLEAN, I64, I32, I16, I8, U32, U16, U8, ELEMENTS } Element;

static const char *const ELEMENT_NAMES[ELEMENTS] = {
    "f64", "f32", "bool", "i64", "i32", "i16", "i8", "u32", "u16", "u8",
};

/* What an argument must be.  `object` is the type of a number, the dtype of an array, the value of an option, or the
 * type of what stands for an argument that was not given, whose value is then `value`. */
typedef struct {
    enum { NUMBER_GIVEN, ARRAY_GIVEN, OPTION, ABSENT } way;
    Element element;
    int rank;
    int written;
    int guarded; /* no other array may share its memory */
    PyObject *object;
    Cell value;
} Parameter;

/* An extent that must be that in another cell, or where `other` is negative this number. */
typedef struct {
    Py_ssize_t cell, other;
    int64_t value;
} Condition;

/* A result of the compiled function: an array of this dtype, or a number (its dtype is NULL). */
typedef struct {
    Element element;
    int rank;
    PyArray_Descr *dtype;
} Result;

/* One step in building what Python sees, on a stack. */
typedef struct {
    enum { ARRAY, NUMBER, SCALAR, CONSTANT, TUPLE, LIST, NAMED, DICT, APPLY } way;
    Py_ssize_t count; /* of results or items */
    PyObject *object;
} Step;

typedef struct {
    Py_ssize_t count;
    Step *steps;
    int lasting; /* what is built is the same as long as the arrays are */
} Plan;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Function function;
    Sizes sizes;
    Py_ssize_t parameter_count, result_count, extent_count, first_result;
    Parameter *parameters;
    Result *results;
    Condition *conditions;
    Py_ssize_t condition_count;
    int guarded, written, measured, array_count;
    Py_ssize_t place; /* of the result that is an array, when there is one such */
    Plan plan;
    PyObject *failed;    /* called with the status, its details and the arguments */
    PyObject *otherwise; /* called with the arguments when they are not of the plain kind */
    PyObject *workspace; /* memory that no call uses now */
} Call;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Call *call;
    Plan plan;
    PyObject *arguments; /* a tuple */
    PyObject *outputs;   /* a list with an array or None for each result: where it goes */
    PyObject *whole;     /* what was built before, when it lasts */
    PyObject *failed;
    PyObject *otherwise;
} Bound;

static PyTypeObject CallType;
static PyTypeObject BoundType;

#endif
