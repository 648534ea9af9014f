"""A field of a settings class, which reads values of a file or a Python program."""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, Literal, Union, get_args, get_origin

from loadgen.sessions.settings.concerns import flat_options
from loadgen.sessions.settings.option import Argument, Option, OptionValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

_JSON: Final = "JSON"


@dataclass(frozen=True, slots=True)
class SettingField:
    """A field.

    Attributes:
        name: Its name, which is the key of a file.
        kind: The type of its value; of a list, that of its items.
        is_list: Whether it takes several values.
        is_required: Whether it has no default.
        declared: Its declaration, which the command line reads too.
    """

    name: str
    kind: Any
    is_list: bool
    is_required: bool
    declared: Option | Argument

    @property
    def flag(self) -> str:
        """Its option on the command line."""
        long = (flag for flag in self.declared.flags.split() if flag.startswith("--"))
        return next(long, "--" + self.name.replace("_", "-"))

    def read(self, value: object, folder: Path | None = None) -> Any:
        """Read a value as the command line would; a single value becomes a list of one.

        Args:
            value: The value.
            folder: The folder that an `@FILE` starts from; by default the current one.

        Raises:
            ValueError: The value is invalid; the message is the end of a sentence that names the key.
        """
        if not self.is_list:
            return self._item(value, folder)
        return [self._item(each, folder) for each in (value if isinstance(value, list | tuple) else [value])]

    def schema(self) -> dict[str, Any]:
        """The JSON schema of its values."""
        value_schema = _schema(self.kind, free=self.declared.parser is not None)
        if str(self.declared.metavar).startswith(_JSON):
            value_schema = {"anyOf": [value_schema, {"type": "object"}]}
        if self.is_list:
            value_schema = {"anyOf": [value_schema, {"type": "array", "items": value_schema}]}
        suggested = list(self.declared.examples) if isinstance(self.declared, Option) else []
        examples = {"examples": suggested} if suggested else {}
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
        return self._parsed(text)

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


@cache
def fields_of(settings: type[Any]) -> Mapping[str, SettingField]:
    """The fields of a settings class, by their names."""
    return {
        name: _setting_field(option.field, option.hint) for name, option in flat_options(settings).items()
    }


def _setting_field(field: Field[Any], hint: Any) -> SettingField:
    whole, declared = get_args(hint)[:2]
    kinds = get_args(whole) if get_origin(whole) in {Union, UnionType} else (whole,)
    lists = [kind for kind in kinds if get_origin(kind) is list]
    kind = get_args(lists[0])[0] if lists else next(kind for kind in kinds if kind is not NoneType)
    is_required = field.default is MISSING and field.default_factory is MISSING
    return SettingField(field.name, kind, bool(lists), is_required, declared)


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
