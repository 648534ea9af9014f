"""Runs of benchmarks to score, and eval functions that do what graders may do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from recorder import Event, EventType, schema
from recorder.session import Session
from recorder.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    NewRun = Callable[..., Path]

GRADERS = '''
import os
import threading
from contextlib import suppress
from pathlib import Path


def does(solution_str, ground_truth, **more):
    """What the answer says."""
    match solution_str:
        case "hangs":
            threading.Event().wait()
        case "dies":
            os.kill(os.getpid(), 9)
        case "leaves":
            raise SystemExit(3)
        case "eats":
            return len(bytearray(1 << 40))
        case "raises":
            raise ValueError("not like this")
        case "text":
            return "1.0"
        case "nan":
            return float("nan")
        case "interrupts":
            raise KeyboardInterrupt
        case "disturbs":
            for descriptor in range(3, 1000):
                with suppress(OSError):
                    os.write(descriptor, b"fine ")
        case "forks" if os.fork() == 0:
            return 0.0
        case "prints":
            print("a grader says something")
    return float(solution_str == ground_truth)


def waits(solution_str, ground_truth, **more):
    """Graded at once, but for one, which waits until there is a file."""
    if solution_str == "waits":
        Path("pid.part").write_text(str(os.getpid()))
        Path("pid.part").replace("pid")
        while not Path("go-on").exists():
            threading.Event().wait(0.01)
    return 1.0
'''
"""A module of eval functions."""


def stored_run(
    folder: Path,
    answers: Sequence[str],
    truths: Sequence[str] = (),
    task: str = "gsm8k",
    late_ms: int = 0,
    **settings: Any,
) -> Path:
    """The folder of a run that asked one question for each answer; its reference has the truth as `answer`.

    All of it happened a second ago; each request was issued late by `late_ms`.
    """
    start_ns = time.monotonic_ns() - 1_000_000_000
    plain = {"model": "m", "load": {"kind": "closed", "concurrency": 1}, **settings}
    store = Store.create(folder / "events.db", Session("s", start_ns, time.time_ns(), plain))
    events = [Event(EventType.TEST_STARTED, start_ns)]
    for number in range(len(answers)):
        truth = truths[number] if truths else "1"
        asks = {"prompt_id": number, "task": task, "id": str(number), "tags": {}}
        events.append(
            Event(EventType.QUESTION, start_ns, None, {**asks, "texts": {"reference": {"answer": truth}}})
        )
    for number, answer in enumerate(answers):
        at_ns, uuid = start_ns + (number + 1) * 1_000_000, f"{number:04}"
        scheduled_ns = at_ns - late_ms * 1_000_000
        issued = {"phase": "performance", "prompt_id": number, "scheduled_ns": scheduled_ns}
        asked = {"texts": {"messages": [{"role": "user", "content": "how many?"}]}}
        came = {"status": 200, "finish_reason": "stop", "texts": {"output": answer, "tool_calls": None}}
        events += [
            Event(EventType.LOADGEN_ISSUE_CALLED, at_ns, uuid, {**issued, **asked}),
            Event(EventType.REQUEST_SENT, at_ns, uuid),
            Event(EventType.COMPLETE, at_ns + 1000, uuid, came),
        ]
    events.append(Event(EventType.TEST_ENDED, start_ns + 500_000_000, data={"reason": "completed"}))
    store.append([schema.row(event) for event in events])
    store.close()
    return folder


@pytest.fixture
def new_run(tmp_path: Path) -> NewRun:
    """Make a run: `new_run(answers, truths)`."""

    def make(answers: Sequence[str], truths: Sequence[str] = (), **more: Any) -> Path:
        return stored_run(tmp_path / "run", answers, truths, **more)

    return make


@pytest.fixture(scope="session")
def graders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the module `pool_graders`."""
    folder = tmp_path_factory.mktemp("graders")
    (folder / "pool_graders.py").write_text(GRADERS, encoding="utf-8")
    return folder
