"""Scoring on several nodes, here plain processes: every answer once, whatever becomes of a node."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from loadgen.plugins.ray import grading_on_nodes as scoring
from loadgen.plugins.ray.grading_on_nodes import OnNodes
from loadgen.sessions.errors import SetupError
from loadgen.sessions.observer import Observer
from loadgen.sessions.scoring.scoring_pass import score_run
from loadgen.sessions.settings.scoring_choices import ScoringChoices
from reporter.log.query import query
from tests.sessions.plain_nodes import PlainNodes
from tests.sessions.scoring.test_scoring_pass import events_by_pass
from workloads.sandbox_contract import SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    NewRun = Callable[..., Path]

SCORES = "SELECT pass, scorer, prompt_id, value, status, reason FROM scores ORDER BY ALL"
SILENCE_S = 3.0


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have two plain processes in place of a cluster."""

    @contextmanager
    def graders_on_ray(options: ScoringChoices, observer: Observer) -> Iterator[OnNodes]:
        with (
            PlainNodes(2, service="GradingNode") as started,
            OnNodes(started, options, observer, SILENCE_S) as site,
        ):
            yield site

    monkeypatch.setattr(scoring, "graders_on_ray", graders_on_ray)


class Notes(Observer):
    """Keeps what is noted."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str, *, apart: bool = False) -> None:
        """Keep a note."""
        del apart
        self.notes.append(text)


def end_grading_node(folder: Path, ending: signal.Signals) -> None:
    """Signal the node whose grader waits, and let later ones go on."""
    give_up_s = time.monotonic() + 60
    while not (folder / "pid").exists():
        if time.monotonic() > give_up_s:
            return
        time.sleep(0.01)
    grader = psutil.Process(int((folder / "pid").read_text()))
    os.kill(grader.ppid(), ending)
    (folder / "go-on").touch()


@pytest.mark.slow
@pytest.mark.usefixtures("nodes")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGSTOP])
def test_a_node_that_dies_or_falls_silent(
    new_run: NewRun, graders: Path, monkeypatch: Any, ending: signal.Signals
) -> None:
    """Its answers are graded by the other: every answer has one score, that of this machine alone."""
    monkeypatch.chdir(graders)
    for name in ("pid", "go-on"):
        (graders / name).unlink(missing_ok=True)
    answers = [f"#### {number % 3}" for number in range(60)]
    answers[2] = "waits"
    run = new_run(answers, ["1"] * 60)
    ender = threading.Thread(target=end_grading_node, args=(graders, ending))
    ender.start()
    options = ScoringChoices(evals=("pool_graders:waits",), processes=1, ray="auto")
    observer = Notes()
    assert sum(score_run(run, options, observer).graded.values()) == 120
    ender.join()
    assert any(re.search(r"node-\d .* was lost", note) for note in observer.notes)
    assert events_by_pass(run) == [(f"{number:04}", 2) for number in range(60)]

    score_run(run, ScoringChoices(evals=("pool_graders:waits",), processes=1))
    rows = query(run, SCORES).rows
    assert [row[1:] for row in rows if row[0] == 1] == [row[1:] for row in rows if row[0] == 2]


@pytest.mark.slow
@pytest.mark.usefixtures("nodes")
def test_a_node_without_docker(new_run: NewRun, monkeypatch: Any) -> None:
    """Where containers are needed it is named, and nothing is scored."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///there-is-none.sock")
    run = new_run(["1"], task="humaneval")
    options = ScoringChoices(allow_code_execution=True, sandbox=SandboxSpec("docker"), ray="auto")
    with pytest.raises(SetupError, match=r"node-\d \(127.0.0.1\): .*[Dd]ocker"):
        score_run(run, options)
    assert query(run, "SELECT count(*) FROM passes").rows == [(0,)]


def test_nodes_that_would_score_otherwise() -> None:
    """The message names the nodes, and what differs."""
    alike = {"versions": {"nltk": "3.9"}, "sandbox": {"sandbox": "docker"}}
    other = {"versions": {"nltk": "3.8"}, "sandbox": {"sandbox": "docker"}}
    scoring.require_alike([("node-0", alike), ("node-1", alike)])
    with pytest.raises(SetupError, match=r"node-2 .* than node-0: nltk is 3.8 there, and 3.9"):
        scoring.require_alike([("node-0", alike), ("node-1", alike), ("node-2", other)])
