"""Products of matrices as C: one call of a helper, which leaves large ones to a BLAS library where there is one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adgen.emit.expression import Expression, product, reads_of
from adgen.emit.storage import place
from adgen.emit.text import c_type
from adgen.ir.contraction import Operand, contraction
from adgen.ir.nodes import Operation

if TYPE_CHECKING:
    from adgen.emit.body import Body

# Below this number of multiplications a call of the library costs more than it saves.
SMALLEST = 8192

HELPER = """/* Adds factor * left @ right to the target.  Rows are `step` elements apart; `across`: it is stored by
 * columns.  Compiled with -D'ADGEN_BLAS(name)=name' and a BLAS library, large products are the work of that. */
#ifdef ADGEN_BLAS
void ADGEN_BLAS(cblas_%(letter)sgemm)(int order, int left_form, int right_form, int rows, int columns, int depth,
        %(type)s factor, const %(type)s *left, int left_step, const %(type)s *right, int right_step, %(type)s keep,
        %(type)s *target, int step);
#endif
static inline void adgen_contract_%(type)s(int64_t rows, int64_t columns, int64_t depth, %(type)s factor,
        const %(type)s *restrict left, int64_t left_step, bool left_across, const %(type)s *restrict right,
        int64_t right_step, bool right_across, %(type)s *restrict target, int64_t step)
{
#ifdef ADGEN_BLAS
    if (rows > 0 && columns > 0 && depth > 0 && (double)rows * (double)columns * (double)depth >= %(smallest)d.0
        && rows <= INT32_MAX && columns <= INT32_MAX && depth <= INT32_MAX && left_step <= INT32_MAX
        && right_step <= INT32_MAX && step <= INT32_MAX) {
        ADGEN_BLAS(cblas_%(letter)sgemm)(101, left_across ? 112 : 111, right_across ? 112 : 111, (int)rows,
                (int)columns, (int)depth, factor, left, (int)left_step, right, (int)right_step, %(one)s, target,
                (int)step);
        return;
    }
#endif
    for (int64_t i = 0; i < rows; ++i) {
        if (right_across) {
            for (int64_t j = 0; j < columns; ++j) {
                %(type)s total = %(zero)s;
                #pragma omp simd reduction(+ : total)
                for (int64_t k = 0; k < depth; ++k) {
                    total += left[left_across ? k * left_step + i : i * left_step + k] * right[j * right_step + k];
                }
                target[i * step + j] += factor * total;
            }
        } else {
            for (int64_t k = 0; k < depth; ++k) {
                const %(type)s scaled = factor * left[left_across ? k * left_step + i : i * left_step + k];
                for (int64_t j = 0; j < columns; ++j) {
                    target[i * step + j] += scaled * right[k * right_step + j];
                }
            }
        }
    }
}"""


def contract(body: Body, operation: Operation) -> None:
    """A product of matrices, after what waits for old values of its target has been evaluated."""
    parts, values = contraction(operation), body.values
    kind = c_type(parts.target.buffer.type)
    counts = [values.use(value) for value in (parts.rows, parts.columns, parts.depth, parts.factor)]
    target, left, right = (placed(body, operand) for operand in (parts.target, parts.left, parts.right))
    root = body.uses.root[parts.target.buffer]
    values.settle((root,))
    given = [
        *(count.text for count in counts),
        *(left[0].text, left[1].text, "true" if parts.left.rows > parts.left.columns else "false"),
        *(right[0].text, right[1].text, "true" if parts.right.rows > parts.right.columns else "false"),
        *(target[0].text, target[1].text),
    ]
    body.helpers[helper(kind)] = None
    reads = reads_of([*counts, *target, *left, *right])
    values.emit(f"adgen_contract_{kind}({', '.join(given)});", operation.span, reads)


def placed(body: Body, operand: Operand) -> tuple[Expression, Expression]:
    """A pointer to the first element, and the distance of the rows of memory that take part."""
    first = place(body, operand.buffer, operand.first)
    step = Expression("1")
    for extent in body.extents[operand.buffer][min(operand.rows, operand.columns) + 1 :]:
        step = product(step, extent)
    text = body.buffers[operand.buffer] if first.text.endswith("[0]") else f"&{first.text}"
    return replace(first, text=text, row=None), step


def helper(kind: str) -> str:
    """The helper for an element type of C."""
    suffix = "" if kind == "double" else "f"
    names = {"type": kind, "letter": "d" if kind == "double" else "s", "smallest": SMALLEST}
    return HELPER % {**names, "one": f"1.0{suffix}", "zero": f"0.0{suffix}"}
