"""From a suite to runs: each model with each benchmark under each load."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.suite.chosen_entries import (
    benchmarks_of,
    filtered,
    layer_of,
    loads_of,
    models_of,
)
from loadgen.sessions.series.suite.layers import Merged, SuiteLayer, merged
from loadgen.sessions.series.suite.mistakes import require_prompts
from loadgen.sessions.series.suite.suite_model import JUDGE_KEYS, VERDICT_KEYS, Suite
from loadgen.sessions.settings.perf import PerfSettings, perf_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.sessions.series.suite.source_lines import SuiteSource

MOST_RUNS: Final = 10_000
"""The most runs of a suite: more are a mistake."""

_LOADS: Final = frozenset({"rate", "stages", "trace", "offline"})
"""Options that set a load and so exclude `concurrency`."""

_SECRETS: Final = frozenset({"api_key_env", "headers_env"})


@dataclass(frozen=True, slots=True)
class MatrixRun:
    """One run of the matrix.

    Attributes:
        name: Unique in its suite.
        axes: Model, benchmark and load by their names, and the repetition where there are several.
        settings: The settings of `loadgen perf`, without secrets.
        merged: Its options by the file, the environment and the flags, with their origins.
        judge_key_env: The environment variable that holds the judge's key; empty where the file names none.
    """

    name: str
    axes: Mapping[str, Any]
    settings: PerfSettings
    merged: Merged
    judge_key_env: str = ""

    @property
    def api_key_env(self) -> str:
        """The environment variable that holds the key; empty where the file names none."""
        return str(self.merged.values.get("api_key_env", ""))

    @property
    def headers_env(self) -> Mapping[str, str]:
        """Further headers: each name with the environment variable of the value."""
        return dict(self.merged.values.get("headers_env", {}))


@dataclass(frozen=True, slots=True)
class Choice:
    """The part of a suite to run: the names that match a glob of each kind, or all without one."""

    models: Sequence[str] = ()
    benchmarks: Sequence[str] = ()
    loads: Sequence[str] = ()
    repeat: int = 1


def matrix(
    source: SuiteSource, suite: Suite, above: Sequence[SuiteLayer], choice: Choice
) -> tuple[MatrixRun, ...]:
    """Every run: by models, then by benchmarks, then by loads, then by repetitions, in the file's order."""
    rows = (
        filtered(source, "models", models_of(source, suite), choice.models),
        filtered(source, "benchmarks", benchmarks_of(source, suite), choice.benchmarks),
        filtered(source, "loads", loads_of(source, suite), choice.loads),
    )
    count = len(rows[0]) * len(rows[1]) * len(rows[2]) * choice.repeat
    if count > MOST_RUNS:
        raise UsageError(f"{source.path}: {count} runs are more than the {MOST_RUNS} that a suite may have")
    below = [
        layer_of(source, "gate", _gate_of(suite)),
        layer_of(source, "run", suite.run.options()),
        layer_of(source, "defaults", suite.defaults.values()),
    ]
    entries: list[MatrixRun] = []
    for chosen in product(*rows):
        axes = dict(zip(("model", "benchmark", "load"), (row.name for row in chosen), strict=True))
        judge = layer_of(source, "judge", suite.judge.options())
        layers = [judge, *below, *(row.layer for row in chosen), *above]
        if merged(layers).values.get("agent_command"):
            layers = _with_external(layers, 1 + len(below), source, suite)
        whole = _fitting(merged(layers))
        require_prompts(source, suite, axes["benchmark"], whole.values)
        settings = _settings(source, axes, whole, suite.gate.require)
        judge_key = suite.judge.api_key_env if settings.tasks.judge.judge_url else ""
        entries += (
            MatrixRun(_name(each), each, settings, whole, judge_key)
            for each in _repeated(axes, choice.repeat)
        )
    return tuple(entries)


def _with_external(
    layers: Sequence[SuiteLayer], place: int, source: SuiteSource, suite: Suite
) -> list[SuiteLayer]:
    """The layers with the endpoint of external agents, unless another place names the endpoint.

    Its key is for that endpoint and for no other.
    """
    external = layer_of(source, "backend.external", suite.backend.external.options())
    inserted = [*layers[:place], external, *layers[place:]]
    elsewhere = "url" in external.values and merged(inserted).origins["url"][-1] != external.name
    return list(layers) if elsewhere else inserted


def _gate_of(suite: Suite) -> dict[str, Any]:
    """The options of `[gate]` without targets, which are added to those of other tables."""
    keys = {name: getattr(suite.gate, name) for name in VERDICT_KEYS if name != "require"}
    return {name: value for name, value in keys.items() if value and name in suite.gate.model_fields_set}


def _fitting(whole: Merged) -> Merged:
    """Drop options for other runs: a judge where no answer is judged, users where a load is set."""
    left_out = set()
    if not whole.values.get("task"):
        left_out |= {name for name in JUDGE_KEYS.values() if whole.origins.get(name) == ("[judge]",)}
    if whole.origins.get("concurrency") == ("[run]",) and _LOADS & whole.values.keys():
        left_out.add("concurrency")
    return Merged(
        {name: value for name, value in whole.values.items() if name not in left_out},
        {name: places for name, places in whole.origins.items() if name not in left_out},
    )


def _repeated(axes: Mapping[str, Any], repeat: int) -> Iterator[Mapping[str, Any]]:
    yield from (axes if repeat == 1 else {**axes, "repeat": number + 1} for number in range(repeat))


def _name(axes: Mapping[str, Any]) -> str:
    return " / ".join(map(str, axes.values()))


def _settings(
    source: SuiteSource, axes: Mapping[str, Any], whole: Merged, require: Sequence[str]
) -> PerfSettings:
    if "url" not in whole.values:
        raise UsageError(
            f"{source.path}: {_name(axes)}: there is no url: give one in [[models]] or [defaults], "
            "in LOADGEN_URL, or with --set url=…"
        )
    values = {name: value for name, value in whole.values.items() if name not in _SECRETS}
    try:
        return perf_settings(**{**values, "require": [*require, *values.get("require", ())]})
    except UsageError as error:
        raise UsageError(f"{source.path}: {_name(axes)}: {error}{whole.blamed(str(error))}") from None


def as_rows(entries: Sequence[MatrixRun]) -> list[dict[str, Any]]:
    """The matrix in plain types: of each run its place in it, its options, and their origins."""
    return [
        {
            "number": number,
            "name": entry.name,
            "axes": dict(entry.axes),
            "options": shown(entry),
            "said_by": {name: _places_of(entry, name) for name in shown(entry)},
        }
        for number, entry in enumerate(entries, start=1)
    ]


def shown(entry: MatrixRun) -> dict[str, Any]:
    """The options of a run, with the requirements of `[gate]`; the model has its own axis."""
    require = {"require": entry.settings.verdict.require} if entry.settings.verdict.require else {}
    options = {**entry.merged.values, **require}
    differs = entry.settings.endpoint.model != entry.axes["model"]
    return {name: _plain(options[name]) for name in sorted(options) if name != "model" or differs}


def _places_of(entry: MatrixRun, name: str) -> list[str]:
    """The places that set an option: the last one has precedence, except that `[gate]` always adds."""
    places = entry.merged.origins.get(name, ())
    gate = (
        entry.settings.verdict.require
        and name == "require"
        and len(entry.settings.verdict.require) > len(entry.merged.values.get(name, ()))
    )
    return ["[gate]", *places] if gate else list(places)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value
