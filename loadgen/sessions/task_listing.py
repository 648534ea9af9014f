"""Every benchmark in a table, and the details of one: text of at most 80 columns."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import asdict
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from rulesets.markdown_text import without_links
from workloads.catalog import aliases, names, package_of, workload
from workloads.errors import PluginError
from workloads.needs import INPUT_TOKENS_PER_S, OUTPUT_TOKENS_PER_S, Need, estimated_s, needs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from workloads.scorer import Scorer
    from workloads.workload import Workload

TIERS: Final[Mapping[int, str]] = {
    1: "core",
    2: "long contexts and several turns",
    3: "tools and agents",
    4: "containers",
}

_WIDTH: Final = 80
_LABEL: Final = 13
_MINUTE_S: Final = 60
_HOUR_S: Final = 3600
_TWO_DIGITS: Final = 10


def usable() -> list[Workload]:
    """Every benchmark that can be used; `workloads.catalog.problems` says which plug-ins cannot."""
    workloads = []
    for name in names():
        with suppress(PluginError):
            workloads.append(workload(name))
    return workloads


def table(data: Path | None = None) -> str:
    """Every benchmark in a line of at most 80 columns, by tier, with a legend."""
    everything = sorted(usable(), key=lambda benchmark: (benchmark.tier, benchmark.name))
    lines = []
    for tier, group in groupby(everything, key=lambda benchmark: benchmark.tier):
        title = f"tier {tier}: {TIERS[tier]}"
        lines += ["", title, _row("task", "category", "questions", "runtime", "needs")]
        for benchmark in group:
            typical = benchmark.typical
            count = benchmark.source.rows or (typical and typical.questions)
            about = "~" * (benchmark.source.rows is None)
            lines.append(
                _row(
                    benchmark.name,
                    benchmark.category,
                    f"{about}{count:,}" if count else "-",
                    duration(estimated_s(benchmark)),
                    " ".join(map(_short, needs(benchmark, data))),
                )
            )
    legend = (
        "runtime: estimated for the whole benchmark and typical lengths, without scoring, at "
        f"{OUTPUT_TOKENS_PER_S:,} output and {INPUT_TOKENS_PER_S:,} input tok/s in all; a "
        "reasoning model takes many times as long. needs: * is not on this machine; judge, user and "
        "code are options of a run. `loadgen list tasks NAME` has the details."
    )
    return "\n".join([*lines[1:], "", *_wrapped(legend)])


def details(workload: Workload, data: Path | None = None) -> str:
    """The details of a benchmark, in lines of at most 80 columns."""
    heading = _wrapped(f"{workload.name}: {workload.title}")
    parts: list[tuple[str, list[str]]] = [
        ("tier", [f"{workload.tier}, {TIERS[workload.tier]}"]),
        ("category", [workload.category]),
        ("about", _plain(workload.about)),
        ("also called", [", ".join(aliases_of(workload.name))]),
        ("questions", [_questions(workload)]),
        ("runtime", [_runtime(workload)]),
        ("needs", [_as_sentence(need) for need in needs(workload, data)] or ["nothing"]),
        ("options", [", ".join(f"{name}={value}" for name, value in workload.options.items())]),
        ("sampling", [_sampling(workload)]),
        ("scorers", [_scorer(scorer) for scorer in workload.scorers]),
        ("checked by", [workload.checked]),
        ("unverified", [workload.unverified]),
        ("groups", [", ".join(workload.groups)]),
        ("licence", [workload.source.licence]),
        ("plug-in of", [package_of(workload.name)]),
    ]
    lines = [line for label, texts in parts for line in _part(label, [text for text in texts if text])]
    return "\n".join([*heading, *lines])


def duration(seconds: float | None) -> str:
    """A rough duration: `40 s`, `3 min`, `1.5 h`, `30 h`; `-` where it is unknown."""
    if seconds is None:
        return "-"
    if seconds < _MINUTE_S:
        return f"{max(seconds, 1):.0f} s"
    if seconds < _HOUR_S:
        return f"{seconds / _MINUTE_S:.0f} min"
    hours = seconds / _HOUR_S
    return f"{hours:.1f} h" if hours < _TWO_DIGITS else f"{hours:.0f} h"


def _row(task: str, category: str, questions: str, runtime: str, needed: str) -> str:
    return f"  {task:<17} {category:<12}  {questions:>9}  {runtime:>7}  {needed}".rstrip()


def _short(need: Need) -> str:
    """A need in a word: of an extra its name."""
    word = need.about.split()[2] if need.kind == "extra" else need.kind
    if need.kind == "data" and need.met:
        return ""
    return word + "*" * (need.met is False)


def _part(label: str, texts: Sequence[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        first = f"  {label if number == 0 else '':<{_LABEL}}"
        yield from _wrapped(text, first, " " * (_LABEL + 4))


def _wrapped(text: str, first: str = "", then: str = "") -> list[str]:
    return wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=then,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _plain(markdown: str) -> list[str]:
    """The paragraphs, list items and table rows of a Markdown text, without links and emphasis."""
    text = without_links(markdown).replace("**", "").replace("`", "")
    text = re.sub(r"^\|[-|]+\n", "", text, flags=re.MULTILINE)
    blocks = re.split(r"\n\n|\n(?=[-|] )", text)
    return [" ".join(block.strip("| \n").replace(" | ", ": ").split()) for block in blocks]


def _questions(workload: Workload) -> str:
    source, typical = workload.source, workload.typical
    subsets = [
        f"{subset.rows:,} with subset={name}" for name, subset in workload.subsets.items() if subset.rows
    ]
    if subsets:
        return "; ".join(subsets)
    if source.rows is not None:
        return f"{source.rows:,}"
    return f"about {typical.questions:,}" if typical and typical.questions else "as many as its data has"


def _runtime(workload: Workload) -> str:
    typical = workload.typical
    if typical is None:
        return "not known"
    each = f"{typical.input_tokens:,} input and {typical.output_tokens:,} output tokens per question"
    rates = f"{INPUT_TOKENS_PER_S:,} input and {OUTPUT_TOKENS_PER_S:,} output tok/s in all"
    whole = estimated_s(workload)
    start = "" if whole is None else f"about {duration(whole)}: "
    return f"{start}{each}, at {rates}; a reasoning model writes many times as much"


def _as_sentence(need: Need) -> str:
    mark = {True: "ok", False: "missing", None: "per run"}[need.met]
    return f"{mark}: {need.about}"


def _sampling(workload: Workload) -> str:
    temperature = 0 if workload.temperature is None else workload.temperature
    limit = "" if workload.max_tokens is None else f", at most {workload.max_tokens:,} output tokens"
    return f"temperature {temperature:g}{limit}"


def _scorer(scorer: Scorer) -> str:
    asks = " (asks a judge)" * (scorer.ask is not None) + " (runs code)" * scorer.runs_code
    return f"{scorer.name}{asks}: {scorer.definition}"


def facts(workload: Workload, data: Path | None = None) -> Mapping[str, Any]:
    """The facts of a benchmark, as JSON values."""
    scorers = [
        {
            "name": scorer.name,
            "version": scorer.version,
            "definition": scorer.definition,
            "judge": scorer.judge or None,
            "runs_code": scorer.runs_code,
            "headlines": [headline.name for headline in scorer.headlines],
            "note": scorer.note or None,
        }
        for scorer in workload.scorers
    ]
    return {
        "title": workload.title,
        "about": workload.about,
        "checked": workload.checked,
        "unverified": workload.unverified,
        "plugin": package_of(workload.name) or None,
        "tier": workload.tier,
        "category": workload.category,
        "aliases": aliases_of(workload.name),
        "version": workload.version,
        "questions": workload.source.rows,
        "subsets": {name: source.rows for name, source in workload.subsets.items()},
        "typical": None if workload.typical is None else asdict(workload.typical),
        "estimated_s": estimated_s(workload),
        "needs": [asdict(need) for need in needs(workload, data)],
        "hub": workload.source.hub,
        "licence": workload.source.licence or None,
        "files": list(workload.source.files),
        "options": dict(workload.options),
        "max_tokens": workload.max_tokens,
        "temperature": workload.temperature,
        "groups": list(workload.groups),
        "scorers": scorers,
    }


def aliases_of(name: str) -> list[str]:
    """The other names of a benchmark."""
    return [alias for alias, canonical_name in aliases().items() if canonical_name == name]
