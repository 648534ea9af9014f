"""Mistakes in a suite's file, as sentences that name the file, the table and the key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import ValidationError

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.suite.chosen_entries import QUESTIONS
from loadgen.sessions.series.suite.layers import elsewhere
from loadgen.sessions.series.suite.suite_model import (
    SYNONYMS,
    ExternalBackend,
    Judge,
    RunTable,
    Suite,
    SuiteTable,
)
from workloads.errors import did_you_mean, near_name
from workloads.registry import service

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

    from loadgen.sessions.series.suite.source_lines import Place, SuiteSource

_MOST_MESSAGES: Final = 10
_FEW: Final = 10
"""From this many keys on, a message does not list all of them."""
_TABLES: Final[Mapping[str, type[SuiteTable]]] = {
    name: (get_args(field.annotation) or (field.annotation,))[0] for name, field in Suite.model_fields.items()
}
_JUDGE_HINTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("engine", "provider", "base_url"),
        'the judge is any endpoint of the OpenAI protocol: write url = "http://host:port", and model',
    ),
    "api_key": "a key does not belong into a file: name the environment variable that holds it with "
    "api_key_env, or set LOADGEN_JUDGE_API_KEY",
}
_BACKEND_KEY: Final = (
    "a key does not belong into a file: name the environment variable that holds it with api_key_env"
)
_MESSAGES: Final[Mapping[str, str]] = {
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
    """Validate a file."""
    try:
        context = {"folder": source.path.absolute().parent}
        return _with_gate(Suite.model_validate(dict(source.tables), context=context))
    except ValidationError as error:
        messages = [str(_error(source, problem)) for problem in error.errors(include_url=False)]
        more = [f"… and {len(messages) - _MOST_MESSAGES} more"] if len(messages) > _MOST_MESSAGES else []
        raise UsageError("\n".join([*messages[:_MOST_MESSAGES], *more])) from None


def verdict_keys(suite: Suite) -> list[str]:
    """The keys of `[gate]` in a suite's `[judge]`, their former place."""
    return list(suite.judge.gate())


def _with_gate(suite: Suite) -> Suite:
    """The suite with the verdict keys of `[judge]` moved to `[gate]`, which has precedence."""
    before = suite.judge.gate()
    if not before:
        return suite
    own = suite.gate.model_dump(exclude_unset=True)
    targets = [*before.get("require", ()), *own.get("require", ())]
    gate = {**before, **own, **({"require": targets} if targets else {})}
    return suite.model_copy(update={"gate": suite.gate.model_copy(update=gate)})


def _error(source: SuiteSource, problem: ErrorDetails) -> UsageError:
    place: Place = tuple(problem["loc"])
    if place == ("models",) and problem["type"] in {"missing", "too_short"}:
        return source.error((), "there is no model: write [[models]] with a name and a url")
    return source.error(place, _sentence(source, place, problem))


def _table(source: SuiteSource, place: Place) -> Mapping[str, Any]:
    """The table of a key, with `_` in its keys."""
    table: Any = source.tables
    for step in place[:-1]:
        table = table[step]
    return {str(name).replace("-", "_"): value for name, value in table.items()}


def _sentence(source: SuiteSource, place: Place, problem: ErrorDetails) -> str:
    kind = problem["type"]
    if kind == "extra_forbidden":
        return _unknown(place, _table(source, place))
    if place == ("run", "energy_vendor"):
        return 'only NVIDIA\'s GPUs are read: write "nvidia", or declared_power in [defaults]'
    if kind == "list_type":
        name = place[0]
        return f"must be a list of tables: write [[{name}]]" if len(place) == 1 else 'must be a list: ["…"]'
    if kind == "value_error":
        return str(problem["ctx"]["error"])
    if kind == "string_pattern_mismatch":
        variable = str(place[-1]).endswith("_env") or "headers_env" in place
        return (
            "must be the name of an environment variable"
            if variable
            else "has spaces around it, or control characters in it"
        )
    message = problem["msg"]
    return _MESSAGES.get(kind, message[:1].lower() + message[1:])


def _unknown(place: Place, table: Mapping[str, Any]) -> str:
    name = str(place[-1])
    if instead := _instead(place, name, table):
        return instead
    keys = _valid_keys(place)
    few = f" ({', '.join(keys)})" if len(keys) < _FEW else ""
    return f"the key does not exist here{few}{did_you_mean(name, keys)}"


def _instead(place: Place, name: str, table: Mapping[str, Any]) -> str | None:
    """The replacement of a key of another tool or another table; None for an unknown key."""
    of_options = len(place) > 1 and place[0] not in {"meta", "run", "judge", "gate", "backend"}
    instead = elsewhere(name) if of_options else None
    if place[0] == "judge":
        instead = _JUDGE_HINTS.get(name)
    if place[0] == "backend" and name == "api_key":
        instead = _BACKEND_KEY
    if place[0] == "gate" and name in Judge.model_fields:
        instead = "[gate] has the rules for runs; the LLM that judges answers is configured in [judge]"
    if instead is None and (of_options or place[0] == "run"):
        instead = instead_of(name, table)
    if instead is None and name in SYNONYMS:
        instead = f"the key is {SYNONYMS[name]!r} here, and belongs into {_home(SYNONYMS[name])}"
    return instead


def _home(key: str) -> str:
    return "[run]" if key in RunTable.model_fields else "[defaults], or a table that overrides it"


def _valid_keys(place: Place) -> list[str]:
    if len(place) == 1:
        return list(Suite.model_fields)
    nested = place[:2] == ("backend", "external")
    return list((ExternalBackend if nested else _TABLES[str(place[0])]).model_fields)


_SERVED: Final = 'a model is asked at its url: leave it out, and write url = "http://host:port"'
_KEYS: Final[Mapping[str, str]] = {
    "engine": _SERVED,
    "provider": _SERVED,
    "telemetry": 'write gpu_metrics = "nvml", or telemetry = true in [run]',
    "energy_vendor": 'write gpu_metrics = "nvml", or energy_vendor = "nvidia" in [run]',
    **dict.fromkeys(
        (
            *("wandb_project", "wandb_entity", "wandb_group", "wandb_tags"),
            *("sheets_spreadsheet_id", "sheets_worksheet", "sheets_credentials_path"),
        ),
        "write it in [run]",
    ),
}
_OF_AGENTS: Final = frozenset({"backend", "agent", "tools"})


def instead_of(name: str, table: Mapping[str, Any]) -> str | None:
    """The replacement of a key; None for an unknown key."""
    return agent_line(table) if name in _OF_AGENTS else _KEYS.get(name)


def agent_line(table: Mapping[str, Any]) -> str:
    """The line that starts the agent which `backend`, `agent` and `tools` of a table describe."""
    backend, agent, tools = (table.get(name) for name in ("backend", "agent", "tools"))
    names = ",".join(map(str, tools)) if isinstance(tools, list) else str(tools or "")
    if backend in service("agent_presets")():
        program = f"@{backend}"
    elif agent:
        program = "@jarvis-agent"
    elif names:
        return f'write agent_command = "@tools {names}"; see `loadgen list agents`'
    else:
        return f"{_SERVED}; agents are in `loadgen list agents`"
    options = f"{f' --agent {agent}' if agent else ''}{f' --tools {names}' if names else ''}"
    return f'write agent_command = "{program}{options}"; see `loadgen list agents`'


def require_prompts(source: SuiteSource, suite: Suite, name: str, values: Mapping[str, Any]) -> None:
    """Refuse a benchmark without prompts, the name of which is near a task's or is all that its table has."""
    number = next((index for index, each in enumerate(suite.benchmarks) if each.name == name), None)
    if number is None or any(values.get(key) for key in ("task", *QUESTIONS)):
        return
    message = _of_name(name, is_all=not suite.benchmarks[number].values())
    if message is not None:
        raise source.error(("benchmarks", number), message)


def _of_name(name: str, *, is_all: bool) -> str | None:
    from workloads.catalog import aliases, names, run_elsewhere

    base = name.partition(":")[0]
    synthetic = "for synthetic prompts add input_tokens = 512"
    task = near_name(base, (*names(), *aliases()))
    if results := run_elsewhere(base, task):
        return f"{base!r} is run by another program; type: loadgen import {results} RESULTS --model NAME"
    if task:
        return f"unknown task {base!r}; write name = {aliases().get(task, task)!r}, or {synthetic}"
    remedy = f'see `loadgen list tasks`, add prompts = "FILE", or {synthetic}'
    return f"unknown task {base!r}, and the table has no prompts; {remedy}" if is_all else None
