"""A field of a settings class."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from lazy_dataclasses import MISSING, dataclass, replace
from loadgen.sessions.settings.option import Option


@dataclass(frozen=True, slots=True)
class SettingField:
    """A field."""

    name: str
    value_type: Any
    default: Any
    declared: Option

    @property
    def kind(self) -> Any:
        """The type of the option's value; for a list, the type of an item."""
        kinds = self._kinds
        lists = [kind for kind in kinds if get_origin(kind) is list]
        return get_args(lists[0])[0] if lists else next(kind for kind in kinds if kind is not NoneType)

    @property
    def is_list(self) -> bool:
        """Whether the option takes several values."""
        return any(get_origin(kind) is list for kind in self._kinds)

    @property
    def is_required(self) -> bool:
        """Whether the option lacks a default."""
        return self.default is MISSING

    @property
    def _kinds(self) -> tuple[Any, ...]:
        is_union = get_origin(self.value_type) in {Union, UnionType}
        return get_args(self.value_type) if is_union else (self.value_type,)

    @property
    def flag(self) -> str:
        """Its option on the command line."""
        long = (flag for flag in self.declared.flags.split() if flag.startswith("--"))
        return next(long, "--" + self.name.replace("_", "-"))


def setting_field(name: str, hint: Any, default: Any, declared: Option | None = None) -> SettingField:
    """A field, or a parameter of a function."""
    value_type, kinds = _without_annotations(hint)
    *kinds, outermost = (kinds if declared is None else [*kinds, declared]) or [Option()]
    for each in reversed(kinds):
        outermost = outermost.filled(each)
    long = f"--{name.replace('_', '-')}"
    flags = " ".join(long if flag == "--" else flag for flag in outermost.flags.split())
    return SettingField(name, value_type, default, replace(outermost, flags=flags))


def _without_annotations(hint: Any) -> tuple[Any, list[Any]]:
    """A type and its annotations, the innermost first."""
    origin = get_origin(hint)
    if origin is Annotated:
        value_type, annotations = _without_annotations(hint.__origin__)
        return value_type, [*annotations, *hint.__metadata__]
    if origin not in {Union, UnionType, list}:
        return hint, []
    parts = [_without_annotations(part) for part in get_args(hint)]
    types = tuple(value_type for value_type, _ in parts)
    annotations = [annotation for _, each in parts for annotation in each]
    return list[types[0]] if origin is list else Union[types], annotations  # type: ignore[valid-type]  # noqa: UP007
