"""`--trace-detail`: each sample with its steps, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.output import OutputSettings
from loadgen.sessions.trace_listing import trace_lines
from recorder import EventRecorder, EventType, payloads

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

MS = 1_000_000


@pytest.fixture
def episode(tmp_path: Path) -> Path:
    """An episode of two turns with a call of a tool between them, and a single request that failed."""
    record = EventRecorder.record_event
    with EventRecorder(path=tmp_path / "run" / "events.db", settings={"model": "demo"}) as recorder:
        start_ns = recorder.session.started_at_ns
        record(EventType.TEST_STARTED, start_ns)
        question = payloads.Question(prompt_id=0, task="sums", id="two")
        record(EventType.QUESTION, start_ns, data=question)
        for turn, at_ns in enumerate((start_ns, start_ns + 500 * MS)):
            issued = payloads.Issued(
                scheduled_ns=at_ns,
                phase="performance",
                prompt_id=0,
                conversation="c",
                turn=turn,
                episode=True,
            )
            record(EventType.LOADGEN_ISSUE_CALLED, at_ns, f"turn {turn}", data=issued)
            record(EventType.REQUEST_SENT, at_ns, f"turn {turn}")
            complete = payloads.Complete(input_tokens=10, output_tokens=3 + turn, finish_reason="stop")
            record(EventType.COMPLETE, at_ns + 200 * MS, f"turn {turn}", data=complete)
        called = payloads.ToolCalled(
            conversation="c", prompt_id=0, phase="performance", turn=0, name="add",
            started_ns=start_ns + 300 * MS, duration_ns=50 * MS, error="no number",
        )  # fmt: skip
        record(EventType.TOOL_CALLED, start_ns + 350 * MS, data=called)
        ended = payloads.EpisodeEnded(
            conversation="c", prompt_id=0, phase="performance", started_ns=start_ns, duration_ns=700 * MS,
            ending="completed",
        )  # fmt: skip
        record(EventType.EPISODE_ENDED, start_ns + 700 * MS, data=ended)
        later_ns = start_ns + 900 * MS
        issued = payloads.Issued(scheduled_ns=later_ns, phase="performance", prompt_id=7)
        record(EventType.LOADGEN_ISSUE_CALLED, later_ns, "alone", data=issued)
        record(EventType.ERROR, later_ns + MS, "alone", data=payloads.Failed(error="connect_refused"))
        record(EventType.TEST_ENDED, later_ns + MS, data=payloads.SessionEnded(reason="completed"))
    return tmp_path / "run"


def test_steps_are_in_their_order_with_their_figures(episode: Path) -> None:
    """Turns and calls of one episode together, whatever the order in which they were logged."""
    shown = [line.split() for line in trace_lines(episode)]
    assert shown == [
        ["1", "sums:", "two", "completed"],
        ["+0", "ms", "turn", "0", "model", "200", "ms", "10", "in", "3", "out", "stop"],
        ["+300", "ms", "turn", "0", "tool", "add", "50", "ms", "no", "number"],
        ["+500", "ms", "turn", "1", "model", "200", "ms", "10", "in", "4", "out", "stop"],
        ["2", "prompt", "7"],
        ["+0", "ms", "model", "-", "connect_refused"],
    ]


@pytest.mark.slow
def test_it_follows_the_report(
    episode: Path, loadgen: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """On standard output, and as text alone."""
    done = loadgen("report", episode, "--trace-detail", "--compact")
    assert done.stdout.rstrip().endswith("connect_refused")
    refused = loadgen("report", episode, "--trace-detail", "--json")
    assert (refused.returncode, "is text on standard output" in refused.stderr) == (2, True)
    with pytest.raises(UsageError, match="--trace-detail is text"):
        OutputSettings(trace_detail=True, json=True)
