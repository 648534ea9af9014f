"""Dataclasses that are cheap to define: `__init__` is compiled when there are several instances.

The standard decorator compiles six methods of each class when the class is defined, about a millisecond; a
program of some hundred dataclasses would spend more on that than on a short run. The classes work with
`dataclasses.fields`, `replace` and `asdict`, and type checkers take the decorator for the standard one.
Not supported: `order`, `unsafe_hash`, `InitVar`.
"""

from __future__ import annotations

from dataclasses import (  # type: ignore[attr-defined]
    _FIELD,
    KW_ONLY,
    MISSING,
    Field,
    FrozenInstanceError,
    asdict,
    field,
    fields,
    is_dataclass,
    replace,
)
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from dataclasses import dataclass

_FEW = 8  #: instances before `__init__` is compiled, which takes as long as twenty of them

__all__ = ["KW_ONLY", "MISSING", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

if not TYPE_CHECKING:

    def dataclass(
        cls: Any = None, *, frozen: bool = False, slots: bool = False, eq: bool = True, kw_only: bool = False
    ) -> Any:
        """Make a class a dataclass; the parameters are those of `dataclasses.dataclass`."""

        def made(cls: type) -> type:
            own = {each.name: each for each in _own_fields(cls, kw_only=kw_only)}
            inherited = {}
            for base in reversed(cls.__mro__[1:]):
                inherited |= getattr(base, "__dataclass_fields__", {})
            every = inherited | own
            if slots:
                cls = _with_slots(cls, own, inherited)
            elif own:
                _keep_defaults(cls, own)
            cls.__dataclass_fields__ = every
            cls.__dataclass_params__ = SimpleNamespace(frozen=frozen, eq=eq, slots=slots, kw_only=kw_only)
            _add_methods(cls, tuple(every.values()), frozen=frozen, eq=eq)
            return cls

        return made if cls is None else made(cls)


def _own_fields(cls: type, *, kw_only: bool) -> Iterator[Field[Any]]:
    for name, annotation in get_annotations(cls).items():
        kind = str(annotation).removeprefix("typing.").removeprefix("dataclasses.")
        if kind.startswith("ClassVar"):
            continue
        if kind == "KW_ONLY":
            kw_only = True
            continue
        default = cls.__dict__.get(name, MISSING)
        made: Any = default if isinstance(default, Field) else field(default=default)
        if made.default.__class__.__hash__ is None:
            raise ValueError(f"mutable default of {cls.__name__}.{name}: use default_factory")
        made.name, made.type, made._field_type = name, annotation, _FIELD  # noqa: SLF001
        if made.kw_only is MISSING:
            made.kw_only = kw_only
        yield made


def _with_slots(cls: type, own: dict[str, Field[Any]], inherited: dict[str, Field[Any]]) -> type:
    """A class made again: slots cannot be added to one that exists."""
    removed = {*own, "__dict__", "__weakref__"}
    body = {name: value for name, value in cls.__dict__.items() if name not in removed}
    body["__slots__"] = tuple(name for name in own if name not in inherited)
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _keep_defaults(cls: type, own: dict[str, Field[Any]]) -> None:
    """Replace the fields of a class body by their defaults."""
    for name, each in own.items():
        if each.default is not MISSING:
            setattr(cls, name, each.default)
        elif name in cls.__dict__:
            delattr(cls, name)


def _add_methods(cls: type, every: tuple[Field[Any], ...], *, frozen: bool, eq: bool) -> None:
    methods: dict[str, Any] = {
        "__match_args__": tuple(each.name for each in every if each.init and not each.kw_only),
        "__init__": _init_on_use(cls, every, frozen=frozen),
        "__repr__": _repr,
    }
    if eq:
        values = _values(tuple(each.name for each in every if each.compare))
        methods["__eq__"] = _equality(values)
        methods["__hash__"] = (lambda self: hash(values(self))) if frozen else None
    if frozen:
        names = frozenset(each.name for each in every)
        methods["__setattr__"] = _refusal(cls, names, object.__setattr__, "assign to")
        methods["__delattr__"] = _refusal(cls, names, object.__delattr__, "delete")
        methods["__getstate__"], methods["__setstate__"] = _state, _restore
    has_hash = cls.__dict__.get("__hash__") is not None
    for name, method in methods.items():
        if name not in cls.__dict__ or (name == "__hash__" and not has_hash):
            setattr(cls, name, method)


def _init_on_use(cls: Any, every: tuple[Field[Any], ...], *, frozen: bool) -> Callable[..., None]:
    left, put = _FEW, object.__setattr__ if frozen else setattr

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        nonlocal left
        left -= 1
        if left < 0 or (values := _values_of(every, args, kwargs)) is None:
            cls.__init__ = _init(cls, every, frozen=frozen)
            cls.__init__(self, *args, **kwargs)
            return
        for name, value in values.items():
            put(self, name, value)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()

    return __init__


def _values_of(
    every: tuple[Field[Any], ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any] | None:
    """The value of each field; None for arguments that the compiled method refuses."""
    places, values = (each.name for each in every if each.init and not each.kw_only), {}
    passed = dict(zip(places, args, strict=False)) | kwargs
    if len(passed) < len(args) + len(kwargs):
        return None
    for each in every:
        if each.init and each.name in passed:
            values[each.name] = passed.pop(each.name)
        elif each.default_factory is not MISSING:
            values[each.name] = each.default_factory()
        elif each.default is not MISSING:
            values[each.name] = each.default
        elif each.init:
            return None
    return None if passed else values


def _init(cls: Any, every: tuple[Field[Any], ...], *, frozen: bool) -> Callable[..., None]:
    names: dict[str, Any] = {"_set": object.__setattr__, "_MADE": object()}
    positional, named, body = ["self"], ["*"], []
    for each in every:
        name, value = each.name, each.name
        if each.default_factory is not MISSING:
            names[f"_make_{name}"] = each.default_factory
            default = "=_MADE"
            value = f"_make_{name}() if {name} is _MADE else {name}" if each.init else f"_make_{name}()"
        elif each.default is not MISSING:
            names[f"_default_{name}"] = each.default
            default = f"=_default_{name}"
            value = name if each.init else f"_default_{name}"
        else:
            default = ""
        if each.init:
            (named if each.kw_only else positional).append(name + default)
        elif not (names.keys() & {f"_make_{name}", f"_default_{name}"}):
            continue
        body.append(f" _set(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    parameters = ", ".join(positional + (named if named[1:] else []))
    exec("\n".join((f"def __init__({parameters}):", *(body or [" pass"]))), names)  # noqa: S102
    made: Callable[..., None] = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _equality(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _refusal(cls: type, names: frozenset[str], act: Callable[..., None], verb: str) -> Callable[..., None]:
    def refuse(self: Any, name: str, *value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot {verb} field {name!r}")
        act(self, name, *value)

    return refuse


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
