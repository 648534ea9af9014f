"""The options of `loadgen perf` as a file says them: by their long names, with the values of TOML and YAML.

What an option is comes from `PerfSettings` alone: its type, its choices, and the function that reads its text
on the command line. A new option of `loadgen perf` is a key of a suite without a word more.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import typer

from cli.perf_settings import PerfSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

_ELSEWHERE: Final[Mapping[str, str]] = {
    "model": "only [[models]] says which model is asked",
    "api_key": "a key does not belong into a file: name the environment variable that holds it, "
    'e.g. api_key_env = "MY_KEY"',
    "header": "the values of headers are often secrets: name the environment variables that hold them, "
    'e.g. headers_env = { "X-Team" = "MY_TEAM" }',
    "judge_api_key": "a key does not belong into a file: LOADGEN_JUDGE_API_KEY of the environment holds it",
    "out": "the folder of all runs is out in [run], or --out",
    "json": "that is --json of loadgen run",
    "quiet": "that is --quiet of loadgen run",
}
"""Options of `loadgen perf` that no table takes, and what to do instead."""

_JSON: Final = "JSON"


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes:
        name: As a key of a file, with `_`.
        kind: The type of its value.
        several: Whether it can be given more than once: a list.
        told: How it is declared on the command line.
    """

    name: str
    kind: Any
    several: bool
    told: Any

    @property
    def flag(self) -> str:
        """How it is written on the command line."""
        # What stands first in an annotation, typer takes for a default until it makes the command.
        declared = (self.told.default, *(self.told.param_decls or ()))
        long = (one for one in declared if isinstance(one, str) and one.startswith("--"))
        return next(long, "--" + self.name.replace("_", "-"))

    def read(self, value: object) -> Any:
        """Take a value of a file for what the command line would take it.

        Raises:
            ValueError: It cannot be one; the message is the end of a sentence that names the key.
        """
        if not self.several:
            return self._one(value)
        return [self._one(each) for each in (value if isinstance(value, list) else [value])]

    def schema(self) -> dict[str, Any]:
        """The JSON schema of its values."""
        one = _schema(self.kind, free=self.told.parser is not None)
        if str(self.told.metavar).startswith(_JSON):
            one = {"anyOf": [one, {"type": "object"}]}
        if self.several:
            one = {"anyOf": [one, {"type": "array", "items": one}]}
        return {**one, "description": self.told.help}

    def _one(self, value: object) -> Any:
        if self.kind is bool:
            if not isinstance(value, bool):
                raise ValueError(f"must be true or false, not {value!r}")
            return value
        if str(self.told.metavar).startswith(_JSON) and isinstance(value, dict):
            return _json(value)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(f"must be {self._wanted()}, not {_shown(value)}")  # noqa: TRY004 (pydantic's way)
        return self._parsed(str(value))

    def _parsed(self, text: str) -> Any:
        if self.told.parser is not None:
            try:
                return self.told.parser(text)
            except typer.BadParameter as error:
                raise ValueError(f"cannot be read: {error.message}") from error
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
def options() -> Mapping[str, Option]:
    """Every option that a table takes, by its name with `_`."""
    hints = get_type_hints(PerfSettings, include_extras=True)
    return {
        field.name: _option(field.name, hints[field.name])
        for field in fields(PerfSettings)
        if field.name not in _ELSEWHERE
    }


def elsewhere(name: str) -> str | None:
    """What to do instead of giving an option in a table; None where there is no such option."""
    return _ELSEWHERE.get(name)


def variables() -> Mapping[str, tuple[str, ...]]:
    """The environment variables that give an option, by its name, the first that is set before the others."""
    hints = get_type_hints(PerfSettings, include_extras=True)
    found = {field.name: get_args(hints[field.name])[1].envvar for field in fields(PerfSettings)}
    return {
        name: (variable,) if isinstance(variable, str) else tuple(variable)
        for name, variable in found.items()
        if variable
    }


def _option(name: str, hint: Any) -> Option:
    assert get_origin(hint) is Annotated  # noqa: S101 (every field of PerfSettings declares its option)
    whole, told = get_args(hint)[:2]
    kinds = get_args(whole) if get_origin(whole) in {Union, UnionType} else (whole,)
    lists = [kind for kind in kinds if get_origin(kind) is list]
    kind = get_args(lists[0])[0] if lists else next(kind for kind in kinds if kind is not NoneType)
    return Option(name, kind, bool(lists), told)


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
