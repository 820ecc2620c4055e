"""Compiled code for a function and types of arguments, made once and found again.

Comes in: a function, the types of its arguments, a product.  Goes out: an `Entry`.  Looked for in this process, then in
the store on disk, then compiled.  Guaranteed: what is found was compiled from the same text and from the same values of
everything that the function reads; nothing of the compiler is imported unless something has to be compiled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary, ref

from adgen.diagnostics import AdgenError, render
from adgen.frontend.specs import Shapes, Spec, StaticSpec, fixed, free
from adgen.operators import store
from adgen.operators.parallel import USUAL, Machine
from adgen.runtime.calls import Entry
from adgen.runtime.signatures import specs_key
from adgen.runtime.wrt import Wrt
from adgen.toolchain import fast_calls, load

Function = Callable[..., Any]
Specs = Mapping[str, Spec]

_known: WeakKeyDictionary[Function, dict[Any, Entry]] = WeakKeyDictionary()
_lock = threading.Lock()
_compiling = threading.RLock()  # one thread compiles at a time; calls of compiled code need no lock


def specialise(
    function: Function,
    specs: Specs,
    product: str,
    wrt: Wrt | None,
    machine: Machine = USUAL,
    wider: Specs | None = None,
) -> Entry:
    """The entry for a product of a function.

    Functions are held weakly: what was compiled goes with them.
    """
    root = innermost(function)
    with _lock:
        entries = _known.setdefault(function, {})
    key = (product, wrt, machine, specs_key(specs))
    found = entries.get(key)
    if found is None or not found.program.current(root):
        with _compiling:
            found = entries[key] = make(function, specs, product, wrt, machine, wider)
    return found


def innermost(function: Function) -> Function:
    """The Python function under any operators."""
    while (operator := getattr(function, "__adgen__", None)) is not None:
        function = operator.target.function
    return function


def make(
    function: Function, specs: Specs, product: str, wrt: Wrt | None, machine: Machine, wider: Specs | None
) -> Entry:
    """The entry from the store, or compiled now; `wider` are the specs whose axes of length one were fixed."""
    root = innermost(function)
    folder = store.place(root, f"{chain(function, product, wrt)}; {machine.key}", specs)
    stored = store.find(folder, root) if folder else None
    if stored is None:
        from adgen.driver import compile_product

        try:
            build = compile_product(function, specs, product, wrt, *machine)
        except AdgenError as error:
            raise explained(error, specs) from None
        stored = build.library, build.programs[0]
        if folder:
            store.keep(folder, root, *stored)
    library, program = stored
    names = getattr(root, "__globals__", {})

    held = ref(function)  # weakly: the entry must not keep alive what it is known by

    def stretching(shapes: Shapes) -> Entry | None:
        alive = held()
        if alive is None:
            return None
        narrower = specs if wider else fixed(specs, shapes)
        if narrower != specs:
            return specialise(alive, narrower, product, wrt, machine, specs)
        freed = free(wider or specs)
        return specialise(alive, freed, product, wrt, machine) if freed != specs else None

    return Entry(program, load(library), names, stretching, fast_calls(), telling=True)


def explained(error: AdgenError, specs: Mapping[str, Spec]) -> AdgenError:
    """The error, which also says which arguments were texts: that is often what is wrong."""
    texts = [name for name, spec in specs.items() if isinstance(spec, StaticSpec) and isinstance(spec.value, str)]
    if not texts:
        return error
    note = ", ".join(f"argument `{name}` is the str {specs[name]}" for name in texts)
    error.help = f"{error.help}; {note}" if error.help else note
    error.args = (render(error.code, error.message, error.span, error.help),)
    return error


def chain(function: Function, product: str, wrt: Wrt | None) -> str:
    """The operators on a function, outermost first, as text."""
    operators = [f"{product} {wrt}"]
    while (operator := getattr(function, "__adgen__", None)) is not None:
        operators.append(f"{operator.product} {operator.wrt!r} {operator.memory}")
        function = operator.target.function
    return "; ".join(operators)
