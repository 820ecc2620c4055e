/* From descriptions in Python to those that calls read.  Everything here raises ValueError for what it does not know. */
#ifndef ADGEN_DESCRIBE_H
#define ADGEN_DESCRIBE_H

#include "call.h"

static int position_of(PyObject *name, const char *const *names, int count)
{
    for (int k = 0; k < count; ++k)
        if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, names[k]) == 0) return k;
    PyErr_Format(PyExc_ValueError, "unknown name %R", name);
    return -1;
}

/* ("number", type, element), ("array", dtype, element, rank, written, guarded), ("option", value) or
 * ("absent", type, element, value) */
static int describe_parameter(PyObject *item, Parameter *parameter)
{
    static const char *const WAYS[] = {"number", "array", "option", "absent"};
    PyObject *name, *object, *element = NULL, *rest = NULL, *written = NULL, *guarded = NULL;
    if (!PyArg_ParseTuple(item, "UO|OOOO", &name, &object, &element, &rest, &written, &guarded)) return -1;
    const int way = position_of(name, WAYS, 4);
    if (way < 0) return -1;
    parameter->way = way;
    parameter->object = Py_NewRef(object);
    if (way == OPTION) return 0;
    const int known = element == NULL ? -1 : position_of(element, ELEMENT_NAMES, ELEMENTS);
    if (known < 0) return -1;
    parameter->element = (Element)known;
    if (way == ARRAY_GIVEN) {
        parameter->rank = rest == NULL ? -1 : (int)PyLong_AsLong(rest);
        parameter->written = written == Py_True;
        parameter->guarded = guarded == Py_True;
        if (parameter->rank < 0 || parameter->rank > MOST_AXES || !PyArray_DescrCheck(object))
            PyErr_SetString(PyExc_ValueError, "an array needs a dtype and a rank");
    } else if (way == ABSENT && rest == NULL) {
        PyErr_SetString(PyExc_ValueError, "an argument that is not given needs a value");
    } else if (way == ABSENT) {
        if (known == F64 || known == F32)
            parameter->value.number = PyFloat_AsDouble(rest);
        else
            parameter->value.integer = PyLong_AsLongLong(rest);
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* (element, dtype or None, rank) */
static int describe_result(PyObject *item, Result *result)
{
    PyObject *name, *dtype;
    if (!PyArg_ParseTuple(item, "UOi", &name, &dtype, &result->rank)) return -1;
    const int element = position_of(name, ELEMENT_NAMES, ELEMENTS);
    if (element < 0) return -1;
    result->element = (Element)element;
    if (dtype == Py_None) return 0;
    if (!PyArray_DescrCheck(dtype) || result->rank < 0 || result->rank > MOST_AXES) {
        PyErr_SetString(PyExc_ValueError, "an array needs a dtype and a rank");
        return -1;
    }
    result->dtype = (PyArray_Descr *)Py_NewRef(dtype);
    return 0;
}

/* (way, count, object): the object is a dtype, a constant, the type of a NamedTuple, a tuple of keys, a callable */
static int describe_step(PyObject *item, Step *step, Py_ssize_t results, Py_ssize_t *depth)
{
    static const char *const WAYS[] = {"array",  "number", "scalar", "constant", "tuple",
                                       "list", "named",  "dict",   "apply"};
    PyObject *name, *object;
    if (!PyArg_ParseTuple(item, "UnO", &name, &step->count, &object)) return -1;
    const int way = position_of(name, WAYS, 9);
    if (way < 0) return -1;
    step->way = way;
    step->object = Py_NewRef(object);
    const int is_leaf = way == ARRAY || way == NUMBER || way == SCALAR;
    const int takes = is_leaf || way == CONSTANT ? 0 : (int)step->count;
    *depth += 1 - takes;
    const int good = step->count >= 0 && (!is_leaf || step->count < results) && *depth >= 1 && *depth <= MOST &&
                     (way != SCALAR || PyArray_DescrCheck(object)) &&
                     (way != DICT || (PyTuple_Check(object) && PyTuple_GET_SIZE(object) == step->count)) &&
                     (way != NAMED || (PyType_Check(object) &&
                                       PyType_IsSubtype((PyTypeObject *)object, &PyTuple_Type)));
    if (!good) PyErr_SetString(PyExc_ValueError, "steps that do not fit together");
    return good ? 0 : -1;
}

/* (cell, other, value), of so many cells */
static int describe_condition(PyObject *item, Condition *condition, Py_ssize_t cells)
{
    long long value;
    if (!PyArg_ParseTuple(item, "nnL", &condition->cell, &condition->other, &value)) return -1;
    condition->value = value;
    if (condition->cell >= 0 && condition->cell < cells && condition->other < cells) return 0;
    PyErr_SetString(PyExc_ValueError, "a condition on a cell that there is not");
    return -1;
}

static void forget_plan(Plan *plan)
{
    for (Py_ssize_t k = 0; k < plan->count; ++k) Py_CLEAR(plan->steps[k].object);
    PyMem_Free(plan->steps);
    plan->steps = NULL;
    plan->count = 0;
}

static int describe_plan(PyObject *items, Plan *plan, Py_ssize_t results)
{
    Py_ssize_t depth = 0;
    plan->steps = PyMem_Calloc((size_t)PyTuple_GET_SIZE(items) + 1, sizeof *plan->steps);
    if (plan->steps == NULL) return PyErr_NoMemory(), -1;
    plan->count = PyTuple_GET_SIZE(items);
    plan->lasting = 1;
    for (Py_ssize_t k = 0; k < plan->count; ++k) {
        Step *step = &plan->steps[k];
        if (describe_step(PyTuple_GET_ITEM(items, k), step, results, &depth) < 0) return -1;
        if (step->way != ARRAY && step->way != CONSTANT && step->way != TUPLE && step->way != NAMED) plan->lasting = 0;
    }
    if (depth == 1) return 0;
    PyErr_SetString(PyExc_ValueError, "steps that do not fit together");
    return -1;
}

#endif
