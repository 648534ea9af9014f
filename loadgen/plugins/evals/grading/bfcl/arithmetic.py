"""The value of arithmetic in an argument, `5/9` or `[1] * 3`.

The official decoder runs it as Python, whatever it is. Here literals are calculated, and pure functions of
them; what names anything else is not run, and mostly fails there as well, for want of the name.
"""

from __future__ import annotations

import ast
import operator
import re
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.json_calls import UndecodableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MOST_BITS: Final = 14_000
"""Python writes no integer of more than 4,300 digits."""

_LONGEST: Final = 1_000_000

_WIDE: Final = re.compile(r"\d{5}|\*")
"""In a format, a width that may be of any size."""


def calculated(node: ast.expr) -> Any:
    """Calculate an expression.

    Raises:
        UndecodableError: It is not made of literals, or its value is too large to write down.
        Exception: What the calculation raises.
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](calculated(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _bounded(_BINARY[type(op)](calculated(left), calculated(right)))
        case ast.Subscript(value=of, slice=index):
            return calculated(of)[calculated(index)]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _PURE:
            return _PURE[name](*(calculated(argument) for argument in args))
    return _collection(node)


def _collection(node: ast.expr) -> Any:
    match node:
        case ast.List(elts=items):
            return [calculated(item) for item in items]
        case ast.Tuple(elts=items):
            return tuple(calculated(item) for item in items)
        case ast.Set(elts=items):
            return {calculated(item) for item in items}
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return {calculated(k): calculated(v) for k, v in zip(keys, values, strict=True) if k is not None}
    raise UndecodableError(f"{type(node).__name__} in arithmetic, which is not run")


# What can become very large is looked at before…


def _times(left: Any, right: Any) -> Any:
    size = max(_length(left) * _count(right), _length(right) * _count(left))
    return left * right if size <= _LONGEST else _too_large()


def _power(base: Any, exponent: Any) -> Any:
    whole = isinstance(base, int) and isinstance(exponent, int)
    bits = base.bit_length() * exponent if whole else 0
    return base**exponent if bits <= _MOST_BITS else _too_large()


def _shifted(left: Any, right: Any) -> Any:
    return left << right if _count(right) <= _MOST_BITS else _too_large()


def _modulo(left: Any, right: Any) -> Any:
    wide = isinstance(left, str | bytes) and _WIDE.search(str(left))
    return _too_large() if wide else left % right


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes | list | tuple) else 0


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _bounded(value: Any) -> Any:
    return _too_large() if isinstance(value, int) and value.bit_length() > _MOST_BITS else value


def _too_large() -> Any:
    raise UndecodableError("a value that is too large to write down")


_PURE: Final[Mapping[str, Callable[..., Any]]] = {
    "pow": _power,
    **{
        function.__name__: function
        for function in (abs, bool, float, int, len, list, max, min, round, sorted, str, sum, tuple)
    },
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _times,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: _modulo,
    ast.Pow: _power,
    ast.LShift: _shifted,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
