"""The algorithms on graphs that sparse derivatives need: plain loops over integer arrays.

Comes in: arrays, those named `starts` and `members` being lists one after the other (`members[starts[k]:starts[k + 1]]`
is list k).  Goes out: results written into the last arrays.  Guaranteed: each is an ordinary Python function, which
`loop` runs as it is for a few steps and compiled by adgen for many.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

Integers = np.ndarray[Any, np.dtype[np.int64]]
BITS = 62  # roots of one sweep
MANY = 50_000  # steps that are worth compiling for


def loop(function: Callable[..., Any], steps: int) -> Callable[..., Any]:
    """The function, compiled when it is going to run so many steps."""
    return _compiled(function) if steps >= MANY else function


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    from adgen.operators.products import plain_operator

    return plain_operator(function, "value")


def reach(
    edges: Integers,
    roots: Integers,
    inputs: int,
    limit: int,
    starts: Integers,
    members: Integers,
    seen: Integers,
    todo: Integers,
) -> int:
    """For each root of a dependence graph the inputs that it depends on, numbered from 0, by following its edges.

    `seen` are zeros, one for each place of `edges` and each input and one more; `todo` has as many elements.  Gives the
    length of all lists together, of which what does not fit into `members` is left out; -1 after so many steps.
    """
    count = 0
    steps = 0
    for k in range(len(roots)):
        starts[k] = count
        waiting = 0
        if roots[k] > 0:
            todo[0] = roots[k]
            waiting = 1
        while waiting > 0:
            steps += 1
            if steps > limit:
                return -1
            waiting -= 1
            node = todo[waiting]
            if node <= inputs:
                if count < len(members):
                    members[count] = node - 1
                count += 1
            else:
                place = node - inputs - 1
                while edges[place] > 0:
                    parent = edges[place]
                    if seen[parent] != k + 1:
                        seen[parent] = k + 1
                        todo[waiting] = parent
                        waiting += 1
                    place += 1
    starts[len(roots)] = count
    return count


def sweep(edges: Integers, roots: Integers, inputs: int, masks: Integers) -> int:
    """For every node of a dependence graph which of a few roots depend on it: bit k of its mask stands for root k.

    `masks` are zeros, one for each place of `edges` and each input and one more.  Gives how many sweeps it took: nodes
    come after what they depend on, but for circles.
    """
    for k in range(len(roots)):
        masks[roots[k]] |= 1 << k
    masks[0] = 0
    sweeps = 0
    changed = True
    while changed:
        changed = False
        sweeps += 1
        stop = len(edges) - 1
        while stop > 0:
            start = stop
            while start > 0 and edges[start - 1] != 0:
                start -= 1
            node = inputs + 1 + start
            mask = masks[node]
            for place in range(start, stop):
                parent = edges[place]
                joined = masks[parent] | mask
                if joined != masks[parent]:
                    masks[parent] = joined
                    changed = changed or parent >= node
            stop = start - 1
    return sweeps


def colour_apart(
    starts: Integers,
    members: Integers,
    back_starts: Integers,
    back_members: Integers,
    colours: Integers,
    taken: Integers,
) -> int:
    """Colour members so that no two of one list have the same colour, each with the first that is free.

    `back` are the lists that each member is in; members of no list get the colour -1.  `colours` and `taken` are -1,
    one for each member.  Gives the number of colours.
    """
    count = 0
    for member in range(len(colours)):
        for k in range(back_starts[member], back_starts[member + 1]):
            for other in range(starts[back_members[k]], starts[back_members[k] + 1]):
                colour = colours[members[other]]
                if colour >= 0:
                    taken[colour] = member
        if back_starts[member + 1] > back_starts[member]:
            colour = 0
            while taken[colour] == member:
                colour += 1
            colours[member] = colour
            count = max(count, colour + 1)
    return count


def colour_stars(
    starts: Integers,
    members: Integers,
    mirror: Integers,
    colours: Integers,
    taken: Integers,
    first: Integers,
    first_edge: Integers,
    treated: Integers,
    star: Integers,
    hub: Integers,
) -> int:
    """Star colouring of a graph (lists of neighbours): neighbours differ, and every path of four has three colours.

    Each two colours then span stars, which are kept track of: `star` of an edge, `hub` of a star (-1: it has but one
    edge).  `mirror` is the place of each edge in its other direction.  All working arrays are -1: `colours`, `taken`,
    `first`, `first_edge`, `treated` one for each vertex, `star`, `hub` one for each place of an edge.  Gives the number
    of colours.
    """
    count = 0
    stars = 0
    for v in range(len(colours)):
        for edge in range(starts[v], starts[v + 1]):
            w = members[edge]
            colour = colours[w]
            if colour >= 0:
                taken[colour] = v
                if first[colour] == v:  # two neighbours of one colour: v is not to be like any neighbour of theirs
                    other = members[first_edge[colour]]
                    if treated[other] != v:
                        treated[other] = v
                        for k in range(starts[other], starts[other + 1]):
                            if colours[members[k]] >= 0:
                                taken[colours[members[k]]] = v
                    treated[w] = v
                    for k in range(starts[w], starts[w + 1]):
                        if colours[members[k]] >= 0:
                            taken[colours[members[k]]] = v
                else:
                    first[colour] = v
                    first_edge[colour] = edge
                    for k in range(starts[w], starts[w + 1]):
                        x = members[k]
                        if colours[x] >= 0 and hub[star[k]] == x:  # w is an end of the star of x
                            taken[colours[x]] = v
        own = 0
        while taken[own] == v:
            own += 1
        colours[v] = own
        count = max(count, own + 1)
        for edge in range(starts[v], starts[v + 1]):
            w = members[edge]
            colour = colours[w]
            if colour >= 0:
                found = -1
                for k in range(starts[w], starts[w + 1]):
                    if members[k] != v and colours[members[k]] == own:
                        found = k
                        break
                if found >= 0:
                    hub[star[found]] = w
                    star[edge] = star[found]
                elif first_edge[colour] != edge:
                    hub[star[first_edge[colour]]] = v
                    star[edge] = star[first_edge[colour]]
                else:
                    star[edge] = stars
                    stars += 1
                star[mirror[edge]] = star[edge]
    return count
