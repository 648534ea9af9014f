"""The report that is written next to the log."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.sessions.error_exit_codes import message_of
from loadgen.sessions.errors import UsageError
from loadgen.sessions.gating.reference import GateInputs
from loadgen.sessions.run.report_of_log import make_report, started_with, write_report
from loadgen.sessions.settings.perf import perf_settings
from reporter.log.settings import settings
from reporter.report_options import ReportOptions
from rulesets.definitions import Definitions
from rulesets.demands import AuditDemand
from rulesets.evidence import Accuracy
from rulesets.ruleset import of_expressions

if TYPE_CHECKING:
    from pathlib import Path

    from rulesets.ruleset import Ruleset


def started(run: Path, **changes: Any) -> None:
    """Change the settings that a run was started with."""
    with closing(sqlite3.connect(run / "events.db")) as log, log:
        changed = settings(run) | changes
        log.execute("UPDATE session SET settings = ?", [orjson.dumps(changed).decode()])


def rules(*expressions: str, **definitions: Any) -> Ruleset:
    """Rules from the command line, by their own definitions."""
    return replace(of_expressions(expressions), definitions=Definitions(**definitions))


def test_a_run_is_judged_by_what_its_log_has(a_run: Path) -> None:
    """Percentiles that a report does not hold, parts of the requests, and several conditions at once."""
    wanted = rules(
        "ttft:p(12.5)<60s",
        "ttft{endpoint:nowhere}:p(50)<60s",
        "good(ttft<60s,tpot<60s):fraction>=100%",
        "output_tokens:max<=4",
    )
    report = write_report(a_run, wanted)
    assert report.verdict is not None
    assert [row.status for row in report.verdict.rows] == ["PASS", "FAIL", "PASS", "PASS"]


class Letters:
    """Takes each letter for a token."""

    def encode(self, text: str) -> str:
        """The letters."""
        return text


@pytest.mark.slow
def test_an_audit_of_token_counts_counts_them_again(a_run: Path) -> None:
    """Where there is a tokenizer; no other rule makes a report count tokens."""
    wanted = rules("qps>0")
    audited = replace(wanted, audits=(AuditDemand("token_count"),))
    assert (
        make_report(a_run, wanted, options=ReportOptions(tokenizer=Letters())).tokens.recounted_output is None
    )
    report = make_report(a_run, audited, options=ReportOptions(tokenizer=Letters()))
    assert report.tokens.recounted_output is not None
    assert report.verdict is not None
    (row,) = [row for row in report.verdict.rows if row.id == "audit.token_count"]
    assert row.reason.startswith("the server counts ")
    without = make_report(a_run, audited).verdict
    assert without is not None
    assert without.rows[-1].remedy == "evaluate with the model's tokenizer: --tokenizer NAME"


def test_the_whole_report_is_by_the_definitions_of_the_rules(a_run: Path) -> None:
    """It says so, and so does the verdict; a report without rules is by the defaults."""
    by = {
        "percentile_method": "loadgen_floor",
        "tpot_end": "complete",
        "throughput_window": "last_issued_done",
    }
    judged, plain = make_report(a_run, rules("qps>0", **by)), make_report(a_run, None)
    assert judged.run.definitions == Definitions(**by).to_dict()  # type: ignore[arg-type]  # they are right
    assert judged.verdict is not None
    assert orjson.dumps(judged.verdict.definitions) == orjson.dumps(judged.run.definitions)
    assert judged.window.kind == "last_issued_done"
    assert judged.tpot_ms is not None
    assert plain.tpot_ms is not None
    # The same on a busy machine, where the end of a stream is read together with its last token.
    assert judged.tpot_ms.mean >= plain.tpot_ms.mean
    assert plain.run.definitions == Definitions().to_dict()


@pytest.mark.slow
def test_without_rules_those_of_the_run_count(a_run: Path) -> None:
    """With their definitions, and without what was left out when it was started."""
    assert started_with(a_run) == (None, ())
    own = rules("qps>0", "ttft:max<1us", tpot_n1="zero")
    started(a_run, ruleset=own.to_dict(), skip=[own.targets[1].id])
    assert started_with(a_run) == (own, [own.targets[1].id])
    report = make_report(a_run, None)
    assert report.run.definitions == own.definitions.to_dict()
    assert report.verdict is not None
    assert [row.status for row in report.verdict.rows] == ["PASS", "SKIP"]
    again = make_report(a_run, None, GateInputs(skip=())).verdict
    assert again is not None
    assert again.status == "FAIL"


def test_a_score_can_be_given(a_run: Path) -> None:
    """An accuracy score may come from another run."""
    wanted = rules("accuracy.exact_match>=80")
    scored = make_report(a_run, wanted, GateInputs(scores={"exact_match": Accuracy(83.1, 100)})).verdict
    assert scored is not None
    assert scored.status == "PASS"
    missing = make_report(a_run, wanted).verdict
    assert missing is not None
    assert missing.status == "FAIL"


def test_the_log_has_how_long_the_first_chunk_is(a_run: Path) -> None:
    """Of every answer that was streamed: part of its text."""
    from reporter.log.database import open_log

    with open_log(a_run, ("outputs",)) as log:
        lengths = log.execute(
            "SELECT (first_chunk ->> 'content')::INT, length(output) "
            "FROM requests JOIN outputs USING (sample_uuid)"
        ).fetchall()
    assert len(lengths) == 10
    assert all(0 < first < whole for first, whole in lengths)


def test_the_number_of_gpus_is_one_or_more() -> None:
    """There is no rate per GPU without one, and no log stores a number of any length."""
    for wrong in (0, 10**23):
        with pytest.raises(UsageError, match=f"--gpus {wrong}: must be from 1 to 1,000,000"):
            perf_settings(url=["http://h"], model="m", gpus=wrong)


def test_a_file_of_a_killed_process_blocks_no_report(a_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a container every process may have the same id."""
    left = a_run / f"report.{os.getpid()}.tmp"
    left.write_text("half a rep")
    (a_run / "report.json").unlink()
    write_report(a_run, None)
    assert capsys.readouterr().err == ""
    assert orjson.loads((a_run / "report.json").read_bytes())["counts"]["completed"] == 10
    assert left.read_text() == "half a rep"


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.EIO, "the output, or a file, cannot be read or written"),
        (errno.EFBIG, "the output, or a file, cannot be read or written"),
        (errno.ENOSPC, "the output cannot be written"),
    ],
)
def test_an_error_without_a_name_may_be_of_any_file(number: int, message: str) -> None:
    """Unless it says that there is no room, which reading does not need."""
    assert message_of(OSError(number, "Trouble")) == f"{message} (Trouble)"
    assert message_of(OSError(number, "Trouble", "a.json")) == "a.json: Trouble"
