"""The stored report next to a log, if equal to a newly computed one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loadgen.sessions.files.run_folder import REPORT
from loadgen.sessions.package_version import package_version
from reporter.log.storage_place import source_files

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.report import Report
    from rulesets.ruleset import Ruleset

_NOT_OVER: Final = frozenset({"running", "interrupted", "cut_off"})
_BY_TOKENIZER: Final = frozenset({"client_tokenizer", "mixed"})


def stored_report(run: Path) -> Report | None:
    """Read the report of an ended run, a hundred times faster than computing.

    `loadgen report` and `loadgen gate` may have written it since, with other options and rules: one
    with other options is not used, and the verdict is always by the rules that the run was started with.

    Returns:
        None where there is none, the log is newer, another version of this program, other options or other
        definitions made it, or the rules need more than a report has.
    """
    from reporter.stored import report_of
    from rulesets.ruleset import Ruleset

    path = run / REPORT
    with suppress(OSError, ValueError):
        if path.stat().st_mtime_ns < _last_written_ns(run):
            return None
        made = report_of(path.read_bytes())
        rules = Ruleset.of_dict(made.run.ruleset) if made.run.ruleset else None
        same = _is_the_same(made, rules) and made.run.on_invalid == _chosen(run)
        return _judged(made, rules) if same else None
    return None


def _chosen(run: Path) -> str:
    """The `--on-invalid` of the run."""
    from reporter.json_values import members
    from reporter.log.settings import settings

    return str(members(settings(run).get("options")).get("on_invalid") or "fail")


def _last_written_ns(run: Path) -> int:
    return max(part.stat().st_mtime_ns for part in source_files(run))


def _is_the_same(made: Report, rules: Ruleset | None) -> bool:
    from reporter.findings.overhead_effect import decided_alike
    from reporter.report import SCHEMA_VERSION
    from rulesets.definitions import Definitions
    from rulesets.evaluators.client_delay import asked_figures

    definitions = (rules.definitions if rules else Definitions()).to_dict()
    by = {
        name: list(definition) if isinstance(definition, tuple) else definition
        for name, definition in definitions.items()
    }
    how = (made.run.definitions, made.run.percentile_method, made.run.tpot_mode)
    return (
        made.schema_version == SCHEMA_VERSION
        and made.run.versions.get("llm-loadgen") == package_version("llm-loadgen")
        and how == (by, definitions["percentile_method"], "request_weighted")
        and decided_alike(made, asked_figures(rules))
        and made.tokens.source not in _BY_TOKENIZER
        and made.run.ended not in _NOT_OVER
    )


def _judged(made: Report, rules: Ruleset | None) -> Report | None:
    """The report with the verdict of the run's own rules; None where that needs more than a report has."""
    from rulesets.evaluators.client_delay import asked_figures

    asked = asked_figures(rules)
    deciding = None if asked is None else list(map(str, asked))
    made = replace(made, run=replace(made.run, own_delay_decides=deciding))
    if rules is None:
        return replace(made, verdict=None)
    from rulesets.evaluation import evaluate
    from rulesets.report_evidence import OfReport

    verdict = evaluate(rules, OfReport(made.to_dict()), skip=made.run.skip or ())
    if any(row.status == "INCONCLUSIVE" for row in verdict.rows):
        return None
    return replace(made, verdict=verdict)
