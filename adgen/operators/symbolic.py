"""`from_sympy`: a formula as a function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from adgen.diagnostics import AdgenError


def from_sympy(expression: Any, symbols: Any, name: str = "f") -> Callable[..., Any]:
    """A function of floats from an expression of sympy's: to be called, differentiated, compiled, called by others.

    Its parameters are the symbols in their order.  A sequence of expressions gives a tuple, a matrix an array.  Common
    subexpressions are computed once.  `adgen compile` takes it for a function of the file that assigns it to `name`.
    """
    from adgen.symbolic.functions import function_of

    module = sys._getframe(1).f_globals.get("__name__", "__main__")
    try:
        return function_of(expression, symbols, name, module)
    except AdgenError as error:
        raise error.with_traceback(None) from None
