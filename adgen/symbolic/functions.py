"""sympy's expressions as Python functions.

Comes in: an expression, a sequence or a matrix of them, and symbols.  Goes out: a function with source text, which
adgen compiles as any other.  Guaranteed: common subexpressions are computed once; the same expression gives the same
text.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from adgen.diagnostics import AdgenError
from adgen.ops.terms import Operand
from adgen.symbolic.python import MODULES, Writer
from adgen.symbolic.reading import Reader, check_real
from adgen.written import defined


def function_of(expression: Any, symbols: Any, name: str, module: str) -> Callable[..., Any]:
    """The function of floats `name(*symbols)`, as if it stood in `module`.

    A sequence of expressions gives a tuple, a matrix an array of rank two.  Raises AdgenError for what is not a formula
    in these symbols.
    """
    import sympy

    symbols = tuple(symbols) if isinstance(symbols, Sequence | sympy.Tuple) else (symbols,)
    parameters = parameter_names(symbols)
    if not name.isidentifier() or keyword.iskeyword(name):
        raise AdgenError("AD179", f"`{name}` is not a name for a function", help="pass an identifier")
    matrix = isinstance(expression, sympy.MatrixBase)
    single = not matrix and not isinstance(expression, Sequence | sympy.Tuple)
    items = [sympy.sympify(item) for item in ([expression] if single else expression)]
    for item in items:
        check_real(item)
    unknown = sorted(str(symbol) for symbol in set().union(*(item.free_symbols for item in items)) - set(symbols))
    if unknown:
        listed = ", ".join(f"`{text}`" for text in unknown)
        raise AdgenError("AD179", f"the function does not take {listed}", help="add what the expression depends on")
    shared, results = sympy.cse(items, symbols=_symbols({*parameters, *MODULES}))
    names = [*parameters, *(str(symbol) for symbol, _ in shared)]
    read = Reader({symbol: Operand(k) for k, symbol in enumerate([*symbols, *(symbol for symbol, _ in shared)])})
    write = Writer(names)
    body: list[ast.stmt] = [ast.Assign([ast.Name(str(symbol))], write(read(value), names)) for symbol, value in shared]
    values = [write(read(value), names) for value in results]
    if matrix:
        rows: list[ast.expr] = [
            ast.List(values[k : k + expression.cols]) for k in range(0, len(values), expression.cols)
        ]
        result = write.call("np", "array", [ast.List(rows)])
    else:
        result = values[0] if single else ast.Tuple(values)
    signature = ", ".join(f"{parameter}: float" for parameter in parameters)
    head = f"def {name}({signature}){' -> float' if single else ''}:"
    lines = [ast.unparse(ast.fix_missing_locations(statement)) for statement in (*body, ast.Return(result))]
    return defined("\n    ".join([head, *lines]) + "\n", f"sympy {name}", name, {**write.namespace, "__name__": module})


def parameter_names(symbols: Sequence[Any]) -> list[str]:
    """The symbols' names as identifiers: `x_{1}` is `x_1`, `lambda` is `lambda_`."""
    names: list[str] = []
    for symbol in symbols:
        if not getattr(symbol, "is_Symbol", False):
            raise AdgenError("AD179", f"`{symbol}` is not a symbol", help='pass symbols: sympy.symbols("x y")')
        text = symbol.name if symbol.name.isidentifier() else re.sub(r"[\W_]+", "_", symbol.name).strip("_")
        text = f"{text}_" if keyword.iskeyword(text) else text if text.isidentifier() else f"_{text}"
        if text in names:
            raise AdgenError("AD179", f"two symbols are called `{text}` in Python", help="give them other names")
        names.append(text)
    return names


def _symbols(taken: set[str]) -> Iterator[Any]:
    """Symbols for common subexpressions, with names that are not taken."""
    import sympy

    number = 0
    while True:
        number += 1
        if f"t{number}" not in taken:
            yield sympy.Symbol(f"t{number}", real=True)
