"""The short way of a call: a function with named parameters that goes straight to compiled code.

Comes in: the parameters and the long way, which takes any arguments.  Goes out: a Python function.  What
it is called with by keyword, too much of, or for the first time takes the long way, which lets it `learn`.
Guaranteed: the short way takes arguments of exactly the types that it has learned, and gives what the long way gives.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adgen.frontend.specs import ArraySpec, OutputLeaf, OutputStruct, OutputTree, Spec
from adgen.runtime.calls import Entry, direct_call
from adgen.runtime.directions import with_direction
from adgen.runtime.fastcalls import direct_parameters, extent_conditions
from adgen.runtime.programs import TANGENT
from adgen.runtime.signatures import specs_key

BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
MOST = 8  # kinds of arguments that are tried one after the other
Slow = Callable[[tuple[Any, ...], tuple[Any, ...], dict[str, Any]], Any]


class Missing:
    """The type of the mark for an argument that was not given."""


MISSING = Missing()
OUT = "out"
TEXT = """
def wrapper({parameters}*_rest, {keywords}**_extra):
    if _rest or _extra:
        return _packed(({names}), _rest, _extra)
    return _call({names})
"""


def has_short_way(signature: inspect.Signature) -> bool:
    """True when each parameter can be passed by position."""
    return all(parameter.kind in BY_POSITION for parameter in signature.parameters.values())


def _declared(parameters: Sequence[inspect.Parameter]) -> Iterator[str]:
    for parameter, following in zip(parameters, (*parameters[1:], None)):
        yield f"{parameter.name}=_missing, "
        if parameter.kind is BY_POSITION[0] and (following is None or following.kind is not parameter.kind):
            yield "/, "


class ShortWay:
    """A function of named parameters, and what it knows about how to call compiled code.

    `slow(given, args, kwargs)` is the long way; `given` is what there is for each parameter, MISSING for nothing.
    Behind the parameters may come some more, by `keywords` only.  `part` says which part of the results `out` is for.
    """

    def __init__(
        self, signature: inspect.Signature, slow: Slow, keywords: Sequence[str] = (), part: int | None = None
    ) -> None:
        self.part = part
        self.into: list[Callable[..., Any]] = []
        self.positional = len(signature.parameters)
        self.names = (*signature.parameters, *keywords)
        self.slow = slow
        self.learned: set[Any] = set()
        self.last: Any = None
        self.lock = threading.Lock()
        self.direct: dict[tuple[type, ...], Callable[..., Any]] = {}
        source = TEXT.format(
            parameters="".join(_declared(list(signature.parameters.values()))),
            keywords="".join(f"{name}=_missing, " for name in keywords),
            names="".join(f"{name}, " for name in self.names),
        )
        self.namespace = {"_missing": MISSING, "_call": self.longer, "_packed": self.packed}
        exec(compile(source, "<adgen operator>", "exec"), self.namespace)
        self.function: Callable[..., Any] = self.namespace["wrapper"]  # type: ignore[assignment]

    def named(self, given: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call as they were passed: by position, and by name those after one that is missing."""
        first = given[: self.positional]
        count = next((k for k, value in enumerate(first) if value is MISSING), len(first))
        pairs = zip(self.names[count:], given[count:])
        return given[:count], {name: value for name, value in pairs if value is not MISSING}

    def packed(self, given: tuple[Any, ...], rest: tuple[Any, ...], extra: dict[str, Any]) -> Any:
        """The long way, with more than there are parameters for, but for an array that results go into."""
        for into in self.into if len(extra) == 1 and OUT in extra and not rest else ():
            found = into(extra[OUT], *given)
            if found is not NotImplemented:
                return found
        args, kwargs = self.named(given)
        return self.slow(given, (*args, *rest), {**kwargs, **extra})

    def longer(self, *given: Any) -> Any:
        """What the short calls leave: through cffi where the types are known, else the long way."""
        direct = self.direct.get(tuple(map(type, given)))
        return self.slow(given, *self.named(given)) if direct is None else direct(*given)

    def learn_along(
        self, entry: Entry, specs: Mapping[str, Spec], arguments: Mapping[str, Any], given: Sequence[Any]
    ) -> None:
        """As `learn`, with a direction at the end of what is given."""
        known = with_direction(entry.program, specs)
        if known is not None:
            self.learn(entry, known, {**arguments, TANGENT: given[-1]}, given)

    def learn(
        self, entry: Entry, specs: Mapping[str, Spec], arguments: Mapping[str, Any], given: Sequence[Any]
    ) -> None:
        """From now on, arguments of these types go to this entry straight away."""
        types = tuple(map(type, given))
        if any(isinstance(s, ArraySpec) and not isinstance(arguments[n], np.ndarray) for n, s in specs.items()):
            self.learn_on_device(entry, specs, arguments, given)
            return
        key = (specs_key(specs), types)
        with self.lock:
            if key in self.learned or types in self.direct:
                return
            if len(self.learned) < MOST and self.add(entry, specs, arguments, given):
                self.learned.add(key)
                return
            if any(isinstance(spec, ArraySpec) and spec.extents for spec in specs.values()):
                return  # extents have to be compared, which the other way does not
            present = [value is not MISSING for value in given]
            direct = direct_call(entry, specs, arguments, present, lambda *given: self.slow(given, *self.named(given)))
            if direct is not None:
                self.direct[types] = direct

    def learn_on_device(
        self, entry: Entry, specs: Mapping[str, Spec], arguments: Mapping[str, Any], given: Sequence[Any]
    ) -> None:
        """The same where arrays are on a device: the last such arguments of these types go there straight away."""
        from adgen.runtime.devices.direct import device_call

        present = [value is not MISSING for value in given]
        direct = device_call(entry, specs, arguments, present, lambda *given: self.slow(given, *self.named(given)))
        if direct is not None:
            with self.lock:
                self.direct[tuple(map(type, given))] = direct

    def add(self, entry: Entry, specs: Mapping[str, Spec], arguments: Mapping[str, Any], given: Sequence[Any]) -> bool:
        """Put a short call behind those that there are; False when these arguments have none."""
        parameters = direct_parameters(entry.program, specs, arguments, given, MISSING)
        if parameters is None:
            return False
        made = entry.fast(parameters, self.longer, extent_conditions(specs, parameters))
        if made is None:
            return False
        if self.last is None:
            self.namespace["_call"] = made
        else:
            self.last.otherwise = made
        self.last = made
        if OUT not in self.names and is_array(entry.program.output, self.part):
            self.into.append(made.into)
        return True


def is_array(output: OutputTree, part: int | None) -> bool:
    """True when what `out` is for is one array."""
    wanted = output.items[part][1] if part is not None and isinstance(output, OutputStruct) else output
    return isinstance(wanted, OutputLeaf) and wanted.rank is not None
