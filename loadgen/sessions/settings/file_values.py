"""Values of options in a file or a Python program: reading, and the JSON schema."""

from __future__ import annotations

from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

from loadgen.sessions.settings.option import OptionValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.settings.field import SettingField

_JSON: Final = "JSON"


def read_value(option: SettingField, value: object, folder: Path | None = None) -> Any:
    """Read a value as the command line would; a single value becomes a list of one.

    An `@FILE` starts from the folder, by default the current one.

    Raises:
        ValueError: The value is invalid; the message is the end of a sentence that names the key.
    """
    if not option.is_list:
        return _item(option, value, folder)
    return [_item(option, each, folder) for each in (value if isinstance(value, list | tuple) else [value])]


def value_schema(option: SettingField) -> dict[str, Any]:
    """The JSON schema of its values."""
    schema = _schema(option.kind, free=option.declared.parser is not None)
    bounds = {"minimum": option.declared.min, "maximum": option.declared.max}
    schema |= {name: bound for name, bound in bounds.items() if bound is not None}
    if str(option.declared.metavar).startswith(_JSON):
        schema = {"anyOf": [schema, {"type": "object"}]}
    if option.is_list:
        schema = {"anyOf": [schema, {"type": "array", "items": schema}]}
    examples = {"examples": list(option.declared.examples)} if option.declared.examples else {}
    return {**schema, **examples, "description": option.declared.help}


def _item(option: SettingField, value: object, folder: Path | None) -> Any:
    if option.kind is bool:
        if not isinstance(value, bool):
            raise ValueError(f"must be true or false, not {value!r}")
        return value
    if str(option.declared.metavar).startswith(_JSON) and isinstance(value, dict):
        return _json(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float | Path):
        raise ValueError(f"must be {_wanted(option)}, not {_shown(value)}")  # noqa: TRY004 (pydantic's way)
    text = str(value)
    if "\0" in text:
        raise ValueError("has a NUL character in it")
    if folder is not None and text.startswith("@") and str(option.declared.metavar).endswith("@FILE"):
        text = f"@{folder / Path(text[1:]).expanduser()}"
    return _within_bounds(option, _parsed(option, text))


def _within_bounds(option: SettingField, value: Any) -> Any:
    """Check a number as typer does with an option's bounds."""
    least, greatest = option.declared.min, option.declared.max
    if least is not None and value < least:
        raise ValueError(f"must be at least {least:,}, not {value:,}")
    if greatest is not None and value > greatest:
        raise ValueError(f"must be at most {greatest:,}, not {value:,}")
    return value


def _parsed(option: SettingField, text: str) -> Any:
    if option.declared.parser is not None:
        try:
            return option.declared.parser(text)
        except OptionValueError as error:
            raise ValueError(f"cannot be read: {error}") from error
    if get_origin(option.kind) is Literal:
        if text not in get_args(option.kind):
            raise ValueError(f"must be {_wanted(option)}, not {text!r}")
        return text
    try:
        return option.kind(text)
    except ValueError:
        raise ValueError(f"must be {_wanted(option)}, not {text!r}") from None


def _wanted(option: SettingField) -> str:
    if get_origin(option.kind) is Literal:
        return " or ".join(map(repr, get_args(option.kind)))
    return {int: "a whole number", float: "a number", bool: "true or false"}.get(
        option.kind, "text or a number"
    )


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
