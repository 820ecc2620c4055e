"""The rows that define the IR itself: constants, memory, control flow, checks, stacks.

Elementwise operations are rows of `adgen.ops`; these here are the ones that every pass must know.

| row | operands | attributes | results |
|---|---|---|---|
| `const` | | `value` | a scalar |
| `table` | | `data` (a read-only NumPy array) | a constant buffer, never written |
| `tap` | extents | `element`, `name` | zero, or a buffer of zeros that is never written |
| `alloc` | extents | `element`, `zero` (False: contents unspecified) | a fresh buffer at every execution |
| `reshape` | buffer, extents | | the same memory with other extents; the extents have the same product |
| `dim` | buffer | `axis` | an extent |
| `load` | buffer, indices | | an element |
| `store` | buffer, value, indices | | |
| `accumulate` | buffer, value, indices | | adds to an element, a float or an `i64` |
| `check` | condition, at most four details | `exception`, `message` | raises when the condition is false |
| `for` | start, stop, carried | `step` (nonzero int), `exit` | the carried values after the last iteration |
| `while` | carried | | the carried values when the condition is first false |
| `if` | condition | | what the taken region yields |
| `stack`, `push`, `pop` | | `element` | |
| `call` | scalars | `callee` (its name), `types` (of the results) | what the callee returns |
| `contract` | target, left, right, factor, rows, columns, depth, indices of the first element of each | `axes` | |
| `swap` | two buffers | | they exchange their contents |
| `add_up` | target, parts | | adds to each element of the target the sum of its row of parts |
| `kink` | a distance, numbers to show | `operation`, `says` | |
| `custom` | inputs, outputs | `outputs` (how many), `types` (of the results), callees | what the region yields |
| `external` | inputs, outputs | `outputs` (how many), `types` (of the results), `external` (what runs) | its results |
| `unknown` | scalars | `type` | any number of the type |

`for`: the region takes the index and the carried values and yields the next carried values; with `exit` it first
yields a `bool`, and the loop ends after an iteration that yields False; `unordered` allows its sums to be taken in any
order, and one in memory to begin with its first term instead of zero; `simd` says that its iterations do not depend on
each other otherwise, `abreast` that they are so many directions of a derivative, `parallel` that so many threads may
share them.  `while`: region 0 takes the carried values and yields a `bool`, region 1 takes them and yields the next.
Only scalars are carried or yielded by regions.
`call`: runs a function of `Function.callees`, which takes and gives scalars alone.  It touches no memory of the
caller's and gives the same for the same operands, but may raise.
`contract`: for every i below `rows` and j below `columns` adds to the target the sum over l below `depth` of factor *
left * right.  `axes` are six axes: those of the target that i and j count along, those of the left one for i and l,
those of the right one for l and j; of each pair one is the last axis.  The target is none of the others.  A product of
matrices is made one as the last thing before emission: no other pass meets it.
`swap`: the buffers are made by `alloc` in the region around a `for`, of equal extents, and it stands in the region of
that loop itself.  A copy is made one as the last thing before emission, which exchanges pointers: no other pass meets
it.
`custom`: runs its region once; what is special is its derivative.  The region depends on the inputs (scalars and whole
buffers) alone, fills the outputs (the last operands, buffers) and yields the results.  `vjp` names a callee that takes
the inputs, the results, the outputs and a cotangent of each floating-point result and output, and gives a cotangent of
each floating-point input, which is zero for the last `kept` inputs; `jvp` one that takes tangents of the inputs in
place of the cotangents and gives tangents of the results and outputs.  One of the two may be empty: both are linear,
and each is the other's transpose.  Instead of both, `residual` may name a callee that takes the inputs, the results and
the output and gives what is zero there: a number for the first result, which is the only one with a derivative, or a
vector for the only output, and then `solve` names a callee that solves linear systems.
A `custom` operation with `external`, an `ops.foreign.ForeignFunction`, runs a C function on its inputs and outputs; its
region says what that may read and write, of `unknown` numbers, and it has no rules.  The last thing before emission
makes an `external` operation of it, which no other pass meets.
`add_up`: the parts have one more axis than the target, and the sum is over that, in a fixed order.  It is made as the
last thing before emission for a device, as the attributes `grid`, `order` and `atomic` are (`passes.grids`).
`kink`: what is composed of several operations has no derivative where the distance is zero; `says` is what it is taken
to be.  Without operands: it has one everywhere.  It is made for `passes.kinks` alone, and no other pass meets it.
`tap`: what a value is shifted by so that there is a derivative for it, at the top level of the body.
Indices and extents are `i64`; indices are in range and not negative: whoever makes a `load` has made the `check`.
"""

from __future__ import annotations

from adgen.ir.nodes import Attributes, Operation, Row, Value
from adgen.ir.types import BOOL, I64, Buffer, Scalar, Stack, Type, is_float, parse_type


def _fail(message: str) -> TypeError:
    return TypeError(message)


def _element(attributes: Attributes) -> Scalar:
    kind = parse_type(attributes["element"])
    if not isinstance(kind, Scalar):
        raise _fail("the element of a buffer must be a scalar type")
    return kind


def _integers(types: tuple[Type, ...]) -> None:
    for kind in types:
        if kind is not I64 and kind != I64:
            raise _fail("indices and extents must be i64")


def _buffer(types: tuple[Type, ...]) -> Buffer:
    if not types or not isinstance(types[0], Buffer):
        raise _fail("the first operand must be a buffer")
    return types[0]


def _stack(types: tuple[Type, ...]) -> Stack:
    if not types or not isinstance(types[0], Stack):
        raise _fail("the first operand must be a stack")
    return types[0]


def _const(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    return (parse_type(attributes["type"]),)


def _table(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    return (Buffer(_element(attributes), attributes["data"].ndim),)


def _alloc(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    _integers(types)
    return (Buffer(_element(attributes), len(types)),)


def _tap(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    _integers(types)
    if not isinstance(attributes["name"], str):
        raise _fail("the name is text")
    return (Buffer(_element(attributes), len(types)) if types else _element(attributes),)


def _reshape(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    _integers(types[1:])
    return (Buffer(_buffer(types).element, len(types) - 1),)


def _dim(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    if not 0 <= attributes["axis"] < _buffer(types).rank:
        raise _fail("no such axis")
    return (I64,)


def _load(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    buffer = _buffer(types)
    _integers(types[1:])
    if len(types) - 1 != buffer.rank:
        raise _fail("one index per axis is needed")
    return (buffer.element,)


def _store(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    buffer = _buffer(types)
    _integers(types[2:])
    if len(types) - 2 != buffer.rank:
        raise _fail("one index per axis is needed")
    if types[1] != buffer.element:
        raise _fail(f"a {types[1]} does not fit into a buffer of {buffer.element}")
    return ()


def _accumulate(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    element = _buffer(types).element
    if element == BOOL or element.is_narrow:
        raise _fail(f"a {element} has no sum")
    return _store(types, attributes)


def _check(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    if not types or types[0] != BOOL:
        raise _fail("the condition must be bool")
    _integers(types[1:])
    if not isinstance(attributes["exception"], str) or not isinstance(attributes["message"], str):
        raise _fail("exception and message must be text")
    return ()


def _for(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    _integers(types[:2])
    if len(types) < 2 or not isinstance(attributes["step"], int) or attributes["step"] == 0:
        raise _fail("a loop needs start, stop and a nonzero step")
    return types[2:]


def _while(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    return types


def _if(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    if types != (BOOL,):
        raise _fail("the condition must be bool")
    return tuple(parse_type(text) for text in attributes.get("types", ()))


def _new_stack(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    return (Stack(_element(attributes)),)


def _push(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    if len(types) != 2 or types[1] != _stack(types).element:
        raise _fail("a stack takes values of its own element type")
    return ()


def _pop(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    return (_stack(types).element,)


def _call(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    results = tuple(parse_type(text) for text in attributes["types"])
    if not isinstance(attributes["callee"], str):
        raise _fail("the callee is a name")
    if not all(isinstance(kind, Scalar) for kind in (*types, *results)):
        raise _fail("a call takes and gives scalars")
    return results


def _contract(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    buffers = types[:3]
    ranks = [kind.rank if isinstance(kind, Buffer) else 0 for kind in buffers]
    if len({kind.element if isinstance(kind, Buffer) else None for kind in buffers} | set(types[3:4])) != 1:
        raise _fail("a target, a left and a right buffer and a factor of one type are needed")
    _integers(types[4:])
    if len(types) != 7 + sum(ranks):
        raise _fail("three extents and one index per axis are needed")
    pairs = zip(attributes["axes"][::2], attributes["axes"][1::2])
    if not all(rank - 1 in pair and min(pair) >= 0 and len(set(pair)) == 2 for rank, pair in zip(ranks, pairs)):
        raise _fail("two axes of each buffer are needed, and one of them is the last")
    return ()


def _custom(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    count = attributes["outputs"]
    if not isinstance(count, int) or not all(isinstance(kind, Buffer) for kind in types[len(types) - count :]):
        raise _fail("the outputs are the last operands, and buffers")
    rules = attributes["vjp"], attributes["jvp"], attributes.get("residual", "")
    if not all(isinstance(name, str) for name in rules) or any(rules) == ("external" in attributes):
        raise _fail("a rule is the name of a callee, or empty for one of the two, or for both of a C function")
    return tuple(parse_type(text) for text in attributes["types"])


def _external(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    return tuple(parse_type(text) for text in attributes["types"])


def _swap(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    if len(types) != 2 or _buffer(types) != types[1]:
        raise _fail("two buffers of one type are needed")
    return ()


def _add_up(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    target = _buffer(types)
    if types[1:] != (Buffer(target.element, target.rank + 1),):
        raise _fail("the parts are a buffer of the same elements with one more axis")
    return ()


def _kink(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    if not all(isinstance(kind, Scalar) for kind in types) or (types and not is_float(types[0])):
        raise _fail("a distance is a floating-point number")
    if not isinstance(attributes["operation"], str) or not isinstance(attributes["says"], str):
        raise _fail("operation and says must be text")
    return ()


CONST = Row("const", _const, pure=True)
TABLE = Row("table", _table, pure=True)
ALLOC = Row("alloc", _alloc)
TAP = Row("tap", _tap, pure=True)
RESHAPE = Row("reshape", _reshape, pure=True)
DIM = Row("dim", _dim, pure=True)
LOAD = Row("load", _load)
STORE = Row("store", _store)
ACCUMULATE = Row("accumulate", _accumulate)
CHECK = Row("check", _check)
FOR = Row("for", _for)
WHILE = Row("while", _while)
IF = Row("if", _if)
STACK = Row("stack", _new_stack)
PUSH = Row("push", _push)
POP = Row("pop", _pop)
CALL = Row("call", _call)
CONTRACT = Row("contract", _contract)
CUSTOM = Row("custom", _custom)
EXTERNAL = Row("external", _external)
UNKNOWN = Row("unknown", _const)
KINK = Row("kink", _kink)
SWAP = Row("swap", _swap)
ADD_UP = Row("add_up", _add_up)

CORE_ROWS = (
    CONST, TABLE, TAP, ALLOC, RESHAPE, DIM, LOAD, STORE, ACCUMULATE, CHECK, FOR, WHILE, IF, STACK, PUSH, POP, CALL,
    CONTRACT, CUSTOM, EXTERNAL, UNKNOWN, KINK, SWAP, ADD_UP,
)  # fmt: skip


LOOPS = (FOR, WHILE)
ACCESSES = {LOAD: 1, STORE: 2, ACCUMULATE: 2}  # where the indices start
WRITES = (STORE, ACCUMULATE, CONTRACT, ADD_UP)  # into the first operand
OWNERS = (*LOOPS, IF, CUSTOM)  # of regions


def indices_of(access: Operation) -> tuple[Value, ...]:
    """The indices of a `load`, a `store` or an `accumulate`."""
    return access.operands[ACCESSES[access.row] :]


def writes_of(operation: Operation) -> tuple[Value, ...]:
    """The buffers that an operation without regions writes into."""
    if operation.row is EXTERNAL:
        return outputs_of(operation)
    if operation.row is SWAP:
        return operation.operands
    return operation.operands[:1] if operation.row in WRITES else ()


def inputs_of(custom: Operation) -> tuple[Value, ...]:
    """What a `custom` operation takes."""
    return custom.operands[: len(custom.operands) - custom.attributes["outputs"]]


def outputs_of(custom: Operation) -> tuple[Value, ...]:
    """The buffers that a `custom` operation fills."""
    return custom.operands[len(custom.operands) - custom.attributes["outputs"] :]


def known_to_rules(custom: Operation) -> tuple[Value, ...]:
    """What every rule of a `custom` operation is given first: the inputs, the results and the outputs."""
    return (*inputs_of(custom), *custom.results, *outputs_of(custom))


def moving(custom: Operation) -> list[Value]:
    """The inputs of a `custom` operation that can carry a derivative."""
    return [value for value in inputs_of(custom) if is_float(value.type)]


def moved(custom: Operation) -> list[Value]:
    """The results and outputs of a `custom` operation that can carry a derivative."""
    return [value for value in (*custom.results, *outputs_of(custom)) if is_float(value.type)]
