"""Formulas: sympy's expressions into functions, functions into formulas, and proofs that derivatives are right.

Beside the operation table the only part of the package that imports sympy, inside functions.
"""
