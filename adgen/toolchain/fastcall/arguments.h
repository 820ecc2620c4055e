/* Arguments: whether they are of the plain kind, and their cells.  Nothing here raises. */
#ifndef ADGEN_ARGUMENTS_H
#define ADGEN_ARGUMENTS_H

#include "call.h"

static const int64_t LOWEST[ELEMENTS] = {
    [I64] = INT64_MIN, [I32] = INT32_MIN, [I16] = INT16_MIN, [I8] = INT8_MIN,
};
static const int64_t HIGHEST[ELEMENTS] = {
    [I64] = INT64_MAX, [I32] = INT32_MAX,   [I16] = INT16_MAX, [I8] = INT8_MAX,
    [U32] = UINT32_MAX, [U16] = UINT16_MAX, [U8] = UINT8_MAX,
};

/* The cell of a number whose type is right; 0 for an integer that does not fit. */
static int cell_of_number(Element element, PyObject *object, Cell *cell)
{
    int overflow;
    switch (element) {
    case F64:
    case F32: cell->number = PyFloat_AS_DOUBLE(object); return 1;
    case BOOLEAN: cell->integer = object == Py_True; return 1;
    default:
        cell->integer = PyLong_AsLongLongAndOverflow(object, &overflow);
        return !overflow && cell->integer >= LOWEST[element] && cell->integer <= HIGHEST[element];
    }
}

/* True for an array of exactly this type that C can use as it is. */
static int is_plain(PyObject *object, PyObject *dtype, int rank, int written)
{
    if (Py_TYPE(object) != &PyArray_Type) return 0;
    PyArrayObject *array = (PyArrayObject *)object;
    const int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | (written ? NPY_ARRAY_WRITEABLE : 0);
    return (PyObject *)PyArray_DESCR(array) == dtype && PyArray_NDIM(array) == rank &&
           (PyArray_FLAGS(array) & flags) == flags;
}

static int is_option(PyObject *object, PyObject *option)
{
    if (object == option) return 1;
    if (Py_TYPE(object) != Py_TYPE(option)) return 0;
    if (PyUnicode_CheckExact(option)) return PyUnicode_Compare(object, option) == 0;
    if (!PyLong_CheckExact(option)) return 0;
    int overflow, other;
    return PyLong_AsLongLongAndOverflow(object, &overflow) == PyLong_AsLongLongAndOverflow(option, &other) &&
           !overflow && !other;
}

/* True when two contiguous arrays have a byte in common. */
static int meet(PyObject *one, PyObject *other)
{
    const char *first = PyArray_BYTES((PyArrayObject *)one), *second = PyArray_BYTES((PyArrayObject *)other);
    const npy_intp size = PyArray_NBYTES((PyArrayObject *)one), extent = PyArray_NBYTES((PyArrayObject *)other);
    return size > 0 && extent > 0 && first < second + extent && second < first + size;
}

/* True when an array that the function writes shares memory with another argument. */
static int overlapping(const Call *call, PyObject *const *arguments)
{
    for (Py_ssize_t i = 0; i < call->parameter_count; ++i) {
        if (call->parameters[i].way != ARRAY_GIVEN || !call->parameters[i].guarded) continue;
        for (Py_ssize_t j = 0; j < call->parameter_count; ++j)
            if (j != i && call->parameters[j].way == ARRAY_GIVEN && meet(arguments[i], arguments[j])) return 1;
    }
    return 0;
}

/* The cells of all arguments; 0 when one of them is not of the plain kind. */
static int read_arguments(const Call *call, PyObject *const *arguments, Cell *const cells)
{
    Cell *cell = cells;
    for (Py_ssize_t i = 0; i < call->parameter_count; ++i) {
        const Parameter *parameter = &call->parameters[i];
        PyObject *object = arguments[i];
        switch (parameter->way) {
        case NUMBER_GIVEN:
            if ((PyObject *)Py_TYPE(object) != parameter->object) return 0;
            if (!cell_of_number(parameter->element, object, cell++)) return 0;
            break;
        case ARRAY_GIVEN:
            if (!is_plain(object, parameter->object, parameter->rank, parameter->written)) return 0;
            (cell++)->pointer = PyArray_DATA((PyArrayObject *)object);
            for (int axis = 0; axis < parameter->rank; ++axis)
                (cell++)->integer = PyArray_DIMS((PyArrayObject *)object)[axis];
            break;
        case OPTION:
            if (!is_option(object, parameter->object)) return 0;
            break;
        case ABSENT:
            if ((PyObject *)Py_TYPE(object) != parameter->object) return 0;
            *cell++ = parameter->value;
            break;
        }
    }
    for (const Condition *each = call->conditions; each < call->conditions + call->condition_count; ++each)
        if (cells[each->cell].integer != (each->other < 0 ? each->value : cells[each->other].integer)) return 0;
    return !(call->guarded && overlapping(call, arguments));
}

#endif
