"""From what pydantic says of a suite's file to sentences that name the file, the table and the key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.suite.document import (
    SYNONYMS,
    Benchmark,
    Defaults,
    Gate,
    Judge,
    Load,
    Meta,
    Model,
    RunTable,
    Suite,
    SuiteTable,
)
from loadgen.sessions.series.suite.option import elsewhere
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

    from loadgen.sessions.series.suite.source import Place, SuiteSource

_MOST: Final = 10
_FEW: Final = 10
"""So many keys are all named where one is not known."""
_TABLES: Final[Mapping[str, type[SuiteTable]]] = {
    "meta": Meta,
    "defaults": Defaults,
    "gate": Gate,
    "judge": Judge,
    "run": RunTable,
    "models": Model,
    "benchmarks": Benchmark,
    "loads": Load,
}
_JUDGE_HINTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("engine", "provider", "base_url"),
        'the judge is any endpoint of the OpenAI protocol: say url = "http://host:port", and model',
    ),
    "api_key": "a key does not belong into a file: name the environment variable that holds it with "
    "api_key_env, or set LOADGEN_JUDGE_API_KEY",
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


def suite_of(source: SuiteSource) -> Suite:
    """Check what a file says.

    Raises:
        UsageError: Every mistake in it, up to ten, each with file, line, table and key.
    """
    try:
        context = {"folder": source.path.absolute().parent}
        return _with_gate(Suite.model_validate(dict(source.tables), context=context))
    except ValidationError as error:
        told = [str(_error(source, one)) for one in error.errors(include_url=False)]
        more = [f"… and {len(told) - _MOST} more"] if len(told) > _MOST else []
        raise UsageError("\n".join([*told[:_MOST], *more])) from None


def verdict_keys(suite: Suite) -> list[str]:
    """The keys of `[gate]` that a suite has in `[judge]`, where they were before."""
    return list(suite.judge.gate())


def _with_gate(suite: Suite) -> Suite:
    """The suite with what `[judge]` says of verdicts in `[gate]`, which has the last word."""
    before = suite.judge.gate()
    if not before:
        return suite
    own = suite.gate.model_dump(exclude_unset=True)
    targets = [*before.get("require", ()), *own.get("require", ())]
    gate = {**before, **own, **({"require": targets} if targets else {})}
    return suite.model_copy(update={"gate": suite.gate.model_copy(update=gate)})


def _error(source: SuiteSource, one: ErrorDetails) -> UsageError:
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
    if len(place) > 1 and place[0] not in {"meta", "run", "judge", "gate"} and (instead := elsewhere(name)):
        return instead
    if place[0] == "judge" and name in _JUDGE_HINTS:
        return _JUDGE_HINTS[name]
    if place[0] == "gate" and name in Judge.model_fields:
        return "[gate] is what runs are held against; the LLM that judges answers is configured in [judge]"
    if name in SYNONYMS:
        return f"this key is {SYNONYMS[name]!r} here, and belongs into {_home(SYNONYMS[name])}"
    known = _known(place)
    few = f" ({', '.join(known)})" if len(known) < _FEW else ""
    return f"the key does not exist here{few}{did_you_mean(name, known)}"


def _home(key: str) -> str:
    return "[run]" if key in RunTable.model_fields else "[defaults], or a table that goes before it"


def _known(place: Place) -> list[str]:
    """The keys that there are where one is not."""
    return list((Suite if len(place) == 1 else _TABLES[str(place[0])]).model_fields)
