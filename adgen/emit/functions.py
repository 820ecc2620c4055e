"""One C function from one IR function: its signature, the function that tells its sizes, and its body."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from types import MappingProxyType

from adgen.emit.body import Body
from adgen.emit.formula import workspace_formula
from adgen.emit.interface import Interface, Parameter
from adgen.emit.layout import Layout, Line, wrapped
from adgen.emit.memory import plan_memory
from adgen.emit.names import Names
from adgen.emit.profile import HOSTED, Profile, require_bounded
from adgen.emit.text import c_type, comment
from adgen.emit.uses import Uses, written
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Value, walk
from adgen.ir.types import Buffer, Scalar

Fixed = Mapping[tuple[int, int], int]  # extents that are numbers, by parameter and axis


@dataclass(frozen=True)
class CFunction:
    """The C text of one function."""

    name: str
    comment: str
    prototype: str
    sizes_prototype: str
    lines: list[str]
    size_lines: list[str]
    interface: Interface
    defines: list[str] = field(default_factory=list)


class FunctionWriter:
    """Writes one function; checks are appended to `sites`, helper functions to `helpers`."""

    def __init__(
        self,
        function: Function,
        c_name: str,
        sites: list[Operation],
        helpers: dict[str, None],
        tables: dict[Value, str],
        file_names: Iterable[str],
        callees: Mapping[str, str] = MappingProxyType({}),
        is_callee: bool = False,
        profile: Profile = HOSTED,
        fixed: Fixed = MappingProxyType({}),
    ) -> None:
        self.function = function
        self.c_name = c_name
        self.callees = callees
        self.is_callee = is_callee
        self.profile = profile
        self.plan = plan_memory(function, is_callee, profile.frame)
        self.plan.fixed = {(function.parameters[k], axis): extent for (k, axis), extent in fixed.items()}
        if profile.bare:
            require_bounded(self.plan)
        self.sites = sites
        self.helpers = helpers
        self.tables = tables
        self.file_names = set(file_names)
        names = Names(self.file_names)
        self.names = {value: names.claim(value.name) for value in function.parameters}
        self.extents = {
            (value, axis): names.claim(f"{name}_n{axis}")
            for value, name in self.names.items()
            if isinstance(value.type, Buffer)
            for axis in range(value.type.rank)
        }
        self.result_names = [  # a pointer leaves the user's name to the number that is stored through it
            names.claim(name if isinstance(value.type, Buffer) or name == "out" else f"{name}_out")
            for name, value in zip(function.result_names, function.results, strict=True)
        ]
        self.taken = set(names.taken)
        self.written = self._written()

    def _written(self) -> set[Value]:
        """The buffers that the function stores into."""
        return written(self.function)

    def write(self, note: str) -> CFunction:
        """The C text; `note` is added to the comment above the function."""
        if self.is_callee:
            return self.callee()
        first = len(self.sites) + 1
        lines, size_lines = self.main(), self.sizes()
        checks = range(first, len(self.sites) + 1)
        formula = workspace_formula(self.plan, self.names, self.extents)
        inputs, outputs = self.inputs(), self.outputs()
        prototype = f"int {self.c_name}({', '.join([*inputs, *outputs, 'void *work', 'int64_t *detail'])})"
        sizes_prototype = f"void {self.c_name}_sizes({', '.join([*inputs, 'int64_t *sizes'])})"
        return CFunction(
            self.c_name,
            "\n".join(self.description(formula, note)),
            "\n".join(wrapped(prototype, 0)),
            "\n".join(wrapped(sizes_prototype, 0)),
            [*self.unused(lines, [*self.result_names, "work", "detail"]), *lines],
            [*self.unused(size_lines, []), *size_lines],
            replace(self.interface(formula), prototype=prototype, checks=checks),
            self.defines() if self.profile.bare else [],
        )

    def callee(self) -> CFunction:
        """The C text of a function that others call: it needs no workspace and tells no sizes."""
        lines = self.main()
        prototype = f"static int {self.c_name}({', '.join([*self.inputs(), *self.outputs(), 'int64_t *detail'])})"
        return CFunction(
            self.c_name,
            "\n".join(self.description("0", "")),
            "\n".join(wrapped(prototype, 0)),
            "",
            [*self.unused(lines, [*self.result_names, "detail"]), *lines],
            [],
            self.interface("0"),
        )

    # -- outside ---------------------------------------------------------------------------------------------------

    def inputs(self) -> list[str]:
        """The declarations of the parameters."""
        found = []
        for value, name in self.names.items():
            if isinstance(value.type, Buffer):
                const = "" if value in self.written else "const "
                found.append(f"{const}{c_type(value.type)} *restrict {name}")
                found += [f"int64_t {self.extents[value, axis]}" for axis in range(value.type.rank)]
            else:
                found.append(f"{c_type(value.type)} {name}")
        return found

    def outputs(self) -> list[str]:
        """The declarations of the results."""
        pairs = zip(self.function.results, self.result_names, strict=True)
        return [f"{c_type(value.type)} *restrict {name}" for value, name in pairs]

    def interface(self, formula: str) -> Interface:
        """What a caller must know."""
        parameters = [Parameter(v.name, name, v.type, v in self.written) for v, name in self.names.items()]
        named = zip(self.function.result_names, self.result_names, self.function.results, strict=True)
        results = [Parameter(name, c_name, value.type, True) for name, c_name, value in named]
        return Interface(
            self.function.name,
            self.c_name,
            tuple(parameters),
            tuple(results),
            formula,
            self.plan.needs_cleanup,
            self.plan.bytes(),
            tuple(tuple(self.result_extents(k)) for k in range(len(results))),
        )

    def defines(self) -> list[str]:
        """Macros for sizes that are numbers, so that memory can be static."""
        found = {"WORK_BYTES": self.plan.bytes()}
        for k, name in enumerate(self.result_names):
            extents = self.result_extents(k)
            if extents and all(extent.isdigit() for extent in extents):
                found[f"{name.upper()}_SIZE"] = prod(map(int, extents))
        prefix = self.c_name.upper()
        return [f"#define {prefix}_{name} {size}" for name, size in found.items() if size is not None]

    def description(self, formula: str, note: str) -> list[str]:
        """The comment above a function: what goes in and out with its shape, the workspace, remarks."""
        span = self.function.span
        place = f", from {span.file.rpartition('/')[2]}:{span.line}" if span else ""
        rows = [(name, self.shape(value, name), value in self.written) for value, name in self.names.items()]
        lines = [f"{self.c_name}{place}", ""]
        lines += [f"in   {text}" + (", which it writes" if written else "") for _, text, written in rows]
        lines += [f"out  {self.result_shape(k)}" for k in range(len(self.result_names))]
        lines.append(f"workspace: {formula} bytes" if formula != "0" else "workspace: none")
        if self.plan.needs_cleanup:
            lines[-1] += ", and heap memory that grows with what is computed"
        lines += note.splitlines()
        safe = [comment(line)[3:-3] for line in lines]
        return [f"/* {safe[0]}", *(f" *   {line}".rstrip() for line in safe[2:]), " */"]

    def shape(self, value: Value, name: str) -> str:
        """`double x[x_n0]`."""
        if not isinstance(value.type, Buffer):
            return f"{c_type(value.type)} {name}"
        extents = [f"[{self.extents[value, axis]}]" for axis in range(value.type.rank)]
        return f"{c_type(value.type)} {name}{''.join(extents)}"

    def result_shape(self, k: int) -> str:
        """`double x_bar[x_n0]`."""
        name, value = self.result_names[k], self.function.results[k]
        if not isinstance(value.type, Buffer):
            return f"{c_type(value.type)} *{name}"
        return f"{c_type(value.type)} {name}" + "".join(f"[{extent}]" for extent in self.result_extents(k))

    def result_extents(self, k: int) -> list[str]:
        """The extents of a result that is an array, where they are those of parameters or numbers."""
        value = self.function.results[k]
        extents: list[str] = []
        if not isinstance(value.type, Buffer):
            return extents
        for operand in self.plan.definition[value].operands:
            operation, number = self.plan.definition.get(operand), self.plan.number(operand)
            if operand in self.names:
                extents.append(self.names[operand])
            elif number is not None:
                extents.append(str(number))
            elif operation is not None and operation.row is core.DIM and operation.operands[0] in self.names:
                extents.append(self.extents[operation.operands[0], operation.attributes["axis"]])
            else:
                extents.append("...")
        return extents

    def unused(self, lines: list[str], others: list[str]) -> list[str]:
        """Statements that keep the compiler from warning about parameters that are not used."""
        words = set(
            re.findall(r"[A-Za-z_]\w*", "\n".join(line for line in lines if not line.lstrip().startswith("/*")))
        )
        names = [*self.names.values(), *self.extents.values(), *others]
        return [f"    (void){name};" for name in names if name not in words]

    # -- inside ----------------------------------------------------------------------------------------------------

    def body(self, function: Function) -> Body:
        """A writer that knows the parameters and constant arrays."""
        uses = Uses(function, frozenset(self.plan.heap))
        body = Body(uses, self.plan, Names(self.taken), self.sites, self.helpers, self.callees)
        body.take(self.names, self.extents)
        body.buffers.update(self.tables)
        return body

    def main(self) -> list[str]:
        """The lines of the function itself."""
        body, plan = self.body(self.plan.main()), self.plan
        values = body.values
        for buffer in plan.workspace:
            body.buffers[buffer] = values.hold(buffer, buffer.name or "buffer")
        for buffer, position in plan.result.items():
            body.buffers[buffer] = self.result_names[position]
        for buffer in plan.heap:
            name = body.buffers[buffer] = values.names.claim(buffer.name or "buffer")
            values.names.claim(f"{name}_room")
            values.emit(f"{c_type(buffer.type)} *{name} = NULL;", None)
            values.emit(f"size_t {name}_room = 0;", None)
        for stack in plan.stacks:
            name = body.buffers[stack] = values.names.claim(stack.name or "stack")
            values.emit(f"adgen_stack_{c_type(stack.type)} {name} = {{NULL, 0, 0}};", None)
        if plan.needs_cleanup or any(operation.row is core.CALL for operation in walk(plan.function.body)):
            values.emit("int status = 0;", None)
        body.region(body.uses.function.body)
        for value, name in zip(self.function.results, self.result_names, strict=True):
            if isinstance(value.type, Scalar):
                expression = values.use(value)
                values.emit(f"*{name} = {expression.text};", expression.span, expression.reads)
        self.close(body)
        lines = list(Layout().lines(values.statements, 1))
        if not plan.needs_cleanup:
            return [*lines, "    return 0;"]
        freed = [f"    free({body.buffers[buffer]});" for buffer in plan.heap]
        freed += [f"    free({body.buffers[stack]}.data);" for stack in plan.stacks]
        return [*lines, *(["done:"] if "goto done;" in "\n".join(lines) else []), *freed, "    return status;"]

    def sizes(self) -> list[str]:
        """The lines of the function that tells the sizes."""
        body = self.body(self.plan.sizes())
        values = body.values
        if self.plan.workspace:
            values.emit("size_t used = 0;", None)
        body.region(body.uses.function.body)
        values.emit(f"sizes[0] = {'(int64_t)used' if self.plan.workspace else '0'};", None)
        for place, extent in enumerate(self.plan.result_extents, 1):
            expression = values.lasting(extent)
            text = expression.text if self.plan.natural(extent) else f"adgen_extent({expression.text})"
            values.emit(f"sizes[{place}] = {text};", None, expression.reads)
        self.close(body)
        return list(Layout().lines(values.statements, 1))

    @staticmethod
    def close(body: Body) -> None:
        """Variables of the function that nothing reads."""
        for variable in body.values.opened[0]:
            if not variable.read:
                body.values.statements.append(Line(f"(void){variable.name};"))
