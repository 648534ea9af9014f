"""Lazy dataclasses behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import sys
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

import lazy_dataclasses

if TYPE_CHECKING:
    from collections.abc import Callable


NAN = float("nan")


def defined(dataclass: Callable[..., Any]) -> dict[str, Any]:
    """Define classes of all kinds with a decorator."""

    @dataclass(frozen=True, slots=True)
    class Point:
        KIND: ClassVar[str] = "point"
        x: int
        y: int = 0
        tags: list[str] = dataclasses.field(default_factory=list, compare=False, repr=False)

    @dataclass(frozen=True, slots=True)
    class Deep(Point):
        y: int = 3
        z: float = NAN
        _: dataclasses.KW_ONLY
        name: str = "deep"

    @dataclass(slots=True, kw_only=True)
    class Mutable:
        parts: dict[str, Any] = dataclasses.field(default_factory=dict)
        size: int = dataclasses.field(init=False)
        count: int = dataclasses.field(default=4, init=False)

        def __post_init__(self) -> None:
            self.size = len(self.parts)

    @dataclass
    class Plain:
        first: int
        other: Plain | None = None

    @dataclass(frozen=True, slots=True, eq=False)
    class Identity:
        first: int

    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    @dataclass(frozen=True)
    class Written:
        first: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Written)

        def __hash__(self) -> int:
            return 5

        def __repr__(self) -> str:
            return "written"

    return {name: kind for name, kind in locals().items() if isinstance(kind, type)}


STANDARD = defined(dataclasses.dataclass)
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Point", (1,), {}),
    ("Point", (1, 2), {"tags": ["a"]}),
    ("Point", (), {"x": 1, "tags": ["b"]}),
    ("Point", (), {}),
    ("Point", (1, 2, [], 4), {}),
    ("Point", (1,), {"w": 2}),
    ("Deep", (1, 2, ["a"], 4.0), {"name": "n"}),
    ("Deep", (1, 2, ["a"], 4.0, "n"), {}),
    ("Deep", (1,), {}),
    ("Mutable", (), {"parts": {"a": 1}}),
    ("Mutable", ({},), {}),
    ("Plain", (1,), {}),
    ("Plain", (1,), {"other": (1, [2])}),
    ("Identity", (1,), {}),
    ("Empty", (), {}),
    ("Written", (2,), {}),
]


def outcome(function: Callable[[], Any]) -> Any:
    """The result of a call, or its error as text."""
    try:
        return function()
    except (TypeError, AttributeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def facts(kinds: dict[str, Any], call: tuple[str, tuple[Any, ...], dict[str, Any]]) -> list[Any]:
    """What can be observed of an instance and of its class."""
    name, args, kwargs = call
    kind = kinds[name]
    value = outcome(lambda: kind(*args, **kwargs))
    about = [
        kind.__match_args__,
        getattr(kind, "__slots__", None),
        [(each.name, each.type, each.kw_only, each.init) for each in dataclasses.fields(kind)],
    ]
    if isinstance(value, str):
        return [*about, value]
    same, first = kind(*args, **kwargs), next((each.name for each in dataclasses.fields(kind)), None)
    return [
        *about,
        repr(value),
        # Since Python 3.13 the standard one compares field by field, not tuples: NaN differs from itself.
        value == same or (sys.version_info >= (3, 13) and getattr(value, "z", None) is NAN),
        value == kinds["Empty"](),
        outcome(lambda: hash(value) == hash(same)),
        dataclasses.asdict(value),
        outcome(lambda: repr(dataclasses.replace(value, **kwargs))),
        first and outcome(lambda: setattr(value, first, 9)),
        first and outcome(lambda: delattr(value, first)),
        repr(copy.deepcopy(same)),
    ]


@pytest.mark.parametrize("few", [0, 8])
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_a_lazy_dataclass_is_as_a_standard_one(
    call: tuple[str, tuple[Any, ...], dict[str, Any]], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both kinds of dataclass share construction, errors, equality, hashes, text, copies and frozenness."""
    monkeypatch.setattr(lazy_dataclasses, "_FEW", few)
    assert facts(defined(lazy_dataclasses.dataclass), call) == facts(STANDARD, call)


@lazy_dataclasses.dataclass(frozen=True, slots=True)
class Sent:
    """A value of a module, so that it can be pickled."""

    first: int
    more: tuple[Sent, ...] = ()


def test_a_lazy_dataclass_can_be_pickled_and_extended() -> None:
    """A value survives pickle; standard dataclasses may extend lazy ones; mutable defaults are refused."""
    value = Sent(1, (Sent(2),))
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301

    @dataclasses.dataclass(frozen=True, slots=True)
    class More(Sent):
        last: int = 3

    assert repr(More(1)).endswith("More(first=1, more=(), last=3)")
    with pytest.raises(ValueError, match="mutable default"):

        @lazy_dataclasses.dataclass
        class Wrong:
            """Has a default that its instances would share."""

            items: list[int] = []  # noqa: RUF012
