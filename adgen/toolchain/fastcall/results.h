/* Results: memory for them, and what Python sees. */
#ifndef ADGEN_RESULTS_H
#define ADGEN_RESULTS_H

#include "arguments.h"

/* A workspace that no call uses, of this many bytes at least.  Raises MemoryError. */
static PyObject *take_workspace(Call *call, npy_intp size)
{
    PyObject *found = call->workspace;
    call->workspace = NULL; /* a call that runs at the same time takes memory of its own */
    if (found != NULL && PyArray_DIMS((PyArrayObject *)found)[0] >= size + ALIGNMENT) return found;
    Py_XDECREF(found);
    size += ALIGNMENT;
    return PyArray_SimpleNew(1, &size, NPY_UINT8);
}

static void give_workspace(Call *call, PyObject *workspace)
{
    if (call->workspace == NULL && PyArray_NBYTES((PyArrayObject *)workspace) <= KEPT_BYTES)
        call->workspace = workspace;
    else
        Py_DECREF(workspace);
}

static void *aligned(PyObject *workspace)
{
    const uintptr_t start = (uintptr_t)PyArray_DATA((PyArrayObject *)workspace);
    return (void *)((start + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
}

/* True when an array can hold a result of these extents. */
static int fits(const Result *result, PyObject *array, const int64_t *extents)
{
    if (!is_plain(array, (PyObject *)result->dtype, result->rank, 1)) return 0;
    for (int axis = 0; axis < result->rank; ++axis)
        if (PyArray_DIMS((PyArrayObject *)array)[axis] != extents[axis]) return 0;
    return 1;
}

static PyObject *new_array(const Result *result, const int64_t *extents)
{
    npy_intp dimensions[MOST_AXES];
    for (int axis = 0; axis < result->rank; ++axis) dimensions[axis] = (npy_intp)extents[axis];
    Py_INCREF(result->dtype);
    return PyArray_NewFromDescr(&PyArray_Type, result->dtype, result->rank, dimensions, NULL, NULL, 0, NULL);
}

static void drop(PyObject **arrays, Py_ssize_t count)
{
    for (Py_ssize_t k = 0; k < count; ++k) Py_XDECREF(arrays[k]);
}

enum { RAISED = -101, MISFIT = -102 }; /* no function has such a status */

/*
 * Run the compiled function.  Results go to `arrays` (new ones where there are none) and `numbers`.  Gives its status,
 * RAISED with an exception set, or MISFIT when an array that is given cannot hold its result.
 */
static int run(Call *call, Cell *cells, PyObject **arrays, Number *numbers, int64_t *detail)
{
    int64_t sizes[MOST + 1];
    int64_t *extents = sizes + 1;
    PyObject *workspace = NULL;
    void *work = NULL;
    int status;
    sizes[0] = 0;
    if (call->measured) {
        Py_BEGIN_ALLOW_THREADS
        call->sizes(cells, sizes);
        Py_END_ALLOW_THREADS
    }
    for (Py_ssize_t k = 0; k < call->result_count; ++k) {
        const Result *result = &call->results[k];
        void **where = &cells[call->first_result + k].pointer;
        if (result->dtype == NULL) {
            *where = &numbers[k];
            continue;
        }
        if (arrays[k] == NULL) {
            if ((arrays[k] = new_array(result, extents)) == NULL) return RAISED;
        } else if (!fits(result, arrays[k], extents))
            return MISFIT;
        *where = PyArray_DATA((PyArrayObject *)arrays[k]);
        extents += result->rank;
    }
    if (sizes[0] != 0) {
        if ((workspace = take_workspace(call, (npy_intp)sizes[0])) == NULL) return RAISED;
        work = aligned(workspace);
    }
    Py_BEGIN_ALLOW_THREADS
    status = call->function(cells, work, detail);
    Py_END_ALLOW_THREADS
    if (workspace != NULL) give_workspace(call, workspace);
    return status;
}

/* What Python makes of a status that is not 0. */
static PyObject *settle(PyObject *failed, int status, const int64_t *detail, PyObject *const *arguments,
                        Py_ssize_t count)
{
    PyObject *passed[MOST + 2];
    passed[0] = PyLong_FromLong(status);
    passed[1] = Py_BuildValue("(LLLL)", (long long)detail[0], (long long)detail[1], (long long)detail[2],
                              (long long)detail[3]);
    for (Py_ssize_t k = 0; k < count; ++k) passed[2 + k] = arguments[k];
    PyObject *found = passed[0] && passed[1] ? PyObject_Vectorcall(failed, passed, (size_t)count + 2, NULL) : NULL;
    Py_XDECREF(passed[0]);
    Py_XDECREF(passed[1]);
    return found;
}

static PyObject *number(Element element, const Number *value)
{
    switch (element) {
    case F64: return PyFloat_FromDouble(value->f64);
    case F32: return PyFloat_FromDouble((double)value->f32);
    case BOOLEAN: return PyBool_FromLong(value->boolean);
    case I64: return PyLong_FromLongLong(value->i64);
    case I32: return PyLong_FromLong(value->i32);
    case I16: return PyLong_FromLong(value->i16);
    case I8: return PyLong_FromLong(value->i8);
    case U32: return PyLong_FromLongLong(value->u32);
    case U16: return PyLong_FromLong(value->u16);
    default: return PyLong_FromLong(value->u8);
    }
}

/* A tuple, a NamedTuple (which is made as `tuple.__new__` makes it), or a list of items, whose references it takes. */
static PyObject *sequence(const Step *step, PyObject **items)
{
    PyTypeObject *type = (PyTypeObject *)step->object;
    PyObject *made = step->way == LIST    ? PyList_New(step->count)
                     : step->way == NAMED ? type->tp_alloc(type, step->count)
                                          : PyTuple_New(step->count);
    if (made == NULL) {
        drop(items, step->count);
        return NULL;
    }
    for (Py_ssize_t k = 0; k < step->count; ++k) {
        if (step->way == LIST)
            PyList_SET_ITEM(made, k, items[k]);
        else
            PyTuple_SET_ITEM(made, k, items[k]);
    }
    return made;
}

static PyObject *dictionary(const Step *step, PyObject **items)
{
    PyObject *made = PyDict_New();
    for (Py_ssize_t k = 0; made != NULL && k < step->count; ++k)
        if (PyDict_SetItem(made, PyTuple_GET_ITEM(step->object, k), items[k]) < 0) Py_CLEAR(made);
    drop(items, step->count);
    return made;
}

static PyObject *applied(const Step *step, PyObject **items)
{
    PyObject *made = PyObject_Vectorcall(step->object, items, (size_t)step->count, NULL);
    drop(items, step->count);
    return made;
}

/* What Python sees.  Raises what making it raises. */
static PyObject *build(const Plan *plan, const Call *call, PyObject *const *arrays, Number *numbers)
{
    PyObject *stack[MOST];
    Py_ssize_t depth = 0;
    for (const Step *step = plan->steps; step < plan->steps + plan->count; ++step) {
        PyObject *made = NULL;
        switch (step->way) {
        case ARRAY: made = Py_NewRef(arrays[step->count]); break;
        case NUMBER: made = number(call->results[step->count].element, &numbers[step->count]); break;
        case SCALAR: made = PyArray_Scalar(&numbers[step->count], (PyArray_Descr *)step->object, NULL); break;
        case CONSTANT: made = Py_NewRef(step->object); break;
        case TUPLE:
        case LIST:
        case NAMED: made = sequence(step, stack + (depth -= step->count)); break;
        case DICT: made = dictionary(step, stack + (depth -= step->count)); break;
        case APPLY: made = applied(step, stack + (depth -= step->count)); break;
        }
        if (made == NULL) {
            drop(stack, depth);
            return NULL;
        }
        stack[depth++] = made;
    }
    return stack[0];
}

#endif
