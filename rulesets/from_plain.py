"""Typed values from the plain values of a log, with checks of the types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMES: Final = {"Literal": Literal, "Mapping": Mapping}
"""The names in annotations that modules import only for type checkers."""


def from_plain(kind: Any, plain: Any) -> Any:
    """Make a value.

    Args:
        kind: A scalar, a literal, a tuple, a mapping, a dataclass of such, or one of them or None.
        plain: What `dataclasses.asdict` made of it, perhaps after JSON; fields added since may be missing.

    Raises:
        TypeError: Something has another type, or is unknown.
    """
    if kind is Any:
        return plain
    if is_dataclass(kind):
        return _dataclass(kind, plain)
    make = _MAKERS.get(get_origin(kind))
    return _scalar(kind, plain) if make is None else make(get_args(kind), plain)


def _dataclass(kind: Any, plain: Any) -> Any:
    hints = get_type_hints(kind, localns=_NAMES)
    names = {field.name for field in fields(kind)}
    for name in _checked(plain, right=isinstance(plain, Mapping)):
        if name not in names:
            raise TypeError(f"there is no {name!r} in {kind.__name__}")
    return kind(**{name: from_plain(hints[name], value) for name, value in plain.items()})


def _scalar(kind: Any, plain: Any) -> Any:
    if isinstance(plain, bool) and kind is not bool:
        return _checked(plain, right=False)
    return _checked(plain, right=isinstance(plain, int | float if kind is float else kind))


def _one_of(kinds: tuple[Any, ...], plain: Any) -> Any:
    if plain is None and NoneType in kinds:
        return None
    (kind,) = (option for option in kinds if option is not NoneType)
    return from_plain(kind, plain)


def _tuple(kinds: tuple[Any, ...], plain: Any) -> Any:
    items = _checked(plain, right=isinstance(plain, list | tuple))
    each = kinds[:1] * len(items) if kinds[-1] is Ellipsis else kinds
    return tuple(from_plain(kind, item) for kind, item in zip(each, items, strict=True))


def _mapping(kinds: tuple[Any, ...], plain: Any) -> Any:
    named = _checked(plain, right=isinstance(plain, Mapping))
    return {from_plain(kinds[0], name): from_plain(kinds[1], value) for name, value in named.items()}


def _literal(words: tuple[Any, ...], plain: Any) -> Any:
    return _checked(plain, right=plain in words)


def _checked(plain: Any, *, right: bool) -> Any:
    if not right:
        raise TypeError(f"{plain!r} is of another kind than it was")
    return plain


_MAKERS: Final[Mapping[Any, Callable[[tuple[Any, ...], Any], Any]]] = {
    Union: _one_of,
    UnionType: _one_of,
    Literal: _literal,
    tuple: _tuple,
    dict: _mapping,
    Mapping: _mapping,
}
