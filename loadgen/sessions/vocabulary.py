"""The names that commands and the log use: events, failures, loads, metrics, views."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import reporter
from loadgen.driver.client.failure import HTTP_BLAMES, HTTP_MEANING, Failure
from loadgen.driver.client.protocols import codec_of, protocol_entry, protocol_names
from loadgen.driver.load import Closed, Offline, TraceArrivals
from loadgen.mock_endpoint.scenarios.catalog import CHAOS, SCENARIOS
from loadgen.sessions.errors import UsageError
from recorder.event import EventType
from reporter.log.query import VIEWS
from rulesets.markdown_text import without_links
from rulesets.metric_table import BY_NAME, METRICS
from rulesets.quantity import ACCURACY, METRIC_ALIASES, SCORES
from rulesets.request_metrics import REQUEST_METRICS
from workloads.arrivals import ARRIVAL_PROCESSES, DEFAULT_ARRIVAL, arrival_process
from workloads.errors import PluginError, did_you_mean
from workloads.registry import added, entries, load, service

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_COLUMNS: Final = Path(reporter.__file__).parent / "sql" / "columns.toml"
_FINDINGS: Final = Path(reporter.__file__).parent / "findings" / "findings.toml"


def words_of(kind: str, name: str | None = None, data: Path | None = None) -> Mapping[str, str]:
    """The names of a kind with their meanings, or only the entry of one name.

    Args:
        kind: `agents`, `events`, `failures`, `findings`, `formats`, `loads`, `metrics`, `protocols`,
            `rulesets`, `scenarios`, `tool-sets` or `views`.
        name: The only entry; None for all. Of `views`: the view whose columns are asked for.
        data: Of `tool-sets`: the user's folder.
    """
    if kind == "views" and name is not None and name in VIEWS:
        return columns(name)
    words = service("list_tool_sets")(data) if kind == "tool-sets" else _KINDS[kind]()
    if name is None:
        return words
    if name not in words:
        raise UsageError(
            f"{name}: not one of the {kind}{did_you_mean(name, words)}; `loadgen list {kind}` lists them"
        )
    return {name: words[name]}


def agents() -> Mapping[str, str]:
    """Presets of `--agent-command`, each `@NAME`."""
    presets: Mapping[str, str] = service("agent_presets")()
    return presets


def events() -> Mapping[str, str]:
    """Event names of the log, with their codes and meanings."""
    return {kind.name: f"code {kind.value}: {kind.meaning}" for kind in EventType}


def failures() -> Mapping[str, str]:
    """Failure names, with the side that each one blames, and what they mean."""
    named = {name.value: f"blames the {name.blames}: {name.meaning}" for name in Failure}
    return named | {"http_<code>": f"blames the {HTTP_BLAMES}: {HTTP_MEANING}"}


def findings() -> Mapping[str, str]:
    """Codes of findings, with the severity and the condition."""
    return {
        code: f"{row['severity']}: {_plain(row['when'])}" for row in finding_rows() for code in row["codes"]
    }


def finding_rows() -> list[dict[str, Any]]:
    """The rows of reporter/findings/findings.toml, in Markdown."""
    rows: list[dict[str, Any]] = tomllib.loads(_FINDINGS.read_text(encoding="utf-8"))["finding"]
    return rows


def _plain(markdown: str) -> str:
    """A text without links and marks of code."""
    return without_links(markdown).replace("`", "")


def formats() -> Mapping[str, str]:
    """Formats of results that can be imported, with what each reads."""
    return {
        name: _if_usable(lambda entry: str(load(entry).title), entry)
        for name, entry in entries("imports").items()
    }


def _if_usable(described: Callable[[Any], str], subject: Any) -> str:
    """A description; of what another package has broken, the reason."""
    try:
        return described(subject)
    except PluginError as error:
        return str(error)


def loads() -> Mapping[str, str]:
    """Kinds of load, with the options that choose them."""

    def described(name: str) -> str:
        burstiness = " --burstiness B" if arrival_process(name).takes_burstiness else ""
        return f"--rate R --arrival {name}{burstiness}"

    arrivals = {name: _if_usable(described, name) for name in (*ARRIVAL_PROCESSES, *added("arrivals"))}
    return {
        Closed.kind: "--concurrency N",
        **arrivals,
        DEFAULT_ARRIVAL: "--rate R",
        TraceArrivals.kind: "--trace FILE|RUN",
        Offline.kind: "--offline",
    }


def metrics() -> Mapping[str, str]:
    """Metrics that a target can name: what they are, their units, their other names."""
    score = f"{SCORES}NAME"
    every = {**METRICS, score: ACCURACY}
    meanings = {name: BY_NAME[name].meaning for name in METRICS} | {score: "score of a benchmark"}
    aliases = {
        metric: [alias for alias, name in METRIC_ALIASES.items() if name == metric] for metric in every
    }
    return {
        name: "; ".join(
            filter(
                None,
                [
                    meanings[name],
                    ", ".join(filter(None, quantity.units)),
                    f"also called {', '.join(aliases[name])}" if aliases[name] else "",
                ],
            )
        )
        for name, quantity in every.items()
    }


def protocols() -> Mapping[str, str]:
    """Protocols, with their paths."""

    def described(name: str) -> str:
        entry = protocol_entry(name)
        if entry.described:
            return "POST --path, with --body; the text is at --text-at"
        return f"POST {codec_of(name, {}).path}, {entry.title}"

    return {name: _if_usable(described, name) for name in protocol_names()}


def rulesets() -> Mapping[str, str]:
    """Rulesets that come with the program, with the models and scenarios that they have rules for."""
    from rulesets.catalog import names
    from rulesets.loading import read

    books = {name: read(name) for name in names()}
    return {name: "; ".join(["locked"] * book.locked + [book.contents()]) for name, book in books.items()}


def scenarios() -> Mapping[str, str]:
    """Scenarios of the mock endpoint: what the server does, and what a client must see."""
    described = {
        name: f"{scenario.about}: {' or '.join(scenario.sees)}" for name, scenario in SCENARIOS.items()
    }
    return described | {CHAOS: "short answers, and a share of faults (--fault-share)"}


def views() -> Mapping[str, str]:
    """Views of the log that SQL can ask."""
    return VIEWS


def columns(view: str) -> Mapping[str, str]:
    """The meaning of each column of a view."""
    own = {
        name: _plain(meaning)
        for names, meaning in column_rows()[view]["columns"]
        for name in names.split(", ")
    }
    if view != "samples":
        return own
    return own | {metric.column: metric.meaning for metric in REQUEST_METRICS if metric.per == "request"}


def column_rows() -> dict[str, dict[str, Any]]:
    """The tables of reporter/sql/columns.toml, in Markdown."""
    return tomllib.loads(_COLUMNS.read_text(encoding="utf-8"))


_KINDS: Final[Mapping[str, Callable[[], Mapping[str, str]]]] = {
    kind.__name__: kind
    for kind in (
        agents,
        events,
        failures,
        findings,
        formats,
        loads,
        metrics,
        protocols,
        rulesets,
        scenarios,
        views,
    )
}
