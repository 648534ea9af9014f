"""Code and tables of the docs that follow from the tables of metrics, plots and payload keys.

`python -m tests.metric_files` writes them, and so does `make golden`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.sessions.vocabulary import column_rows
from reporter.plots.make import described
from reporter.report_schema import key_rows
from reporter.sample_results import METRICS
from rulesets.metric_table import TABLE
from rulesets.quantity import COMPARE, METRIC_ALIASES, TIME
from rulesets.reading.ruleset_schema import key_values
from rulesets.request_metrics import REQUEST_METRICS
from tests import payload_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rulesets.quantity import MetricDefinition, Quantity, Scale

ROOT: Final = Path(__file__).parents[1]
_METRICS_OF_SAMPLES: Final = (
    "Its [metrics](metrics.md#times), and their bounds where stamps are "
    "[in doubt](metrics.md#what-is-in-doubt):"
)
_LISTS: Final = frozenset({"over_time", "accuracy"})
_ADDED: Final = "Summary | None = field(default=None, kw_only=True)"


def report(text: str) -> str:
    """reporter/report.py, with a field for each metric: those of report.json as they are, new ones last."""
    text = _with_fields(text, "metrics", [metric.column for metric in REQUEST_METRICS])
    in_parts = [metric.column for metric in REQUEST_METRICS if metric.in_parts]
    return _with_fields(text, "metrics of parts", in_parts)


def metrics_page(text: str) -> str:
    """docs/metrics.md, with the metrics of requests, their definitions and what each is for."""
    rows = (
        (f"`{metric.column}`", _signs(metric.definition), metric.use.replace("(metrics.md#", "(#"))
        for metric in REQUEST_METRICS
    )
    for part, of_part in key_rows().items():
        prefix = "" if part in _LISTS else f"{part}."
        keys = ((_code(keys, prefix), meaning) for keys, meaning in of_part)
        text = _with_table(text, ("key", "definition"), keys, mark=part)
    return _with_table(text, ("key", "definition", "use"), rows)


def sql_page(text: str) -> str:
    """docs/sql.md, with the columns of each view; those of `samples` that are metrics have a table."""
    sections = []
    for name, view in column_rows().items():
        rows = (f"| {_code(columns)} | {meaning} |" for columns, meaning in view["columns"])
        table = "\n".join(("| column | meaning |", "|---|---|", *rows))
        sections.append(f"### {name}\n\n{view['rows']}\n\n{table}\n")
        if name == "samples":
            sections.append(f"{_METRICS_OF_SAMPLES}\n\n<!-- metrics -->\n<!-- /metrics -->\n")
    before, _, rest = text.partition("<!-- views -->\n")
    after = rest.partition("<!-- /views -->")[2]
    joined = "\n".join(sections)
    page = f"{before}<!-- views -->\n\n{joined}\n<!-- /views -->{after}"
    metrics = [
        (
            f"`{metric.column}`",
            ", ".join(f"`{metric.end_column(end)}`" for end in metric.ends),
            _phrase(metric),
        )
        for metric in REQUEST_METRICS
        if metric.per == "request"
    ]
    return _with_table(page, ("column", "bounds", "meaning"), metrics)


def rules_page(text: str) -> str:
    """docs/rulesets.md, with what a target can name: metrics of requests in groups, the others one by one."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for metric in REQUEST_METRICS:
        if metric.in_rules:
            written = (_statistics(metric.quantity), _units(metric.quantity), _ops(metric))
            groups.setdefault(written, []).append(_names(metric))
    rows = [
        (", ".join(names), "[metrics.md](metrics.md#times)", *written) for written, names in groups.items()
    ]
    rows += [
        (_names(metric), _phrase(metric), _statistics(metric.quantity), _units(metric.quantity), _ops(metric))
        for metric in TABLE
        if metric.in_rules and metric not in REQUEST_METRICS
    ]
    score = ("`accuracy.NAME`", "a [score](#scores) of the run", "`value`", "none", "`<` `<=` `>` `>=`")
    text = _with_table(
        text, ("key", "value"), ((f"`{key}`", value) for key, value in key_values().items()), "keys"
    )
    head = ("metric", "what it is", "statistics", "units", "operators")
    return _with_table(text, head, (*rows, score))


def results_page(text: str) -> str:
    """docs/export.md, with the metrics that the results per sample have."""
    columns = ", ".join(f"`{column}`" for column in METRICS)
    meaning = "as in [metrics.md](metrics.md)"
    return re.sub(
        rf"^\| .* \| {re.escape(meaning)} \|$", f"| {columns} | {meaning} |", text, flags=re.MULTILINE
    )


def gate_page(text: str) -> str:
    """docs/gate.md, with the metrics that `--abort-on-fail` does not follow."""
    names = ", ".join(
        f"`{metric.name}`" for metric in REQUEST_METRICS if metric.in_rules and not metric.while_running
    )
    return re.sub(r"(?m)^\| .*(; figures that need a tokenizer .* \| no \|)$", rf"| {names}\1", text)


def plot_page(text: str) -> str:
    """docs/plot.md, with the plots of the catalog, in one row where they show the same of several metrics."""
    names: dict[str, list[str]] = {}
    for name, shows in described().items():
        label, separator, content = shows.partition(": ")
        is_metric = separator and label.lower() == name.partition("-")[0]
        names.setdefault(content if is_metric else shows, []).append(f"`{name}`")
    rows = ((", ".join(plots), shows) for shows, plots in names.items())
    return _with_table(text, ("name", "what it shows"), rows, mark="plots")


MADE: Final[Mapping[str, Callable[[str], str]]] = {
    "reporter/report.py": report,
    "docs/metrics.md": metrics_page,
    "docs/sql.md": sql_page,
    "docs/rulesets.md": rules_page,
    "docs/export.md": results_page,
    "docs/gate.md": gate_page,
    "docs/plot.md": plot_page,
    "docs/log.md": payload_files.log_page,
    "reporter/log/_columns.h": payload_files.header,
}
"""The files with parts that are made of a table, and how each is with them."""


def _with_fields(text: str, name: str, columns: Sequence[str]) -> str:
    before, start, rest = text.partition(f"    # {name}\n")
    block, end, after = rest.partition(f"    # end of {name}\n")
    declared = dict(re.findall(r"^    (\w+): (.*)$", block, re.MULTILINE))
    fields = (
        f"    {column}: {declared.get(column, _ADDED)}\n"
        for column in dict.fromkeys((*declared, *columns))
        if column in columns
    )
    return "".join((before, start, *fields, end, after))


def _with_table(text: str, head: Sequence[str], rows: Iterable[Iterable[str]], mark: str = "metrics") -> str:
    lines = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    table = "\n".join((next(lines), "|---" * len(head) + "|", *lines))
    made = f"<!-- {mark} -->\n\n{table}\n\n<!-- /{mark} -->"
    return re.sub(f"<!-- {mark} -->.*?<!-- /{mark} -->", lambda _: made, text, flags=re.DOTALL)


def _code(names: str, prefix: str = "") -> str:
    return ", ".join(f"`{prefix}{name}`" for name in names.split(", "))


def _phrase(metric: MetricDefinition) -> str:
    """Its meaning, with options as code."""
    return re.sub(r"--[a-z-]+", r"`\g<0>`", metric.meaning)


def _signs(definition: str) -> str:
    return definition.replace(" - ", " − ")  # noqa: RUF001 (the sign of a difference)


def _names(metric: MetricDefinition) -> str:
    name = f"`{metric.name}(…)`" if metric.quantity.kind == "good" else f"`{metric.name}`"
    aliases = [f"`{alias}`" for alias, meant in METRIC_ALIASES.items() if meant == metric.name]
    return f"{name} ({', '.join(aliases)})" if aliases else name


def _statistics(quantity: Quantity) -> str:
    return "distribution" if quantity.percentiles else ", ".join(f"`{stat}`" for stat in quantity.stats)


def _units(quantity: Quantity) -> str:
    own = [f"{_unit(scale)} for `{stat}`" for stat, scale in quantity.scales.items()]
    return "; ".join((_unit(quantity.scale), *own))


def _unit(scale: Scale) -> str:
    if scale is TIME:
        return "time"
    named = [f"`{unit}`" for unit in scale.units if unit]
    if "" in scale.units:
        return f"{', '.join(named)}, or none for a fraction" if named else "none"
    return f"{', '.join(named)} (default)"


def _ops(metric: MetricDefinition) -> str:
    ops = metric.quantity.ops
    return "all six" if len(ops) == len(COMPARE) else " ".join(f"`{op}`" for op in ops)


def main() -> None:
    """Write the files."""
    for path, made in MADE.items():
        file = ROOT / path
        file.write_text(made(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
