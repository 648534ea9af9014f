"""Arithmetic that a model writes: numbers, + - * / // **, parentheses."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Final

from loadgen.plugins.agents.toolset import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_BINARY: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[float], float]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_LONGEST: Final = 2_000
_GREATEST_POWER: Final = 1_000
_LARGEST_BASE: Final = 1e6


def calculated(expression: str) -> float:
    """The value of an expression; raise `Refusal` for any other text, or what Python's evaluation raises."""
    if len(expression) > _LONGEST:
        raise Refusal("the expression is too long")
    return _value(ast.parse(expression.lstrip(" \t"), "<string>", "eval").body)


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Pow) and (abs(right) > _GREATEST_POWER or abs(left) > _LARGEST_BASE):
            raise Refusal("the power is too great")
        return _BINARY[type(node.op)](left, right)
    raise Refusal("invalid syntax")
