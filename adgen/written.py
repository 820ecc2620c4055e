"""Functions from texts that adgen writes: their source is found as that of a file."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from hashlib import sha256
from typing import Any


def defined(text: str, label: str, name: str, namespace: dict[str, Any]) -> Callable[..., Any]:
    """The function `name` that a text defines, with the globals of a namespace, which it is not put into.

    `label` says in messages where it comes from.
    """
    filename = f"<{label} {sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    own: dict[str, Any] = {}
    exec(compile(text, filename, "exec", dont_inherit=True), namespace, own)
    function: Callable[..., Any] = own[name]
    return function
