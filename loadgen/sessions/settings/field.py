"""A field of a settings class, which reads values of a file or a Python program."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

from loadgen.sessions.settings.option import Option, OptionValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

_JSON: Final = "JSON"


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

    def read(self, value: object, folder: Path | None = None) -> Any:
        """Read a value as the command line would; a single value becomes a list of one.

        An `@FILE` starts from the folder, by default the current one.

        Raises:
            ValueError: The value is invalid; the message is the end of a sentence that names the key.
        """
        if not self.is_list:
            return self._item(value, folder)
        return [self._item(each, folder) for each in (value if isinstance(value, list | tuple) else [value])]

    def schema(self) -> dict[str, Any]:
        """The JSON schema of its values."""
        value_schema = _schema(self.kind, free=self.declared.parser is not None)
        bounds = {"minimum": self.declared.min, "maximum": self.declared.max}
        value_schema |= {name: bound for name, bound in bounds.items() if bound is not None}
        if str(self.declared.metavar).startswith(_JSON):
            value_schema = {"anyOf": [value_schema, {"type": "object"}]}
        if self.is_list:
            value_schema = {"anyOf": [value_schema, {"type": "array", "items": value_schema}]}
        examples = {"examples": list(self.declared.examples)} if self.declared.examples else {}
        return {**value_schema, **examples, "description": self.declared.help}

    def _item(self, value: object, folder: Path | None) -> Any:
        if self.kind is bool:
            if not isinstance(value, bool):
                raise ValueError(f"must be true or false, not {value!r}")
            return value
        if str(self.declared.metavar).startswith(_JSON) and isinstance(value, dict):
            return _json(value)
        if isinstance(value, bool) or not isinstance(value, str | int | float | Path):
            raise ValueError(f"must be {self._wanted()}, not {_shown(value)}")  # noqa: TRY004 (pydantic's way)
        text = str(value)
        if "\0" in text:
            raise ValueError("has a NUL character in it")
        if folder is not None and text.startswith("@") and str(self.declared.metavar).endswith("@FILE"):
            text = f"@{folder / Path(text[1:]).expanduser()}"
        return self._within_bounds(self._parsed(text))

    def _within_bounds(self, value: Any) -> Any:
        """Check a number as typer does with an option's bounds."""
        least, greatest = self.declared.min, self.declared.max
        if least is not None and value < least:
            raise ValueError(f"must be at least {least:,}, not {value:,}")
        if greatest is not None and value > greatest:
            raise ValueError(f"must be at most {greatest:,}, not {value:,}")
        return value

    def _parsed(self, text: str) -> Any:
        if self.declared.parser is not None:
            try:
                return self.declared.parser(text)
            except OptionValueError as error:
                raise ValueError(f"cannot be read: {error}") from error
        if get_origin(self.kind) is Literal:
            if text not in get_args(self.kind):
                raise ValueError(f"must be {self._wanted()}, not {text!r}")
            return text
        try:
            return self.kind(text)
        except ValueError:
            raise ValueError(f"must be {self._wanted()}, not {text!r}") from None

    def _wanted(self) -> str:
        if get_origin(self.kind) is Literal:
            return " or ".join(map(repr, get_args(self.kind)))
        return {int: "a whole number", float: "a number", bool: "true or false"}.get(
            self.kind, "text or a number"
        )


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


def _schema(kind: Any, *, free: bool) -> dict[str, Any]:
    """The JSON schema of one value; of a type that a function reads from text, numbers and text."""
    if get_origin(kind) is Literal:
        return {"enum": list(get_args(kind))}
    if free:
        return {"type": ["number", "string"]}
    names = {bool: "boolean", int: "integer", float: "number", Path: "string"}
    return {"type": names.get(kind, ["string", "number"])}


def _json(value: Mapping[str, Any]) -> str:
    import orjson

    try:
        return orjson.dumps(value).decode()
    except TypeError as error:
        raise ValueError(f"cannot be written as JSON: {error}") from error


def _shown(value: object) -> str:
    return {dict: "a table", list: "a list", bool: "true or false", NoneType: "nothing"}.get(
        type(value), repr(value)
    )
