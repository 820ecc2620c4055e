"""Compiling packages of the profile `embedded`, and calling them from C that knows the manifest alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adgen.ahead import Options, compile_file

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
STRICT = ["-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Wvla", "-Werror", "-ffreestanding"]
ARM = "arm-none-eabi-gcc"

MAIN = """\
#include "{stem}.h"
#include <stdio.h>

static double work[{room}];

int main(void)
{{
{declarations}
    int64_t detail[2] = {{0, 0}};
    const int status = {name}({call});
    printf("status %d\\n", status);
{prints}
    return 0;
}}
"""


def package(
    file: Path,
    function: str | None,
    out: Path,
    profile: str = "embedded",
    arguments: Sequence[str] = (),
    **options: Any,
) -> Path:
    """Compile functions of a file; gives the folder of the package."""
    parsed = Options.parse(function, None, options.pop("emit", "value,grad"), arguments, profile=profile, **options)
    compile_file(file, out, parsed, lambda stage: None)
    return out / f"{file.stem}_ad"


def manifest_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def entry_of(folder: Path, product: str) -> dict[str, Any]:
    (found,) = [entry for entry in manifest_of(folder)["entry_points"] if entry["product"] == product]
    return found


def object_file(folder: Path, compiler: Sequence[str] = ("cc",), options: Sequence[str] = ("-O2",)) -> Path:
    """The C of a package compiled as a user with strict habits does; any warning is an error."""
    manifest = manifest_of(folder)
    source = manifest["sources"][0]
    target = folder / f"{source}.{Path(compiler[0]).name}.o"
    command = [*compiler, *STRICT, *options, "-c", source, "-o", target.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


def run(folder: Path, entry: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Call an entry point with memory that is static, by what the manifest says of it."""
    manifest = manifest_of(folder)
    stem = Path(manifest["sources"][0]).stem
    lines, call, prints = [], [], []
    extents = {}
    for argument in entry["arguments"]:
        name = argument["name"]
        if argument["direction"] == "in":
            lines += _input(argument, values[name])
            call += [name, *argument.get("extent_parameters", [])]
            for parameter, extent in zip(argument.get("extent_parameters", []), np.shape(values[name])):
                extents[parameter] = extent
                lines.append(f"    const int64_t {parameter} = {extent};")
            continue
        shape = [extents.get(extent, extent) for extent in argument.get("extents", [])]
        count = int(np.prod(shape))
        lines.append(f"    static {argument['type']} {name}[{count}];")
        call.append(name)
        prints.append(f'    for (int k = 0; k < {count}; ++k) printf("{name} %.17g\\n", (double){name}[k]);')
    work = entry["workspace"]
    room = f"({work['macro']} + 7) / 8 + 1" if work["macro"] else "1 << 16"
    text = MAIN.format(
        stem=stem,
        room=room,
        name=entry["name"],
        declarations="\n".join(lines),
        call=", ".join([*call, "work", "detail"]),
        prints="\n".join(prints),
    )
    (folder / "check_main.c").write_text(text, encoding="utf-8")
    built = object_file(folder)
    build = ["cc", "-std=c99", "check_main.c", built.name, "-lm", "-o", "check_main"]
    done = subprocess.run(build, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    printed = subprocess.run([folder / "check_main"], capture_output=True, text=True, check=True).stdout
    found: dict[str, list[float]] = {}
    for line in printed.splitlines():
        name, number = line.split()
        found.setdefault(name, []).append(float(number))
    return {name: np.array(numbers) for name, numbers in found.items()}


def _input(argument: Mapping[str, Any], value: Any) -> Iterator[str]:
    kind, name = argument["type"], argument["name"]
    if "extents" not in argument:
        yield f"    const {kind} {name} = ({kind}){value!r};"
        return
    numbers = ", ".join(f"({kind}){number!r}" for number in np.ravel(value).tolist())
    yield f"    static const {kind} {name}[] = {{{numbers}}};"


def undefined(built: Path, tool: str = "nm") -> set[str]:
    """The names that an object file needs from elsewhere."""
    listed = subprocess.run([tool, "-u", built], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines() if line.strip()}
