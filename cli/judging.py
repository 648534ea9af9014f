"""From a log to a report with its verdict."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cli.errors import UsageError, printable
from cli.run_folder import REPORT, folder_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reporter.report import Report
    from rulesets.ruleset import Ruleset


def read_rules(require: Sequence[str], ruleset: Path | None) -> Ruleset | None:
    """The rules that a command was given: a file, short expressions, or both; None without any.

    Raises:
        RulesetError: One of them cannot be read.
        UsageError: Two of them set the same target.
    """
    if not require and ruleset is None:
        return None
    from rulesets.ruleset import load, of_expressions

    if ruleset is None:
        return of_expressions(require)
    rules = load(ruleset)
    if not require:
        return rules
    further = of_expressions(require)
    twice = {target.id for target in rules.targets} & {target.id for target in further.targets}
    if twice:
        raise UsageError(
            f"{ruleset} and --require both set {', '.join(sorted(twice))}: leave one of them out"
        )
    return replace(rules, name=f"{rules.name} + command line", targets=rules.targets + further.targets)


def make_report(log: Path, rules: Ruleset | None, **options: Any) -> Report:
    """Compute a report from a log, and judge it where there are rules.

    Args:
        log: The log, or the folder that it is in.
        rules: What to hold it against; None for the rules that the run was started with, if any.
        options: Passed on to `MetricsReporter.create_report`.

    Raises:
        LogError: It is not a log that can be read.
        RulesetError: The run was started with rules that are none.
    """
    from reporter.reporter import MetricsReporter

    with MetricsReporter(log) as reporter:
        report = reporter.create_report(**options)
    if rules is None and report.run["ruleset"] is None:
        return report
    from rulesets.ruleset import Ruleset
    from rulesets.verdict import judge

    rules = rules or Ruleset.of_dict(report.run["ruleset"])
    return replace(report, verdict=judge(rules, report.to_dict()).to_dict())


def write_report(log: Path, rules: Ruleset | None, **options: Any) -> Report:
    """Compute a report as `make_report` does, and lay it beside the log as `report.json`.

    The file appears whole or not at all. A folder that cannot be written to is no reason to fail: the file
    is derived, and the log has everything.
    """
    from reporter.render.json import render

    report = make_report(log, rules, **options)
    path = folder_of(log) / REPORT
    # Of a name of its own: one that was killed may have left something behind, with the same process id.
    unfinished = path.with_suffix(f".{uuid4().hex}.tmp")
    try:
        # Whatever lies there is not written through: a link could lead out of the folder.
        with unfinished.open("x", encoding="utf-8") as file:
            file.write(render(report))
        unfinished.replace(path)
    except OSError as error:
        sys.stderr.write(f"note: {printable(str(path))} was not written ({error.strerror})\n")
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return report
