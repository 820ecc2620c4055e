"""What is refused, and what to do instead: one table for syntax and one for functions.

Everything that is neither lowered nor in these tables is refused too, with a message that names it.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Entry = tuple[str, str, str | None]

NODES: dict[type[ast.AST], Entry] = {
    ast.Yield: ("AD205", "`yield` with a value that is sent is not supported", "write it as a statement"),
    ast.YieldFrom: ("AD205", "the value of `yield from` is not supported", "write it as a statement"),
    ast.Await: ("AD206", "`await` is not supported", "call an ordinary function"),
    ast.AsyncFor: ("AD206", "`async` is not supported", "use an ordinary loop"),
    ast.AsyncWith: ("AD206", "`async` is not supported", None),
    ast.AsyncFunctionDef: ("AD206", "`async` is not supported", "use an ordinary function"),
    ast.ClassDef: ("AD207", "a class inside the function is not supported", "define it at module level"),
    ast.Match: (
        "AD209",
        "a pattern of this `match` is not supported",
        "match values, or use `if` and `elif`",
    ),
    ast.With: (
        "AD210",
        "this `with` block is not supported",
        "use a context manager written in Python: `__enter__` and `__exit__`, or one `yield`",
    ),
    ast.Starred: ("AD211", "a starred expression is not supported here", None),
}

FUNCTIONS: dict[Any, Entry] = {
    builtins.eval: ("AD212", "`eval` hides the computation from the compiler", "write the expression itself"),
    builtins.exec: ("AD212", "`exec` hides the computation from the compiler", "write the statements themselves"),
    builtins.compile: ("AD212", "`compile` hides the computation from the compiler", None),
    builtins.open: ("AD213", "`open` reads or writes a file", "read the data outside and pass it as an argument"),
    builtins.input: ("AD213", "`input` waits for the user", "pass the value as an argument"),
    builtins.print: (
        "AD214",
        "`print` inside a compiled function is not supported",
        "return the value and print it outside",
    ),
    builtins.globals: ("AD212", "`globals()` hides what the function reads", "name the variables"),
    builtins.locals: ("AD212", "`locals()` hides what the function reads", "name the variables"),
    builtins.setattr: ("AD215", "`setattr` is not supported", "assign the attribute by its name"),
    builtins.delattr: ("AD215", "`delattr` is not supported", None),
    builtins.id: ("AD215", "`id` has no meaning in a compiled function", None),
    builtins.__import__: ("AD212", "`__import__` is not supported", "use an `import` statement"),
}

MODULES: dict[str, Entry] = {
    "numpy.random": (
        "AD216",
        "random numbers drawn inside the function differ at every call",
        "pass them as an argument",
    ),
    "random": ("AD216", "random numbers drawn inside the function differ at every call", "pass them as an argument"),
    "time": ("AD217", "the result would depend on the time of the call", "pass the time as an argument"),
    "datetime": ("AD217", "the result would depend on the time of the call", "pass it as an argument"),
    "os": ("AD213", "calls to the operating system are not supported", "pass the value as an argument"),
    "sys": ("AD213", "calls to the interpreter are not supported", "pass the value as an argument"),
}


def node(ctx: Context, tree: ast.AST) -> NoReturn:
    """Refuse a piece of syntax."""
    ctx.place(tree)
    code, message, help = NODES.get(type(tree), ("AD200", f"`{type(tree).__name__}` is not supported", None))
    names = getattr(tree, "names", None)
    if isinstance(names, list) and names and isinstance(names[0], str):
        message = message.format(names=", ".join(names))
    ctx.fail(code, message, help)


def function(ctx: Context, callee: Any, text: str) -> None:
    """Refuse a call if the function is in the tables; `text` is what the user wrote."""
    try:
        entry = FUNCTIONS.get(callee)
    except TypeError:
        entry = None
    if entry is None:
        entry = _by_module(callee)
        if entry is not None:
            entry = (entry[0], f"`{text}`: {entry[1]}", entry[2])
    if entry is not None:
        ctx.fail(*entry)


def _by_module(callee: Any) -> Entry | None:
    owner = getattr(callee, "__self__", None)
    modules = [str(getattr(callee, "__module__", "") or ""), str(getattr(type(callee), "__module__", "") or "")]
    if owner is not None and not isinstance(owner, type):
        modules.append(str(getattr(type(owner), "__module__", "") or ""))
    for module in modules:
        for prefix, entry in MODULES.items():
            if module == prefix or module.startswith(prefix + "."):
                return entry
    return None


def unknown(ctx: Context, callee: Any, text: str) -> NoReturn:
    """Refuse a call of something that adgen knows nothing about."""
    module = str(getattr(callee, "__module__", "") or "")
    if module.startswith("numpy") or text.startswith(("np.", "numpy.")):
        ctx.fail("AD202", f"`{text}` is not supported", "write it with supported NumPy functions or a loop")
    what = "has no Python source that could be read" if callable(callee) else "is not a function"
    ctx.fail("AD201", f"`{text}` {what}, and adgen does not know its derivative", "write it in Python or NumPy")
