"""Sparse Jacobians and Hessians: the entries of the dense ones, the right patterns, few products, kept patterns."""

from __future__ import annotations

import copy
import doctest
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import adgen
from adgen import AdgenError
from adgen.operators.sparse import _kept, patterns
from adgen.operators.sparse.colouring import apart, cheapest, stars, symmetric
from adgen.operators.sparse.loops import colour_apart, colour_stars, loop, reach
from adgen.operators.sparse.patterns import Pattern
from tests.runtime import sparse_functions as f


def names(cases: list[Any]) -> list[str]:
    return [f"{case[0].__name__}-{k}" for k, case in enumerate(cases)]


def plan_of(function: Any) -> Any:
    """The plan that the last call of a sparse operator used."""
    return list(_kept[function.__adgen__].values())[-1].plan


def blocks(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return [block for item in tree.values() for block in blocks(item)]
    if isinstance(tree, tuple):
        return [block for item in tree for block in blocks(item)]
    return [tree]


def pattern(matrix: Any) -> set[tuple[int, int]]:
    """The stored entries."""
    coordinates = matrix.tocoo()
    return set(zip(coordinates.row.tolist(), coordinates.col.tolist()))


def compared(found: Any, dense: Any) -> None:
    """The same entries in the same structure; whatever is other than zero is stored."""
    assert len(blocks(found)) == len(blocks(dense))
    for block, whole in zip(blocks(found), blocks(dense), strict=True):
        if not sparse.issparse(block):
            assert block == whole
            continue
        assert block.format == "csr" and block.has_sorted_indices
        whole = np.asarray(whole)
        assert block.dtype == whole.dtype
        assert np.allclose(block.toarray(), whole.reshape(block.shape), rtol=1e-10, atol=1e-12)


# -- entries -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", f.JACOBIANS, ids=names(f.JACOBIANS))
def test_jacobians(case: Any) -> None:
    """Equal to the dense Jacobian of both modes, whichever products are taken."""
    function, arguments, *wrt = case
    for dense, mode in ((adgen.jacfwd, adgen.jacobian), (adgen.jacrev, adgen.jacrev)):
        compared(mode(function, *wrt, sparse=True)(*arguments), dense(function, *wrt)(*arguments))


@pytest.mark.parametrize("case", f.HESSIANS, ids=names(f.HESSIANS))
def test_hessians(case: Any) -> None:
    """Equal to the dense Hessian, symmetric, and stored where `sparsity` says."""
    function, arguments = case
    found = adgen.hessian(function, sparse=True)(*arguments)
    compared(found, adgen.hessian(function)(*arguments))
    places = adgen.sparsity(function, of="hessian")(*arguments)
    if sparse.issparse(found):
        rows, columns = places
        assert np.array_equal(found.tocoo().row, rows) and np.array_equal(found.tocoo().col, columns)
        assert abs(found - found.T).max() <= 1e-12


BOUND = [(adgen.jacobian, *case) for case in f.JACOBIANS[::3]] + [(adgen.hessian, *case) for case in f.HESSIANS[::2]]


@pytest.mark.parametrize("case", BOUND, ids=names([case[1:] for case in BOUND]))
def test_bound(case: Any) -> None:
    """The same matrix each time, with the entries at what the arguments hold then; others keep theirs."""
    operator, function, own, *wrt = case
    arguments = copy.deepcopy(own)
    made = operator(function, *wrt, sparse=True)
    evaluated, before = made.bind(*arguments), made(*arguments)
    first, kept = evaluated(), copy.deepcopy(before)
    compared(first, operator(function, *wrt)(*arguments))
    for argument in arguments:
        if isinstance(argument, np.ndarray) and argument.dtype.kind == "f":
            argument *= 0.75
    compared(evaluated(), operator(function, *wrt)(*arguments))
    assert all(one is other for one, other in zip(blocks(evaluated()), blocks(first), strict=True))
    for one, other in zip(blocks(before), blocks(kept), strict=True):
        assert not sparse.issparse(one) or np.array_equal(one.data, other.data)


def test_bound_to_arguments_of_several_types() -> None:
    """Entries of float32 beside those of float64."""

    def mixed(x, y):
        return x * x, y[1:] * y[:-1]

    x, y = np.arange(3, dtype=np.float32), np.arange(4.0)
    made = adgen.jacobian(mixed, sparse=True)
    evaluated = made.bind(x, y)
    first = evaluated()
    x += np.float32(1.0)
    y *= 2.0
    compared(evaluated(), adgen.jacobian(mixed)(x, y))
    assert blocks(evaluated())[0] is blocks(first)[0]


def test_the_page_is_true(tmp_path: Path) -> None:
    """What `docs/sparse.md` shows; its functions are put into files, where adgen reads their text."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "sparse.md").read_text()
    names: dict[str, Any] = {}
    test = doctest.DocTestParser().get_doctest(page, names, "sparse", "docs/sparse.md", 0)
    shown = []
    for number, example in enumerate(test.examples):
        if example.source.startswith("def "):
            file = tmp_path / f"page_{number}.py"
            file.write_text("import numpy as np\n" + example.source)
            exec(compile(file.read_text(), str(file), "exec"), test.globs)
        else:
            shown.append(example)
    test.examples = shown
    runner = doctest.DocTestRunner()
    runner.run(test, clear_globs=False)
    assert len(shown) > 3 and runner.failures == 0


# -- patterns ----------------------------------------------------------------------------------------------------


def test_pattern_of_a_stencil() -> None:
    """Three diagonals; the ends are empty rows."""
    rows, columns = adgen.sparsity(f.stencil)(np.zeros(6))
    assert set(zip(rows.tolist(), columns.tolist())) == {(i, i + d) for i in range(1, 5) for d in (-1, 0, 1)}


def test_pattern_of_a_gather() -> None:
    """Two entries a row, where the index array says."""
    rows, columns = adgen.sparsity(f.gathered, wrt="x")(np.zeros(8), f.INDEX)
    assert list(zip(rows.tolist(), columns.tolist())) == [
        (i, int(k) + d) for i, k in enumerate(f.INDEX) for d in (-1, 0)
    ]


def test_pattern_of_a_scatter() -> None:
    """An element of the result for each index, the same one twice."""
    matrix = adgen.jacobian(f.scattered, wrt="x", sparse=True)(np.ones(5), f.INDEX)
    assert pattern(matrix) == {(int(k), i) for i, k in enumerate(f.INDEX)}


def test_pattern_of_branches_holds_both_sides() -> None:
    """Which side runs depends on numbers, so it is the same pattern for all of them."""
    jacobian = adgen.jacobian(f.branching, sparse=True)
    both = {(i, i) for i in range(8)} | {(i, i - 1) for i in range(1, 8)}
    for seed in range(3):
        x = np.random.default_rng(seed).uniform(-1, 1, 8)
        assert pattern(jacobian(x)) == both
        compared(jacobian(x), adgen.jacfwd(f.branching)(x))
    assert len(_kept[jacobian.__adgen__]) == 1


def test_pattern_of_loops_without_a_bound() -> None:
    """A `while` on numbers: each result depends on its own element alone."""
    assert pattern(adgen.jacobian(f.newton, sparse=True)(f.numbers(5))) == {(i, i) for i in range(5)}


def test_pattern_of_loops_that_are_left_early() -> None:
    """Any sweep may have been the last, and the ends never change."""
    found = pattern(adgen.jacobian(f.relaxed, sparse=True)(f.numbers(5)))
    assert found == {(0, 0), (4, 4)} | {(i, k) for i in (1, 2, 3) for k in range(5)}


def test_pattern_of_unknown_indices_is_every_element() -> None:
    """A place that depends on numbers may be any."""
    own, table = adgen.jacobian(f.looked_up, sparse=True)(f.numbers(5), f.numbers(4))
    assert pattern(own) == {(i, i) for i in range(5)}
    assert pattern(table) == {(i, k) for i in range(5) for k in range(4)}


def test_pattern_of_a_rosenbrock_hessian() -> None:
    """Three diagonals."""
    rows, columns = adgen.sparsity(f.rosenbrock, of="hessian")(np.zeros(6))
    assert set(zip(rows.tolist(), columns.tolist())) == {(i, k) for i in range(6) for k in range(6) if abs(i - k) <= 1}


def test_linear_terms_have_no_second_derivative() -> None:
    """Nothing is stored, and nothing computed."""
    hessian = adgen.hessian(f.linear, sparse=True)
    assert hessian(np.ones(4)).nnz == 0
    assert len(plan_of(hessian).forward) == 0


def test_empty_rows_and_columns() -> None:
    """They are there, and hold nothing."""
    x, a = adgen.jacobian(f.wide, sparse=True)(np.arange(6.0), 2.0)
    assert x.shape == (3, 6) and a.shape == (3, 1)
    assert pattern(x) == {(0, 0), (2, 2), (2, 3)} and pattern(a) == {(0, 0)}


def test_nothing_at_all() -> None:
    """Arrays without elements have matrices without rows or columns."""
    assert adgen.jacobian(f.nothing, sparse=True)(np.zeros(0)).shape == (3, 0)
    assert adgen.jacobian(f.gathered, wrt="x", sparse=True)(np.zeros(7), f.INDEX[:0]).shape == (0, 7)
    assert adgen.hessian(f.rosenbrock, sparse=True)(np.zeros(1)).shape == (1, 1)


def test_a_shape_that_depends_on_numbers_is_refused() -> None:
    """It has no pattern; an unknown `of` has none either."""
    with pytest.raises(AdgenError, match="AD163"):
        adgen.sparsity(f.linear, of="gradient")


def test_both_ways_through_a_graph_agree() -> None:
    """Following the edges of each root, and sweeps with all: in a graph with circles, for more roots than one sweep."""
    generator = np.random.default_rng(3)
    inputs, nodes = 20, 150
    numbers = [*range(1, inputs + 1), *(inputs + 1 + 3 * k for k in range(nodes))]
    edges: list[int] = []
    for k in range(nodes):
        before = generator.integers(0, inputs + k, 2) if generator.random() < 0.9 else generator.integers(0, inputs, 2)
        anywhere = generator.integers(0, len(numbers)) if generator.random() < 0.05 else before[1]
        edges += [numbers[before[0]], numbers[anywhere], 0]
    graph, roots = np.array(edges, np.int64), np.array([0, *numbers[-100:], 5], np.int64)
    followed, swept = patterns._reached(graph, roots, inputs), patterns._swept(graph, roots, inputs)
    assert all(np.array_equal(a, b) for a, b in zip(followed, swept, strict=True))
    assert 100 < len(followed[1]) < 100 * inputs


# -- bundle adjustment -------------------------------------------------------------------------------------------

TO_BOTH = ("cameras", "points")


def test_bundle_adjustment() -> None:
    """Each observation has the nine columns of its camera and the three of its point, and all are right."""
    arguments = f.seen(3, 5, 8)
    found = adgen.jacobian(f.misses, wrt=TO_BOTH, sparse=True)(*arguments)
    compared(found, adgen.jacrev(f.misses, wrt=TO_BOTH)(*arguments))
    for block, index, width in zip(found, arguments[2:4], (9, 3), strict=True):
        assert pattern(block) == {
            (2 * m + row, width * int(k) + column)
            for m, k in enumerate(index)
            for row in range(2)
            for column in range(width)
        }


def test_bundle_adjustment_takes_as_many_products_as_a_row_is_long() -> None:
    """However many cameras and points there are."""
    jacobian = adgen.jacobian(f.misses, wrt=TO_BOTH, sparse=True)
    arguments = f.seen(21, 900, 2500)
    cameras, points = jacobian(*arguments)
    assert (cameras.nnz, points.nnz) == (2500 * 18, 2500 * 6)
    assert len(plan_of(jacobian).forward) == 12
    direction = np.random.default_rng(0).normal(size=arguments[0].shape), np.ones(arguments[1].shape)
    _, tangent = adgen.jvp(f.misses, wrt=TO_BOTH)(*arguments, tangent=direction)
    assert np.allclose(cameras @ direction[0].ravel() + points @ direction[1].ravel(), tangent.ravel(), rtol=1e-9)


def test_hessian_of_bundle_adjustment() -> None:
    """A block for each pair of a camera and a point that it sees."""
    arguments = f.seen(3, 5, 8)
    found = adgen.hessian(f.bundle.cost, wrt=TO_BOTH, sparse=True)(*arguments)
    dense = adgen.hessian(f.bundle.cost, wrt=TO_BOTH)(*arguments)
    scale = max(abs(np.asarray(block)).max() for block in blocks(dense))
    for block, whole in zip(blocks(found), blocks(dense), strict=True):
        assert np.allclose(block.toarray(), np.reshape(whole, block.shape), rtol=1e-10, atol=1e-12 * scale)
    pairs = len({(int(c), int(p)) for c, p in zip(*arguments[2:4])})
    assert found[0][1].nnz == found[1][0].nnz == 27 * pairs


# -- kept patterns -----------------------------------------------------------------------------------------------


def test_a_pattern_is_found_once_for_an_index_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other numbers need no new one; other indices and shapes do, and the first one is still known afterwards."""
    runs = []
    original = patterns.found
    monkeypatch.setattr("adgen.operators.sparse.found", lambda *given: runs.append(1) or original(*given))
    jacobian = adgen.jacobian(f.gathered, wrt="x", sparse=True)
    other = np.array([6, 5, 4, 3, 2])
    for x, index in ((1, f.INDEX), (2, f.INDEX), (3, f.INDEX.copy()), (4, other), (5, f.INDEX)):
        compared(jacobian(f.numbers(8) * x, index), adgen.jacfwd(f.gathered, wrt="x")(f.numbers(8) * x, index))
    assert len(runs) == 2
    jacobian(f.numbers(9), f.INDEX)
    assert len(runs) == 3


def test_results_share_no_memory() -> None:
    """What is done to one matrix does not change the next."""
    jacobian = adgen.jacobian(f.stencil, sparse=True)
    first = jacobian(f.numbers(6))
    first.data[:] = 7.0
    first.indices[:] = 0
    compared(jacobian(f.numbers(6)), adgen.jacfwd(f.stencil)(f.numbers(6)))


# -- products ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 100, 5000])
def test_the_number_of_products_does_not_grow(n: int) -> None:
    """As many as a band is wide."""
    for operator, function, count in (
        (adgen.jacobian, f.stencil, 3),
        (adgen.hessian, f.rosenbrock, 3),
        (adgen.hessian, f.beam, 5),
        (adgen.hessian, f.hub, 2),
    ):
        product = operator(function, sparse=True)
        product(f.numbers(n))
        plan = plan_of(product)
        assert (len(plan.forward), len(plan.reverse)) == (count, 0), function.__name__


def test_an_arrow_takes_its_long_row_by_reverse_mode() -> None:
    """Neither mode alone has fewer products than the arrow is long."""
    jacobian = adgen.jacobian(f.arrow, sparse=True)
    compared(jacobian(f.numbers(50)), adgen.jacfwd(f.arrow)(f.numbers(50)))
    plan = plan_of(jacobian)
    assert (len(plan.forward), len(plan.reverse)) == (2, 1)


def random_pattern(m: int, n: int, entries: set[tuple[int, int]]) -> Pattern:
    """A pattern of these entries."""
    rows, columns = (np.array([entry[k] for entry in sorted(entries)], np.int64) for k in (0, 1))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=m))]).astype(np.int64)
    return Pattern(((m,),), ((n,),), starts, columns)


ENTRIES = st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=40)


def read(plan: Any, matrix: np.ndarray, entries: int) -> np.ndarray:
    """The entries that a plan reads off its products with a matrix."""
    data = np.full(entries, np.nan)
    for products, factor in ((plan.forward, matrix), (plan.reverse, matrix.T)):
        for seeds, places, elements in zip(products.seeds, products.entries, products.elements, strict=True):
            data[places] = factor[:, seeds].sum(axis=1)[elements]
    return data


@settings(deadline=None, database=None)
@given(ENTRIES, st.sampled_from([("forward",), ("reverse",), ("forward", "reverse")]))
def test_every_entry_is_read(entries: set[tuple[int, int]], modes: tuple[str, ...]) -> None:
    """For any pattern, from products with a matrix that has it."""
    found = random_pattern(9, 9, entries)
    matrix = np.zeros((9, 9))
    matrix[found.rows, found.columns] = 2.0 ** np.arange(len(found.columns))
    data = read(cheapest(found, modes), matrix, len(entries))
    assert np.array_equal(data, matrix[found.rows, found.columns])


@settings(deadline=None, database=None)
@given(ENTRIES, st.booleans())
def test_every_entry_of_a_symmetric_matrix_is_read(entries: set[tuple[int, int]], lopsided: bool) -> None:
    """From the columns of a star colouring; a pattern that is not symmetric is coloured as any other."""
    both = entries if lopsided else entries | {(k, i) for i, k in entries}
    found = random_pattern(9, 9, both)
    matrix = np.zeros((9, 9))
    matrix[found.rows, found.columns] = 1.0 + np.minimum(found.rows, found.columns) * 9 + found.rows + found.columns
    data = read(symmetric(found), matrix, len(both))
    assert np.array_equal(data, matrix[found.rows, found.columns])


@settings(deadline=None, database=None, max_examples=20)
@given(ENTRIES)
def test_star_colourings(entries: set[tuple[int, int]]) -> None:
    """Neighbours differ, and no path of four has two colours; checked for all paths."""
    edges = {(i, k) for i, k in entries | {(k, i) for i, k in entries} if i != k}
    rows, columns = (np.array([edge[k] for edge in sorted(edges)], np.int64) for k in (0, 1))
    colours = stars(rows, columns, 9).colours
    assert all(colours[i] != colours[k] for i, k in edges)
    neighbours = {v: [k for i, k in edges if i == v] for v in range(9)}
    for v in range(9):
        for w, x in itertools.product(neighbours[v], repeat=2):
            for y in neighbours[x] if w != x else ():
                if y not in (v, w):
                    assert len({colours[w], colours[v], colours[x], colours[y]}) > 2


def test_loops_are_the_same_compiled() -> None:
    """The algorithms as Python and as C."""
    generator = np.random.default_rng(0)
    rows, columns = generator.integers(0, 60, (2, 300))
    there = np.unique(np.concatenate([rows * 60 + columns, columns * 60 + rows]))
    rows, columns = there // 60, there % 60
    seen = []
    for steps in (0, 10**9):
        assert (loop(reach, steps) is reach) == (steps == 0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("adgen.operators.sparse.loops.MANY", 0 if steps else 10**12)
            first, second = apart(rows, columns, 60, 60), stars(rows, columns, 60)
        seen.append([first.count, second.count, *first.colours.tolist(), *second.colours.tolist()])
    assert seen[0] == seen[1]
    assert colour_apart is not colour_stars
