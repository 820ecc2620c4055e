"""Dropping index checks, for users who vouch for their indices."""

from __future__ import annotations

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.calls import everywhere
from adgen.ir.nodes import Function, Operation
from adgen.ir.rebuild import Mapping, rebuild


def unchecked(function: Function) -> Function:
    """Drop every check that raises `IndexError`; other checks, such as an `assert`, stay.

    Before:  function f(%A: f64[:], %i: i64) -> (x) {
               %n = dim %A {axis=0} : i64
               %fits = lt %i, %n : bool
               check %fits, %i, %n {exception="IndexError", message="index {0} is out of bounds with size {1}"}
               %x = load %A, %i : f64
               return %x
             }
    After:   function f(%A: f64[:], %i: i64) -> (x) {
               %n = dim %A {axis=0} : i64
               %fits = lt %i, %n : bool
               %x = load %A, %i : f64
               return %x
             }
    """
    return everywhere(function, lambda each: rebuild(each, _drop))


def _drop(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
    return operation.row is core.CHECK and operation.attributes["exception"] == "IndexError"
