"""From what pydantic says of a suite's file to sentences that name the file, the table and the key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from cli.errors import UsageError
from cli.suite.document import Benchmark, Defaults, Judge, Load, Meta, Model, Run, Suite, Table
from cli.suite.option import elsewhere
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

    from cli.suite.source import Place, Source

_MOST: Final = 10
_FEW: Final = 10
"""So many keys are all named where one is not known."""
_TABLES: Final[Mapping[str, type[Table]]] = {
    "meta": Meta,
    "defaults": Defaults,
    "judge": Judge,
    "run": Run,
    "models": Model,
    "benchmarks": Benchmark,
    "loads": Load,
}
_SAID: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "model_type": "must be a table of keys and values",
    "dict_type": "must be a table of keys and values",
    "string_type": "must be text, in quotes",
    "string_too_short": "is empty",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "too_short": "is empty: leave it out, or write one",
}


def suite_of(source: Source) -> Suite:
    """Check what a file says.

    Raises:
        UsageError: Every mistake in it, up to ten, each with file, line, table and key.
    """
    try:
        return Suite.model_validate(dict(source.tables))
    except ValidationError as error:
        told = [str(_error(source, one)) for one in error.errors(include_url=False)]
        more = [f"… and {len(told) - _MOST} more"] if len(told) > _MOST else []
        raise UsageError("\n".join([*told[:_MOST], *more])) from None


def _error(source: Source, one: ErrorDetails) -> UsageError:
    place: Place = tuple(one["loc"])
    if place == ("models",) and one["type"] in {"missing", "too_short"}:
        return source.error((), "there is no model: write [[models]] with a name and a url")
    return source.error(place, _sentence(place, one))


def _sentence(place: Place, one: ErrorDetails) -> str:
    kind = one["type"]
    if kind == "extra_forbidden":
        return _unknown(place)
    if kind == "list_type":
        name = place[0]
        return f"must be a list of tables: write [[{name}]]" if len(place) == 1 else 'must be a list: ["…"]'
    if kind == "value_error":
        return str(one["ctx"]["error"])
    if kind == "string_pattern_mismatch":
        variable = str(place[-1]).endswith("_env") or "headers_env" in place
        return (
            "must be the name of an environment variable"
            if variable
            else "has spaces around it, or control characters in it"
        )
    message = one["msg"]
    return _SAID.get(kind, message[:1].lower() + message[1:])


def _unknown(place: Place) -> str:
    name = str(place[-1])
    if len(place) > 1 and place[0] not in {"meta", "run", "judge"} and (instead := elsewhere(name)):
        return instead
    known = _known(place)
    few = f" ({', '.join(known)})" if len(known) < _FEW else ""
    return f"there is no such key here{few}{did_you_mean(name, known)}"


def _known(place: Place) -> list[str]:
    """The keys that there are where one is not."""
    return list((Suite if len(place) == 1 else _TABLES[str(place[0])]).model_fields)
