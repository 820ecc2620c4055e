"""Calls: Python functions are lowered in place, known functions become operations, everything else is refused."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import (
    arrays,
    builtin,
    comprehensions,
    evaluate,
    filling,
    foreign,
    inline,
    instances,
    memory,
    nested,
    operators,
    reductions,
    refuse,
    scalars,
)
from adgen.frontend import text as text_
from adgen.frontend.arrays import ufuncs
from adgen.frontend.choices import each
from adgen.frontend.context import Frame
from adgen.frontend.library import distribution_names as _distribution_names  # noqa: F401 - what it registers
from adgen.frontend.library import flow_names as _flow_names  # noqa: F401 - what it registers
from adgen.frontend.library import hook_names as _hook_names  # noqa: F401 - what it registers
from adgen.frontend.library import integral_names as _integral_names  # noqa: F401 - what it registers
from adgen.frontend.library import names as _names  # noqa: F401 - what it registers
from adgen.frontend.library import numpy_names as _numpy_names  # noqa: F401 - what it registers
from adgen.frontend.library import root_names as _root_names  # noqa: F401 - what it registers
from adgen.frontend.library import solver_names as _solver_names  # noqa: F401 - what it registers
from adgen.frontend.library import spline_names as _spline_names  # noqa: F401 - what it registers
from adgen.frontend.library.arrays import vectorized
from adgen.frontend.rules import in_force, rules_of
from adgen.frontend.source import call_method, python_function
from adgen.frontend.values import (
    NUMERIC_TYPES,
    Choice,
    Closure,
    Deferred,
    Dynamic,
    Generator,
    Method,
    Text,
    describe,
    is_iterator,
    is_number,
    is_static,
)
from adgen.frontend.values import Sequence as RunTimeList

if TYPE_CHECKING:
    from adgen.frontend.context import Context

TRUSTED = {
    "builtins", "math", "cmath", "operator", "_operator", "numpy", "scipy", "itertools", "functools", "collections",
    "fractions", "decimal", "string", "re", "copy", "dataclasses", "typing", "numbers", "statistics", "types", "enum",
    "_functools", "_collections", "warnings", "contextlib", "inspect", "logging", "abc", "_abc",
}  # fmt: skip
MUTATORS: dict[type, set[str]] = {
    list: {"append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort", "__setitem__", "__delitem__"},
    dict: {"update", "pop", "popitem", "setdefault", "clear", "__setitem__", "__delitem__"},
    set: {"add", "update", "discard", "remove", "pop", "clear"},
}
BY_VALUE = {"index", "count", "remove", "sort"}


def call_node(ctx: Context, node: ast.Call) -> Any:
    """A call expression."""
    callee = evaluate.expression(ctx, node.func)
    text = ast.unparse(node.func)
    ctx.place(node)
    if not isinstance(callee, Closure | Method):
        refuse.function(ctx, callee, text)
    args, kwargs = arguments(ctx, node)
    ctx.place(node)
    return call(ctx, callee, args, kwargs, text)


def arguments(ctx: Context, node: ast.Call, settle: bool = False) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call expression, by position and by name."""
    args = evaluate.items(ctx, node.args, settle=settle)
    keywords: dict[str, Any] = {}
    for keyword in node.keywords:
        value = evaluate.expression(ctx, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = operators.secure(ctx, value)
        elif isinstance(value, dict):
            keywords.update({str(name): item for name, item in value.items()})
        else:
            ctx.fail("AD305", f"`**` needs a dict, not {describe(value)}")
    return args, keywords


def may_write(ctx: Context, node: ast.expr) -> bool:
    """True when evaluating the expression may run user code that changes an array."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.NamedExpr):
            return True
        if isinstance(inner, ast.Call):
            root = inner.func
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and not _harmless(ctx, root.id):
                return True
    return False


def _harmless(ctx: Context, name: str) -> bool:
    frame: Frame | None = ctx.frame
    while frame is not None:
        if name in frame.code.locals:
            return isinstance(frame.names.get(name), Dynamic)
        if name in frame.cells:
            return False
        frame = frame.parent
    value = ctx.frame.code.module.get(name)
    return value is None or isinstance(value, types.ModuleType | types.BuiltinFunctionType | np.ufunc | type)


def call(ctx: Context, callee: Any, args: list[Any], kwargs: dict[str, Any], text: str = "") -> Any:
    """Call any value."""
    if isinstance(callee, Choice):
        return each(ctx, callee, lambda candidate: call(ctx, candidate, args, kwargs, text))
    if not _binds(callee):
        for key, value in [*enumerate(args), *kwargs.items()]:
            if isinstance(value, Choice):
                return each(ctx, value, functools.partial(_called_with, ctx, callee, args, kwargs, text, key))
    text = text or getattr(callee, "__name__", str(callee))
    if isinstance(callee, Closure):
        code = evaluate.code_of_closure(callee)
        names = inline.bind(ctx, callee.node.args, callee.name, args, kwargs, callee.defaults, callee.keyword_defaults)
        return inline.inline(ctx, code, names, callee.frame, {})
    if isinstance(callee, Method):
        return expand(ctx, functools.partial(_method, callee), args, kwargs, callee)
    if isinstance(callee, functools.partial):
        return call(ctx, callee.func, [*callee.args, *args], {**callee.keywords, **kwargs}, text)
    if isinstance(callee, np.vectorize):
        if callee.otypes is not None or callee.excluded or callee.signature is not None:
            ctx.fail("AD234", f"`{text}`: options of `np.vectorize` are not supported", "vectorise the function alone")
        return call(ctx, vectorized, [callee.pyfunc, *args], kwargs, text)
    if isinstance(callee, Deferred):
        return call(ctx, callee.closure, args, kwargs, text)
    if isinstance(callee, foreign.External):
        return foreign.call(ctx, callee, args, kwargs)
    if isinstance(callee, foreign.Primitive):
        return foreign.apply(ctx, callee, args)
    rules = rules_of(callee)
    if rules is not None and not in_force(rules):
        return call(ctx, callee.__wrapped__, args, kwargs, text)
    if rules is not None and (rules.vjp or rules.jvp):
        from adgen.frontend import custom

        return custom.call(ctx, callee, rules, args, kwargs)
    operator = nested.operator_of(callee)
    if operator is not None:
        return nested.call(ctx, callee, operator, args, kwargs)
    if nested.makes_operator(callee):
        return nested.make(ctx, callee, args, kwargs, text)
    refuse.function(ctx, callee, text)
    rule = builtin.rule(callee)
    if rule is not None:
        return expand(ctx, rule, args, kwargs, callee)
    if isinstance(callee, types.MethodType) and _of_named_tuple(callee.__self__, callee.__name__):
        return scalars.static(ctx, callee, *args, **kwargs)
    if isinstance(callee, types.MethodType) and arrays.function(callee) is None:
        return call(ctx, callee.__func__, [callee.__self__, *args], kwargs, text)
    if _trusted(callee):
        args = [comprehensions.spread(ctx, x) if is_iterator(x) else x for x in args]
    if isinstance(callee, type) and callee.__module__.partition(".")[0] == "scipy":
        if not is_static([args, list(kwargs.values())]):
            ctx.fail("AD201", f"`{text}` of what is not known when compiling is not supported", "make it outside")
        return scalars.static(ctx, callee, *args, **kwargs)
    if isinstance(callee, type):
        return instances.construct(ctx, callee, args, kwargs, text)
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, list | dict | set | tuple | str):
        return _container_method(ctx, owner, callee, args, kwargs)
    found, result = known(ctx, callee, args, kwargs)
    if found:
        return result
    function = None if _of_library(callee) else python_function(callee)
    if function is not None:
        return inline.call_function(ctx, function, args, kwargs)
    if is_static([args, list(kwargs.values())]) and _trusted(callee):
        return comprehensions.adopt(ctx, scalars.static(ctx, callee, *args, **kwargs))
    inner = None if _of_library(callee) else call_method(callee)
    if inner is not None and not isinstance(callee, Dynamic):
        return inline.call_function(ctx, inner, [callee, *args], kwargs)
    if not callable(callee):
        ctx.fail("AD323", f"{describe(callee)} is not callable", raises=TypeError)
    _blame(ctx, args)
    refuse.unknown(ctx, callee, text)


def _binds(callee: Any) -> bool:
    """True for what gives its arguments names, so that they may be choices."""
    if isinstance(callee, Closure | functools.partial | Deferred):
        return True
    if isinstance(callee, type):
        plain = isinstance(getattr(callee, "__init__"), types.FunctionType)  # noqa: B009 - of the class
        return plain or dataclasses.is_dataclass(callee) or hasattr(callee, "_fields")
    function = callee.__func__ if isinstance(callee, types.MethodType) else callee
    if not isinstance(function, types.FunctionType) or _of_library(function) or builtin.rule(function) is not None:
        return False
    return rules_of(function) is None and nested.operator_of(function) is None and not nested.makes_operator(function)


def _called_with(
    ctx: Context, callee: Any, args: list[Any], kwargs: dict[str, Any], text: str, key: Any, value: Any
) -> Any:
    """The call with one argument in the place of another."""
    if isinstance(key, str):
        return call(ctx, callee, args, {**kwargs, key: value}, text)
    return call(ctx, callee, [*args[:key], value, *args[key + 1 :]], kwargs, text)


def _method(method: Method, ctx: Context, *args: Any, **kwargs: Any) -> Any:
    return method.function(ctx, method.owner, *args, **kwargs)


def _blame(ctx: Context, values: Sequence[Any]) -> None:
    if ctx.inference is not None:
        ctx.inference.blame(ctx, values)


def expand(ctx: Context, rule: Any, args: Sequence[Any], kwargs: Mapping[str, Any], callee: Any) -> Any:
    """Apply a rule of adgen; wrong arguments are a diagnostic of the user's call."""
    name = callee.name if isinstance(callee, Method) else getattr(callee, "__name__", str(callee))
    try:
        inspect.signature(rule).bind(ctx, *args, **kwargs)
    except TypeError as error:
        ctx.fail("AD324", f"`{name}`: {error}", "this argument is not supported")
    if ctx.inference is None:
        return rule(ctx, *args, **kwargs)
    owner = [callee.owner] if isinstance(callee, Method) else []
    with ctx.inference.blaming(ctx, [*owner, *args]):
        return rule(ctx, *args, **kwargs)


def known(ctx: Context, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> tuple[bool, Any]:
    """Functions of numbers and arrays.  The first result says whether the callee is one."""
    try:
        hash(callee)
    except TypeError:
        return False, None
    expansion = arrays.function(callee)
    scalar = scalars.supported(callee)
    if expansion is None and not scalar:
        return False, None
    args = [array_argument(ctx, callee, x) for x in args]
    kwargs = {name: array_argument(ctx, callee, x) for name, x in kwargs.items()}
    if isinstance(callee, np.ufunc):
        to = ufuncs.destination(ctx, callee, args, kwargs)
        args, kwargs = ufuncs.operands(ctx, callee, args, kwargs, to)
        return True, to.receive(ctx, lambda: _apply(ctx, callee, expansion, scalar, args, kwargs))
    return True, _apply(ctx, callee, expansion, scalar, args, kwargs)


def _apply(ctx: Context, callee: Any, expansion: Any, scalar: bool, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A function of the table or an expansion called with numbers and arrays."""
    if not scalar and arrays.static_only(callee) and is_static([args, list(kwargs.values())]):
        return scalars.static(ctx, callee, *args, **kwargs)
    if ctx.inference is not None:
        ctx.inference.before_call(ctx, callee, args)
    many = any(memory.is_array(x) or (isinstance(x, tuple | list) and x) for x in (*args, *kwargs.values()))
    if scalar and not many and not (kwargs and expansion is not None):
        if not all(is_number(x) or x is None for x in (*args, *kwargs.values())):
            bad = next(x for x in (*args, *kwargs.values()) if not is_number(x) and x is not None)
            certain = TypeError if callee.__module__ == "math" and isinstance(bad, str) else None
            what = getattr(callee, "__name__", callee)
            ctx.fail("AD302", f"`{what}` is not defined for {describe(bad)}", raises=certain)
        return _scalar_call(ctx, callee, args, kwargs)
    if expansion is not None:
        return expand(ctx, expansion, args, kwargs, callee)
    if kwargs:
        ctx.fail("AD324", f"`{callee.__name__}` with `{next(iter(kwargs))}=` is not supported for arrays")
    operands = [arrays.from_nested(ctx, x) if isinstance(x, tuple | list) else x for x in args]
    return expand(ctx, elementwise_rule(callee), operands, {}, callee)


def elementwise_rule(callee: Any) -> Callable[..., Any]:
    """The rule that applies a scalar function to every element."""

    def rule(ctx: Context, *operands: Any) -> Any:
        return arrays.elementwise(ctx, callee, list(operands))

    return rule


def _scalar_call(ctx: Context, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if kwargs:
        from adgen.frontend import composites

        rule = composites.rule(ctx, callee, [*args, *kwargs.values()])
        if rule is not None:
            return expand(ctx, rule, args, kwargs, callee)
        if is_static([args, list(kwargs.values())]):
            return scalars.static(ctx, callee, *args, **kwargs)
        ctx.fail("AD324", f"`{callee.__name__}` with `{next(iter(kwargs))}=` is not supported")
    if all(isinstance(x, NUMERIC_TYPES) for x in args):
        return scalars.static(ctx, callee, *args)
    return scalars.apply(ctx, callee, *args)


def array_argument(ctx: Context, callee: Any, value: Any) -> Any:
    """An argument of a NumPy function: NumPy arrays of module level and run-time lists become arrays."""
    if isinstance(value, np.ndarray):
        return memory.wrap(ctx, value) if value.ndim else value[()]
    if isinstance(value, RunTimeList):
        return value.array
    if isinstance(value, Generator):
        return ctx.own(comprehensions.spread(ctx, value))
    if isinstance(value, tuple | list) and any(
        isinstance(item, np.ndarray | RunTimeList | tuple | list) for item in value
    ):
        return (
            type(value)([array_argument(ctx, callee, item) for item in value])
            if type(value) in (list, tuple)
            else value
        )
    return value


def _of_named_tuple(owner: Any, name: str) -> bool:
    """`_replace`, `_asdict`, `_make`: they move items about, whatever the items are."""
    kind = owner if isinstance(owner, type) else type(owner)
    return name in ("_replace", "_asdict", "_make") and issubclass(kind, tuple) and hasattr(kind, "_fields")


def _of_library(callee: Any) -> bool:
    """True for NumPy's and SciPy's own functions, whose insides are not meant to be lowered."""
    module = str(getattr(callee, "__module__", None) or "") + "." + str(type(callee).__module__)
    return any(part.partition(".")[0] in ("numpy", "scipy") for part in (module, str(type(callee).__module__)))


def _trusted(callee: Any) -> bool:
    module = str(getattr(callee, "__module__", None) or getattr(type(callee), "__module__", ""))
    owner = getattr(callee, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        module = str(type(owner).__module__) if not isinstance(owner, type) else str(owner.__module__)
    return module.partition(".")[0] in TRUSTED


def _container_method(ctx: Context, owner: Any, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    name = callee.__name__
    if name == "append" and id(owner) in ctx.filled:
        filling.appended(ctx, owner, *args)
        return None
    if name in MUTATORS.get(type(owner), set()):
        operators.own_check(ctx, owner)
    if isinstance(owner, str):
        if name == "join":
            parts = comprehensions.spread(ctx, args[0])
            if any(isinstance(part, Text) for part in parts):
                return text_.interleaved(owner, parts)
            return scalars.static(ctx, owner.join, parts)
        if name == "format" and not is_static([args, kwargs]):
            return Text(owner)
        return ctx.own(scalars.static(ctx, callee, *args, **kwargs))
    if isinstance(owner, list) and name == "sort" and not is_static(owner):
        owner[:] = reductions.make_sorted(ctx, list(owner), *args, **kwargs)
        return None
    if isinstance(owner, list | tuple) and name == "index" and len(args) == 1 and not is_static([owner, args]):
        return reductions.position(ctx, owner, args[0])
    if isinstance(owner, list | tuple) and name == "count" and len(args) == 1 and not is_static([owner, args]):
        return reductions.occurrences(ctx, owner, args[0])
    if name in BY_VALUE and not (is_static(owner) and is_static(args)):
        ctx.fail("AD230", f"`.{name}` of run-time values is not supported", "use an array and a loop")
    if isinstance(owner, dict) and args and not is_static(args[0]) and not isinstance(args[0], dict):
        ctx.fail_dynamic("AD222", "the key of a dict must be known when compiling")
    args = [comprehensions.spread(ctx, x) if is_iterator(x) or name == "extend" else x for x in args]
    args = [operators.secure(ctx, x) for x in args]
    return ctx.own(scalars.static(ctx, callee, *args, **kwargs))
