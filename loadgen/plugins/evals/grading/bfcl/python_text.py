"""Calls that are written in Python: `[f(a=1), g(b=[2, 3])]`."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any

from loadgen.plugins.evals.grading.bfcl.arithmetic import calculated
from loadgen.plugins.evals.grading.json_calls import UndecodableError

if TYPE_CHECKING:
    from collections.abc import Sequence


def python_calls(text: str) -> Any:
    """Read calls; a single one may stand alone."""
    body = expression(text.strip().strip("'"))
    return [call(node) for node in ([body] if isinstance(body, ast.Call) else elements(body))]


def expression(text: str) -> ast.expr:
    """Parse one Python expression."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model's `"\d"` does not concern the reader
        return ast.parse(text, mode="eval").body


def elements(body: ast.expr) -> Sequence[ast.Call]:
    """The calls in a list, a tuple or a set."""
    if not isinstance(body, ast.List | ast.Tuple | ast.Set):
        raise UndecodableError("not a list of calls")
    calls = [node for node in body.elts if isinstance(node, ast.Call)]
    if len(calls) != len(body.elts):
        raise UndecodableError("something in the list is not a call")
    return calls


def call(node: ast.Call) -> dict[str, Any]:
    """One call; arguments without names are passed over."""
    parts, named = [], node.func
    while isinstance(named, ast.Attribute):
        parts.append(named.attr)
        named = named.value
    if isinstance(named, ast.Name):
        parts.append(named.id)
    return {".".join(reversed(parts)): {argument.arg: value(argument.value) for argument in node.keywords}}


def value(node: ast.expr | None) -> Any:
    """The value of an argument; names, and calls without keyword arguments, stay text."""
    match node:
        case ast.Constant(value=constant):
            return "..." if constant is ... else constant
        case ast.UnaryOp(operand=ast.Constant(value=constant)):
            return -constant  # type: ignore[operator]  # whatever the sign is: `+5` is read as -5
        case ast.BinOp():
            return calculated(node)
        case ast.Name() | ast.Subscript() | ast.Call(keywords=[]):
            return _text(node)
        case ast.Call():
            return call(node)
    return _collection(node)


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        return f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]"  # `a[1, 2]` is `a[(1, 2)]`
    return ast.unparse(node)


def _collection(node: ast.expr | None) -> Any:
    match node:
        case ast.List(elts=items):
            return [value(item) for item in items]
        case ast.Tuple(elts=items):
            return tuple(value(item) for item in items)
        case ast.Dict(keys=keys, values=values):
            return {value(k): value(v) for k, v in zip(keys, values, strict=True)}
    raise UndecodableError(f"an argument is of no kind that is read: {type(node).__name__}")
