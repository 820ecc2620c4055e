"""What a user asks `adgen compile` for, checked as far as it can be without looking at the file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches

from adgen.diagnostics import AdgenError
from adgen.operators.parallel import checked
from adgen.runtime.programs import MATRICES
from adgen.sizes import bytes_of
from adgen.toolchain.target import PROCESSOR, Target, target_of

PRODUCTS = ("value", "grad", "jvp", "vjp", "hvp", *MATRICES)
PROFILES = ("hosted", "embedded")
DEFAULT_PRODUCTS = ("value", "grad", "jvp", "vjp")


@dataclass(frozen=True)
class Options:
    """One request.  `function` None: every public function.  `wrt` None: every floating-point parameter."""

    function: str | None = None
    wrt: tuple[str, ...] | None = None
    products: tuple[str, ...] = DEFAULT_PRODUCTS
    arguments: tuple[str, ...] = ()
    statics: tuple[str, ...] = ()
    check: bool = True
    unchecked: bool = False
    example_main: bool = False
    memory: int | None = None
    trace_nan: bool = False
    profile: str = "hosted"
    float32: bool = False
    closed_form: bool = False
    threads: int = 1
    target: Target = PROCESSOR

    @staticmethod
    def parse(
        function: str | None,
        wrt: str | None,
        emit: str,
        arguments: Sequence[str],
        statics: Sequence[str] = (),
        check: bool = True,
        unchecked: bool = False,
        example_main: bool = False,
        memory: str | None = None,
        trace_nan: bool = False,
        profile: str = "hosted",
        float32: bool = False,
        closed_form: bool = False,
        threads: int = 1,
        target: str | None = None,
        arch: str | None = None,
        deterministic: bool = False,
    ) -> Options:
        """Options from the texts of a command line.

        Raises AdgenError when a text is malformed.
        """
        machine = _target(target_of(target, arch, deterministic), profile, example_main)
        return Options(
            function,
            None if wrt is None else _names("--wrt", wrt),
            _products(emit),
            tuple(arguments),
            tuple(statics),
            check,
            unchecked,
            example_main,
            bytes_of(memory),
            trace_nan,
            _profile(profile),
            float32,
            closed_form,
            checked(threads),
            machine,
        )

    def key(self) -> str:
        """A text that is equal for equal options."""
        return json.dumps(asdict(self), sort_keys=True)


def _names(option: str, text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(","))
    if not all(name.isidentifier() for name in names):
        raise AdgenError("AD192", f"`{text}` is not a list of names", help=f"write for example {option} alphas,means")
    if len(set(names)) < len(names):
        raise AdgenError("AD192", f"a name occurs twice in `{option} {text}`", help="name each parameter once")
    return names


def _profile(text: str) -> str:
    if text not in PROFILES:
        close = get_close_matches(text, PROFILES, 1)
        hint = f"did you mean `{close[0]}`?" if close else f"choose from {', '.join(PROFILES)}"
        raise AdgenError("AD197", f"there is no profile `{text}`", help=hint)
    return text


def _target(target: Target, profile: str, example_main: bool) -> Target:
    """The target, if the other options go with it."""
    if target.is_device and (profile != "hosted" or example_main):
        other = "--example-main" if example_main else f"--profile {profile}"
        raise AdgenError("AD198", f"{other} is for C", help="leave it out, or --target")
    return target


def _products(text: str) -> tuple[str, ...]:
    names = _names("--emit", text)
    for name in names:
        if name not in PRODUCTS:
            close = get_close_matches(name, PRODUCTS, 1)
            hint = f"did you mean `{close[0]}`? " if close else ""
            raise AdgenError("AD193", f"`{name}` cannot be emitted", help=f"{hint}choose from {', '.join(PRODUCTS)}")
    return tuple(name for name in PRODUCTS if name in names)
