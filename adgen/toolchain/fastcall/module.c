/*
 * Calls of compiled functions without a detour: what `adgen.runtime.fastcalls` makes its calls from.
 *
 * A Call checks exactly that its arguments are of the plain kind, gives everything else to Python (`otherwise`,
 * `failed`), and runs the compiled function with the GIL released.  A Bound is a Call whose arguments and results stay.
 */
#include "describe.h"
#include "results.h"

/* -- a call ------------------------------------------------------------------------------------------------------- */

static PyObject *call_vectorcall(PyObject *self, PyObject *const *arguments, size_t flags, PyObject *keywords)
{
    Call *call = (Call *)self;
    Cell cells[MOST];
    const int plain = keywords == NULL && PyVectorcall_NARGS(flags) == call->parameter_count &&
                      read_arguments(call, arguments, cells);
    if (!plain) {
        PyObject *otherwise = Py_NewRef(call->otherwise); /* it may be replaced while it runs */
        PyObject *found = PyObject_Vectorcall(otherwise, arguments, flags, keywords);
        Py_DECREF(otherwise);
        return found;
    }
    PyObject *arrays[MOST];
    Number numbers[MOST];
    int64_t detail[DETAILS] = {0};
    PyObject *found = NULL;
    if (call->array_count) memset(arrays, 0, (size_t)call->result_count * sizeof *arrays);
    const int status = run(call, cells, arrays, numbers, detail);
    if (status == 0) found = build(&call->plan, call, arrays, numbers);
    if (call->array_count) drop(arrays, call->result_count);
    if (status == 0 || status == RAISED) return found;
    return settle(call->failed, status, detail, arguments, call->parameter_count);
}

/*
 * into(out, *arguments): as a call, with the one result that is an array in `out`.  NotImplemented when anything is not
 * of the plain kind, or other code has to be run: then nothing that lasts has been done.
 */
static PyObject *call_into(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    Call *call = (Call *)self;
    if (count != call->parameter_count + 1) Py_RETURN_NOTIMPLEMENTED;
    Cell cells[MOST];
    PyObject *arrays[MOST], *out = arguments[0], *const *given = arguments + 1;
    Number numbers[MOST];
    int64_t detail[DETAILS] = {0};
    const Result *result = &call->results[call->place];
    const int plain = call->array_count == 1 && !call->written &&
                      read_arguments(call, given, cells) &&
                      is_plain(out, (PyObject *)result->dtype, result->rank, 1);
    if (!plain) Py_RETURN_NOTIMPLEMENTED;
    for (Py_ssize_t k = 0; k < call->parameter_count; ++k)
        if (call->parameters[k].way == ARRAY_GIVEN && meet(out, given[k])) Py_RETURN_NOTIMPLEMENTED;
    memset(arrays, 0, (size_t)call->result_count * sizeof *arrays);
    arrays[call->place] = Py_NewRef(out);
    const int status = run(call, cells, arrays, numbers, detail);
    PyObject *found = status == 0 ? build(&call->plan, call, arrays, numbers) : NULL;
    drop(arrays, call->result_count);
    if (status == 0 || status == RAISED) return found;
    if (status != MISFIT && (found = settle(call->failed, status, detail, given, call->parameter_count)) == NULL)
        return NULL;
    Py_XDECREF(found);
    Py_RETURN_NOTIMPLEMENTED;
}

static int describe_call(Call *call, PyObject *parameters, PyObject *conditions, PyObject *results, PyObject *steps)
{
    Py_ssize_t cells = 0;
    call->parameters = PyMem_Calloc((size_t)PyTuple_GET_SIZE(parameters) + 1, sizeof *call->parameters);
    call->results = PyMem_Calloc((size_t)PyTuple_GET_SIZE(results) + 1, sizeof *call->results);
    call->conditions = PyMem_Calloc((size_t)PyTuple_GET_SIZE(conditions) + 1, sizeof *call->conditions);
    if (!call->parameters || !call->results || !call->conditions) return PyErr_NoMemory(), -1;
    call->parameter_count = PyTuple_GET_SIZE(parameters);
    call->result_count = PyTuple_GET_SIZE(results);
    for (Py_ssize_t k = 0; k < call->parameter_count; ++k) {
        Parameter *parameter = &call->parameters[k];
        if (describe_parameter(PyTuple_GET_ITEM(parameters, k), parameter) < 0) return -1;
        cells += parameter->way == OPTION ? 0 : 1 + parameter->rank;
        call->guarded |= parameter->guarded;
        call->written |= parameter->written;
    }
    call->first_result = cells;
    call->condition_count = PyTuple_GET_SIZE(conditions);
    for (Py_ssize_t k = 0; k < call->condition_count; ++k)
        if (describe_condition(PyTuple_GET_ITEM(conditions, k), &call->conditions[k], cells) < 0) return -1;
    for (Py_ssize_t k = 0; k < call->result_count; ++k) {
        if (describe_result(PyTuple_GET_ITEM(results, k), &call->results[k]) < 0) return -1;
        if (call->results[k].dtype == NULL) continue;
        call->array_count++;
        call->place = k;
        call->extent_count += call->results[k].rank;
    }
    if (cells + call->result_count > MOST || call->extent_count > MOST || call->parameter_count > MOST) {
        PyErr_SetString(PyExc_ValueError, "too many arguments or results");
        return -1;
    }
    return describe_plan(steps, &call->plan, call->result_count);
}

static PyObject *call_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *NAMES[] = {"function", "sizes",  "measured",  "parameters", "conditions", "results",
                            "steps",    "failed", "otherwise", NULL};
    long long function, sizes;
    int measured;
    PyObject *parameters, *conditions, *results, *steps, *failed, *otherwise;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "LLpO!O!O!O!OO", NAMES, &function, &sizes, &measured,
                                     &PyTuple_Type, &parameters, &PyTuple_Type, &conditions, &PyTuple_Type, &results,
                                     &PyTuple_Type, &steps, &failed, &otherwise))
        return NULL;
    Call *call = (Call *)type->tp_alloc(type, 0);
    if (call == NULL) return NULL;
    call->vectorcall = call_vectorcall;
    call->function = (Function)(intptr_t)function;
    call->sizes = (Sizes)(intptr_t)sizes;
    call->measured = measured;
    call->failed = Py_NewRef(failed);
    call->otherwise = Py_NewRef(otherwise);
    if (describe_call(call, parameters, conditions, results, steps) < 0) Py_CLEAR(call);
    return (PyObject *)call;
}

static int visit_plan(const Plan *plan, visitproc visit, void *arg)
{
    for (Py_ssize_t k = 0; k < plan->count; ++k) Py_VISIT(plan->steps[k].object);
    return 0;
}

static int call_traverse(PyObject *self, visitproc visit, void *arg)
{
    const Call *call = (Call *)self;
    for (Py_ssize_t k = 0; k < call->parameter_count; ++k) Py_VISIT(call->parameters[k].object);
    for (Py_ssize_t k = 0; k < call->result_count; ++k) Py_VISIT(call->results[k].dtype);
    Py_VISIT(call->failed);
    Py_VISIT(call->otherwise);
    Py_VISIT(call->workspace);
    return visit_plan(&call->plan, visit, arg);
}

static int call_clear(PyObject *self)
{
    Call *call = (Call *)self;
    for (Py_ssize_t k = 0; k < call->parameter_count; ++k) Py_CLEAR(call->parameters[k].object);
    for (Py_ssize_t k = 0; k < call->result_count; ++k) Py_CLEAR(call->results[k].dtype);
    forget_plan(&call->plan);
    Py_CLEAR(call->failed);
    Py_CLEAR(call->otherwise);
    Py_CLEAR(call->workspace);
    return 0;
}

static void call_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    call_clear(self);
    PyMem_Free(((Call *)self)->parameters);
    PyMem_Free(((Call *)self)->results);
    PyMem_Free(((Call *)self)->conditions);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef CALL_METHODS[] = {
    {"into", (PyCFunction)(void (*)(void))call_into, METH_FASTCALL, "A call whose array goes into the first argument."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef CALL_MEMBERS[] = {
    {"otherwise", T_OBJECT_EX, offsetof(Call, otherwise), 0, "what is called when arguments are not of the plain kind"},
    {NULL, 0, 0, 0, NULL},
};

static PyTypeObject CallType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "_adgen_calls.Call",
    .tp_basicsize = sizeof(Call),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_doc = "A compiled function, ready to be called.",
    .tp_vectorcall_offset = offsetof(Call, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = call_new,
    .tp_members = CALL_MEMBERS,
    .tp_methods = CALL_METHODS,
    .tp_traverse = call_traverse,
    .tp_clear = call_clear,
    .tp_dealloc = call_dealloc,
};

/* -- a call with fixed arguments and results ---------------------------------------------------------------------- */

/* The arrays that results go to, NULL where there is none yet; gives how many are missing. */
static int outputs_of(const Bound *bound, PyObject **arrays)
{
    int missing = 0;
    for (Py_ssize_t k = 0; k < bound->call->result_count; ++k) {
        arrays[k] = NULL;
        if (bound->call->results[k].dtype == NULL) continue;
        PyObject *output = k < PyList_GET_SIZE(bound->outputs) ? PyList_GET_ITEM(bound->outputs, k) : Py_None;
        if (output == Py_None)
            missing++;
        else
            arrays[k] = Py_NewRef(output);
    }
    return missing;
}

/* True when a result would be written over an argument, or two results over each other: memory can have moved. */
static int entangled(const Bound *bound, PyObject *const *arrays)
{
    const Call *call = bound->call;
    for (Py_ssize_t k = 0; k < call->result_count; ++k) {
        if (arrays[k] == NULL) continue;
        if (!PyArray_CheckExact(arrays[k])) return 1;
        for (Py_ssize_t j = 0; j < call->parameter_count; ++j)
            if (call->parameters[j].way == ARRAY_GIVEN && meet(arrays[k], PyTuple_GET_ITEM(bound->arguments, j)))
                return 1;
        for (Py_ssize_t j = 0; j < k; ++j)
            if (arrays[j] != NULL && meet(arrays[k], arrays[j])) return 1;
    }
    return 0;
}

/* Keep new arrays as where results go from now on, unless another thread was faster; true when they are kept. */
static int keep(const Bound *bound, PyObject *const *arrays)
{
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(bound->outputs); ++k)
        if (arrays[k] != NULL && PyList_GET_ITEM(bound->outputs, k) != Py_None &&
            PyList_GET_ITEM(bound->outputs, k) != arrays[k])
            return 0;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(bound->outputs); ++k)
        if (arrays[k] != NULL) PyList_SetItem(bound->outputs, k, Py_NewRef(arrays[k]));
    return 1;
}

static PyObject *bound_result(Bound *bound, PyObject *const *arrays, Number *numbers, int missing)
{
    if (bound->whole != NULL && !missing) return Py_NewRef(bound->whole);
    const int kept = !missing || keep(bound, arrays);
    PyObject *found = build(&bound->plan, bound->call, arrays, numbers);
    if (found != NULL && kept && bound->plan.lasting) Py_XSETREF(bound->whole, Py_NewRef(found));
    return found;
}

static PyObject *bound_vectorcall(PyObject *self, PyObject *const *given, size_t flags, PyObject *keywords)
{
    (void)given;
    Bound *bound = (Bound *)self;
    Call *call = bound->call;
    PyObject *const *held = &PyTuple_GET_ITEM(bound->arguments, 0);
    Cell cells[MOST];
    PyObject *arrays[MOST], *found = NULL;
    Number numbers[MOST];
    int64_t detail[DETAILS] = {0};
    if (PyVectorcall_NARGS(flags) != 0 || (keywords != NULL && PyTuple_GET_SIZE(keywords) != 0)) {
        PyErr_SetString(PyExc_TypeError, "a bound call takes no arguments: it reads the arrays that it was bound to");
        return NULL;
    }
    if (!read_arguments(call, held, cells)) return PyObject_CallNoArgs(bound->otherwise);
    const int missing = outputs_of(bound, arrays);
    const int status = entangled(bound, arrays) ? MISFIT : run(call, cells, arrays, numbers, detail);
    if (status == 0) found = bound_result(bound, arrays, numbers, missing);
    drop(arrays, call->result_count);
    if (status == 0 || status == RAISED) return found;
    if (status == MISFIT) return PyObject_CallNoArgs(bound->otherwise);
    return settle(bound->failed, status, detail, held, call->parameter_count);
}

static PyObject *bound_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *NAMES[] = {"call", "arguments", "outputs", "steps", "failed", "otherwise", NULL};
    PyObject *call, *held, *outputs, *steps, *failed, *otherwise;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O!O!O!OO", NAMES, &CallType, &call, &PyTuple_Type, &held,
                                     &PyList_Type, &outputs, &PyTuple_Type, &steps, &failed, &otherwise))
        return NULL;
    if (PyTuple_GET_SIZE(held) != ((Call *)call)->parameter_count ||
        PyList_GET_SIZE(outputs) != ((Call *)call)->result_count) {
        PyErr_SetString(PyExc_ValueError, "an argument for each parameter and a place for each result are needed");
        return NULL;
    }
    Bound *bound = (Bound *)type->tp_alloc(type, 0);
    if (bound == NULL) return NULL;
    bound->vectorcall = bound_vectorcall;
    bound->call = (Call *)Py_NewRef(call);
    bound->arguments = Py_NewRef(held);
    bound->outputs = Py_NewRef(outputs);
    bound->failed = Py_NewRef(failed);
    bound->otherwise = Py_NewRef(otherwise);
    if (describe_plan(steps, &bound->plan, bound->call->result_count) < 0) Py_CLEAR(bound);
    return (PyObject *)bound;
}

static int bound_traverse(PyObject *self, visitproc visit, void *arg)
{
    const Bound *bound = (Bound *)self;
    Py_VISIT(bound->call);
    Py_VISIT(bound->arguments);
    Py_VISIT(bound->outputs);
    Py_VISIT(bound->whole);
    Py_VISIT(bound->failed);
    Py_VISIT(bound->otherwise);
    return visit_plan(&bound->plan, visit, arg);
}

static int bound_clear(PyObject *self)
{
    Bound *bound = (Bound *)self;
    Py_CLEAR(bound->call);
    Py_CLEAR(bound->arguments);
    Py_CLEAR(bound->outputs);
    Py_CLEAR(bound->whole);
    Py_CLEAR(bound->failed);
    Py_CLEAR(bound->otherwise);
    forget_plan(&bound->plan);
    return 0;
}

static void bound_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    bound_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyTypeObject BoundType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "_adgen_calls.Bound",
    .tp_basicsize = sizeof(Bound),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_doc = "A compiled function with arguments that it reads and arrays that it writes its results into.",
    .tp_vectorcall_offset = offsetof(Bound, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = bound_new,
    .tp_traverse = bound_traverse,
    .tp_clear = bound_clear,
    .tp_dealloc = bound_dealloc,
};

/* -- the module --------------------------------------------------------------------------------------------------- */

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_adgen_calls", "Calls of compiled functions.", -1, NULL, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__adgen_calls(void)
{
    if (_import_array() < 0) return NULL; /* import_array() would print why */
    PyObject *module = PyModule_Create(&MODULE);
    if (module == NULL) return NULL;
    if (PyModule_AddType(module, &CallType) < 0 || PyModule_AddType(module, &BoundType) < 0 ||
        PyModule_AddIntConstant(module, "LAYOUT", 1) < 0)
        Py_CLEAR(module);
    return module;
}
