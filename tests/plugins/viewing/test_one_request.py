"""One request of a run, in a terminal and as a page."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from loadgen.plugins.viewing.one_request.command import request
from loadgen.plugins.viewing.one_request.detail import request_detail
from loadgen.plugins.viewing.one_request.page import page_of
from loadgen.sessions.errors import UsageError
from recorder import EventRecorder, EventType
from reporter.render.html.page_writer import write

if TYPE_CHECKING:
    from pathlib import Path

MS = 1_000_000

SHOWN = """\
request 1 of 1 of RUN, id a1
Result         completed
Issued         UTC

figure                     value
Latency                   220 ms
Latency, incl. queueing   221 ms
TTFT                     50.0 ms
TTFT, incl. queueing      151 ms
TPOT                     10.0 ms
Input tokens                   7
Output tokens                  4
Chunks                         4
Attempts                       2

moment                      at (ms)  after (ms)
due                           0.000           -
issued                        1.000       1.000
attempt 1 sent                3.000       2.000
attempt 1 failed: http_503   41.000      38.000
first byte sent             101.000      60.000
first byte of the response  150.000      49.000
first token                 151.000       1.000
last token                  181.000      30.000
end                         221.000      40.000

attempt        error     message     status  took (ms)  wait (ms)
1              http_503  overloaded     503     38.000     60.000

time, stated in   server (ms)  client (ms)  difference (ms)
queue, metrics          5.000            -                -
prefill, metrics       35.000            -                -
TTFT, metrics          40.000       50.000           10.000

Prompt         What is 2 + 2?

Output         Four.
               Truly \\x1b[31m."""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of one request, which was tried twice."""
    with EventRecorder(path=tmp_path / "events.db", settings={"load": {"kind": "closed"}}) as recorder:
        record = recorder.record_event
        record(EventType.PHASE_STARTED, 0, data={"phase": "performance"})
        asked = {"messages": [{"role": "user", "content": "What is 2 + 2?"}]}
        issue = {"phase": "performance", "scheduled_ns": 10 * MS, "prompt_id": 1, "texts": asked}
        record(EventType.LOADGEN_ISSUE_CALLED, 11 * MS, "a1", data=issue)
        failed = {"attempt": 1, "error": "http_503", "message": "overloaded", "status": 503}
        failed |= {"wait_ms": 60.0, "sent_ns": 13 * MS}
        record(EventType.REQUEST_SENT, 13 * MS, "a1", data={"reused": True})
        record(EventType.RETRY, 51 * MS, "a1", data=failed)
        record(EventType.REQUEST_SENT, 111 * MS, "a1", data={"reused": True, "attempt": 2})
        answered = {
            "first_byte_ns": 160 * MS,
            "first_token_ns": 161 * MS,
            "last_token_ns": 191 * MS,
            "output_tokens": 4,
            "input_tokens": 7,
            "chunks": 4,
            "stream": True,
            "finish_reason": "stop",
            "chunk_gaps_us": array("I", [50_000, 10_000, 10_000, 10_000]).tobytes(),
            "server": {"metrics": {"queue_time_ms": 5.0, "time_to_first_token_ms": 40.0}},
            "texts": {"output": "Four.\nTruly \x1b[31m."},
        }
        record(EventType.COMPLETE, 231 * MS, "a1", data=answered)
        record(EventType.TEST_ENDED, 240 * MS, data={"reason": "completed"})
    return tmp_path


def test_a_request_in_a_terminal(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Figures, moments with the failed attempt, the server's times, and texts without control characters."""
    request(run, "a1")
    lines = capsys.readouterr().out.replace(str(run), "RUN").splitlines()
    shown = ["Issued         UTC" if line.startswith("Issued") else line for line in lines]
    assert "\n".join(shown).rstrip() == SHOWN
    request(run, "1", json=True)
    assert '"number": 1' in capsys.readouterr().out
    with pytest.raises(UsageError, match="2: no such request; name one of 1 request by number"):
        request_detail(run, "2")


def test_a_request_as_a_page(run: Path) -> None:
    """It has every chunk, the attempt, every column, and the query of each figure."""
    page = page_of(request_detail(run, "1"), "runs/my run")
    tables = {section.anchor: section for section in page.sections}
    assert tables["chunks"].tables[0].rows[1] == ("2", "60.000", "10.000")  # type: ignore[union-attr]
    assert page.footer == ("In a terminal: loadgen request 'runs/my run' a1",)
    html = write(page)
    assert html.count("WHERE sample_uuid = &#39;a1&#39;") >= 6
    assert "with 1 failed attempt" in html


def test_the_phase_of_a_request_is_in_words(run: Path) -> None:
    """The page of one request spells the phase as other pages do."""
    detail = request_detail(run, "1")
    page = page_of(replace(detail, figures={**detail.figures, "phase": "warmup"}), "run")
    assert "warm-up" in page.lines
