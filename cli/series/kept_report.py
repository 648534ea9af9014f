"""The report that lies beside a log, where it is what would be computed from it now."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final

from cli.run_folder import REPORT
from recorder.store import LOG_NAME

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.report import Report

_NOT_OVER: Final = frozenset({"running", "interrupted", "cut_off"})
_BY_TOKENIZER: Final = frozenset({"client_tokenizer", "mixed"})


def kept_report(run: Path) -> Report | None:
    """Read the report of a run that is over, which takes a hundredth of what it takes to compute it.

    `loadgen report` and `loadgen gate` may have written it since, with options and rules of their own: one
    with other options is not used, and the verdict is always by the rules that the run was started with.

    Returns:
        None where there is none, where the log is newer, or where another version of this program or other
        options made it.
    """
    from pydantic import TypeAdapter, ValidationError

    from reporter import report as reports

    path = run / REPORT
    with suppress(OSError, ValidationError):
        if path.stat().st_mtime_ns < _last_written_ns(run):
            return None
        made: Report = TypeAdapter(reports.Report).validate_json(path.read_bytes())
        return _judged(made) if _is_the_same(made) else None
    return None


def _last_written_ns(run: Path) -> int:
    parts = [run / LOG_NAME, run / f"{LOG_NAME}-wal"]
    return max(part.stat().st_mtime_ns for part in parts if part.exists())


def _is_the_same(made: Report) -> bool:
    from reporter.report import SCHEMA_VERSION

    how = (made.run.get("percentile_method"), made.run.get("tpot_mode"))
    return (
        made.schema_version == SCHEMA_VERSION
        and made.run.get("versions", {}).get("llm-loadgen") == _version()
        and how == ("linear", "request_weighted")
        and made.tokens.source not in _BY_TOKENIZER
        and made.run.get("ended") not in _NOT_OVER
    )


def _judged(made: Report) -> Report:
    if made.run.get("ruleset") is None:
        return replace(made, verdict=None)
    from rulesets.ruleset import Ruleset
    from rulesets.verdict import judge

    rules = Ruleset.of_dict(made.run["ruleset"])
    return replace(made, verdict=judge(rules, made.to_dict()).to_dict())


def _version() -> str | None:
    try:
        return version("llm-loadgen")
    except PackageNotFoundError:
        return None
