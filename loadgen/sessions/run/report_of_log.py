"""From a log to a report with a verdict."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.files.run_folder import REPORT, folder_of, write_whole
from loadgen.sessions.gating.reference import GateInputs
from loadgen.sessions.observer import SILENT, Observer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reporter.contents.run_contents import RunContents
    from reporter.measured.log_evidence import LogEvidence
    from reporter.report import Report
    from reporter.report_options import ReportOptions
    from rulesets.ruleset import Ruleset

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
NO_INPUTS: Final = GateInputs()


def make_report(
    log: Path,
    rules: Ruleset | None,
    inputs: GateInputs = NO_INPUTS,
    options: ReportOptions | None = None,
    *,
    choice: Mapping[str, Any] = NOTHING,
) -> Report:
    """Compute a report from a log, by the definitions of the rules, and evaluate the rules if there are any.

    Args:
        log: The log, or the folder that it is in.
        rules: The rules; None for those that the run was started with, if any.
        inputs: Further inputs of the rules.
        options: The reader's choices for the report.
        choice: Definitions in place of those that the run was started with, from
            `loadgen.sessions.settings.definition_options.chosen`.

    Raises:
        LogError: It is not a log that can be read.
        RulesetError: The rules in its log cannot be read.
        UsageError: A ruleset contradicts the choice.
    """
    with opened_report(log, rules, inputs, options, choice=choice) as (report, _):
        return report


@contextmanager
def opened_report(
    log: Path,
    rules: Ruleset | None,
    inputs: GateInputs = NO_INPUTS,
    options: ReportOptions | None = None,
    *,
    choice: Mapping[str, Any] = NOTHING,
) -> Iterator[tuple[Report, LogEvidence]]:
    """Compute a report as `make_report` does, with the log open for the length of the context."""
    from loadgen.sessions.settings.definition_options import chosen, definitions_of, with_definitions
    from reporter.json_values import members
    from reporter.log.settings import settings
    from reporter.measured_run import measured
    from reporter.report_options import ReportOptions

    skip = inputs.skip
    if rules is None:
        rules, left_out = started_with(log)
        skip = left_out if skip is None else skip
    rules = with_definitions(rules, choice)
    started = NOTHING if rules else chosen(members(settings(log).get("options")))
    definitions = definitions_of(rules, {**started, **choice})
    options = options or ReportOptions()
    has_media = bool(members(members(settings(log).get("dataset")).get("facts")).get("media"))
    if has_media or (rules and any(audit.name == "token_count" for audit in rules.audits)):
        options = replace(options, recount=True)
    with measured(log, definitions, options, judged_by=rules) as (report, evidence):
        if rules is None:
            yield report, evidence
            return
        from rulesets.evaluation import evaluate

        evidence.scores = inputs.scores
        evidence.power = None if inputs.power is None else asdict(inputs.power)
        verdict = evaluate(
            rules,
            evidence,
            others=inputs.others,
            baseline=inputs.baseline,
            skip=skip or (),
            audits=inputs.audits,
        )
        yield replace(report, run=replace(report.run, power=evidence.power), verdict=verdict), evidence


def started_with(log: Path) -> tuple[Ruleset | None, Sequence[str]]:
    """The rules at the start of a run, if any, and the skipped ones."""
    from reporter.json_values import members, texts
    from reporter.log.settings import settings

    run_settings = settings(log)
    stored_rules = members(run_settings.get("ruleset"))
    if not stored_rules:
        return None, ()
    from rulesets.ruleset import Ruleset

    return Ruleset.of_dict(stored_rules), texts(run_settings.get("skip"))


def write_report(
    log: Path,
    rules: Ruleset | None,
    inputs: GateInputs = NO_INPUTS,
    options: ReportOptions | None = None,
    *,
    choice: Mapping[str, Any] = NOTHING,
    observer: Observer = SILENT,
    as_started: bool = False,
) -> Report:
    """Compute a report as `make_report` does, and write `report.json` next to the log.

    The report of a scoring pass that the reader chose is only returned: the file is that of the last one.
    `as_started` says that rules and options are those of the run's start, as they are where none is given: a
    series reads only such a file.
    """
    report = make_report(log, rules, inputs, options, choice=choice)
    if options is None or options.scoring_pass is None:
        chosen = rules is not None or inputs != NO_INPUTS or choice or _differs(options)
        _save(log, report, observer, as_started=as_started or not chosen)
    return report


def write_report_with_contents(
    log: Path,
    options: ReportOptions | None = None,
    *,
    choice: Mapping[str, Any] = NOTHING,
    observer: Observer = SILENT,
) -> tuple[Report, RunContents]:
    """Write a report as `write_report` does, and compute the further contents of a page."""
    from reporter.contents.run_contents import run_contents

    with opened_report(log, None, options=options, choice=choice) as (report, evidence):
        contents = run_contents(report, evidence)
    if options is None or options.scoring_pass is None:
        _save(log, report, observer, as_started=not (choice or _differs(options)))
    return report, contents


def _differs(options: ReportOptions | None) -> bool:
    from reporter.report_options import ReportOptions

    return options is not None and options != ReportOptions()


def _save(log: Path, report: Report, observer: Observer, *, as_started: bool) -> None:
    facts = replace(report.run, as_started=True) if as_started else report.run
    save_report(log, replace(report, run=facts), observer)


def save_report(log: Path, report: Report, observer: Observer = SILENT) -> None:
    """Write `report.json` next to a log.

    A folder that cannot be written to is not an error: the file is derived, and the log has everything.
    Nothing is written into an object store.
    """
    from reporter.render.json import render

    folder = folder_of(log)
    if not folder.is_dir():
        return
    path = folder / REPORT
    try:
        write_whole(path, render(report).encode())
    except OSError as error:
        observer.note(f"note: {path} was not written ({error.strerror})")
