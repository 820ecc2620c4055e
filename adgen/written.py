"""Functions from texts that adgen writes: their source is found as that of a file."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any


def defined(text: str, label: str, name: str, namespace: Mapping[str, Any]) -> Callable[..., Any]:
    """The function `name` that a text defines in a namespace; `label` says in messages where it comes from."""
    filename = f"<{label} {sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names = dict(namespace)
    exec(compile(text, filename, "exec", dont_inherit=True), names)
    function: Callable[..., Any] = names[name]
    return function
