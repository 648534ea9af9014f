"""The comparability of two runs: differing facts.

Properties that usually differ are ignored: the URL, seeds, and the number of requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from reporter.cache_hits import ALIKE_PCT, cached_pct
from reporter.findings.acceptance import IN_WORDS
from reporter.imported import definitions_of
from reporter.json_values import members, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTINGS: Final = (
    *("command", "model", "protocol", "stream", "load", "max_tokens", "temperature", "extra_body"),
    *(
        "ignore_eos",
        "request_seed",
        "salt",
        "steady",
        "warmup",
        "warmup_s",
        "order",
        "history",
        "retry",
        "connection",
        "timeout_s",
        "session_trees",
    ),
)
"""The settings that figures depend on."""

_MACHINE: Final = ("host", "platform", "cpus", "usable_cpus")
_CLIENT: Final = ("workers", "transport", "timestamp_source")
_DEFINITIONS: Final = ("percentile_method", "tpot_mode", "definitions")

_SCORING: Final = ("scorer", "version", "judge_model", "pass_threshold", "repeats")
"""Keys of a score; where these differ, it is not the same measure."""

_ENERGY: Final = ("source", "method", "devices")
"""Joules of different sources are of different things."""

Facts = Mapping[str, Mapping[str, Any]]
"""The facts of a run by topic and by name: `settings`, then `load.concurrency`."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A difference between two runs, or a problem of one.

    Attributes:
        about: The topic: `settings`, `dataset`, `lengths`, `tokens`, `cache`, `scoring`, `machine`, `client`,
            `versions`, `definitions`, `energy` or `validity`.
        what: Its name there, such as `load.concurrency`.
        reference: The run that it is compared with; empty for a problem of the run alone.
    """

    about: str
    what: str
    run: str
    value: Any
    reference: str = ""
    reference_value: Any = None


def facts(report: Mapping[str, Any], settings: Mapping[str, Any], environment: Mapping[str, Any]) -> Facts:
    """The facts of a run."""
    run, tokens = members(report.get("run")), members(report.get("tokens"))
    dataset, energy = members(run.get("dataset")), members(report.get("energy"))
    run_settings = {**run, **settings}
    hits = members(report.get("server_side")).get("prefix_hit_pct")
    cached = cached_pct(tokens.get("cached"), tokens.get("input"), hits)
    if members(run.get("imported")).get("measured"):
        return _of_imported(report, run_settings)
    return {
        "settings": dict(_flat({name: run_settings[name] for name in _SETTINGS if name in run_settings})),
        "dataset": {name: dataset.get(name) for name in ("name", "sha256", "rows")},
        "machine": {name: environment[name] for name in _MACHINE if name in environment},
        "client": {name: run.get(name) for name in _CLIENT},
        "versions": members(run.get("versions")),
        "definitions": {
            **dict(_flat({name: run[name] for name in _DEFINITIONS if name in run})),
            **definitions_of(report),
        },
        "tokens": {"source": tokens.get("source")},
        "cache": {} if cached is None else {"cached_pct": cached},
        "scoring": dict(_scoring(report)),
        "energy": {name: energy[name] for name in _ENERGY if name in energy},
    }


def _of_imported(report: Mapping[str, Any], run_settings: Mapping[str, Any]) -> Facts:
    """The facts of a load generator's run: the settings that its file names, and its definitions."""
    load = members(run_settings.get("load"))
    named = {"model": run_settings.get("model"), **dict(_flat({"load": load}))}
    return {
        "settings": {name: value for name, value in named.items() if value is not None},
        "definitions": definitions_of(report),
    }


def _scoring(report: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The scoring of each benchmark; all scorings if several."""
    by_name: dict[str, list[Any]] = {}
    for score in report.get("accuracy") or ():
        for what in _SCORING:
            by_name.setdefault(f"{score.get('name')}.{what}", []).append(score.get(what))
    for name, values in by_name.items():
        yield name, values[0] if len(values) == 1 else ", ".join(sorted({str(value) for value in values}))


def unlike(name: str, run: Facts, reference_name: str, reference: Facts) -> list[Mismatch]:
    """The differences of two runs; a fact that only one run has is not a difference."""
    return [
        Mismatch(about, what, name, run[about][what], reference_name, reference[about][what])
        for about in reference
        for what in reference[about]
        if what in run.get(about, ()) and _differs(about, run[about][what], reference[about][what])
    ]


def _differs(about: str, value: Any, reference: Any) -> bool:
    return abs(value - reference) > ALIKE_PCT if about == "cache" else bool(value != reference)


def run_faults(name: str, report: Mapping[str, Any]) -> list[Mismatch]:
    """The problems of a run: invalid, or incomplete."""
    validity, ended = members(report.get("validity")), members(report.get("run")).get("ended")
    problems = []
    if validity.get("valid") is False:
        reasons = "; ".join(map(str, validity.get("reasons") or ())) or "no reason"
        accepted = f"{IN_WORDS}: " if validity.get("accepted") is True else ""
        problems.append(Mismatch("validity", "invalid", name, f"{accepted}{reasons}"))
    elif late := texts(validity.get("latency_reasons")):
        problems.append(Mismatch("validity", "latencies", name, "; ".join(late)))
    elif ended != "completed":
        problems.append(Mismatch("validity", "ended", name, ended))
    return problems


def _flat(members: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """The members of objects by full name: `load.concurrency`."""
    for name, value in members.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{within}{name}.")
        else:
            yield f"{within}{name}", value
