"""`loadgen accuracy`: questions for a mock endpoint that has the answers, scored from the log."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.resumption import resumable
from reporter.log.database import open_log
from tests.conftest import clean_environment
from workloads.benchmark import dataset
from workloads.task import parse

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from tests.preloaded import Preloaded

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

QUESTIONS = 6
RIGHT = [True, True, False, True, False, True]
"""Of each question the first time; the second time it is right in any case."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of data: sums, in the form of GSM8K."""
    folder = tmp_path_factory.mktemp("data")
    rows = [{"question": f"{n} + 1?", "answer": f"One more.\n#### {n + 1}"} for n in range(QUESTIONS)]
    (folder / "gsm8k").mkdir()
    (folder / "gsm8k" / "test.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return folder


@pytest.fixture(scope="module")
def url(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An endpoint that answers them: as `RIGHT` says, and rightly when it is asked again."""
    script = tmp_path_factory.mktemp("replies") / "replies.jsonl"
    lines = []
    for number, question in enumerate(dataset([parse("gsm8k")], data).questions):
        for right in (RIGHT[number], True):
            reply = f"I count.\n#### {question.reference['answer'] if right else 'none'}"
            lines.append({"prompt": question.sample.prompt, "reply": reply})
    script.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    with start_mock(ttft="50ms", itl="0", replies=script) as mock:
        yield mock.url


@pytest.fixture(scope="module")
def session(preloaded: Preloaded, data: Path, url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session that asked each question twice, one after the other; not to be changed."""
    folder = tmp_path_factory.mktemp("session") / "run"
    run = preloaded.run(
        *("accuracy", "gsm8k", "--data", data, "--url", url, "--model", "m", "--repeats", 2),
        *("--concurrency", 1, "--max-tokens", 50, "-q", "--out", folder),
        *("--on-invalid", "warn"),  # on a busy machine the client is late
        cwd=folder.parent,
        env=clean_environment(),
    )
    assert run.returncode == 0, run.stderr
    return folder


def events(run: Path, code: int) -> list[tuple[Any, Any]]:
    """The payloads and the texts of all events of a kind."""
    with closing(sqlite3.connect(run / "events.db")) as log:
        rows = log.execute("SELECT data, texts FROM events WHERE code = ? ORDER BY seq", (code,))
        return [(orjson.loads(data), orjson.loads(texts or "null")) for data, texts in rows]


def values(run: Path) -> list[tuple[int, int, float]]:
    """Every score of the run: the prompt, the attempt, the value."""
    with open_log(run, ["scores"]) as connection:
        return connection.execute(
            "SELECT prompt_id, attempt, value FROM scores ORDER BY attempt, prompt_id"
        ).fetchall()


@pytest.mark.slow
def test_the_log_can_be_scored_by_itself(session: Path) -> None:
    """It has each question once, with the references for its answers, and how they are to be scored."""
    questions = events(session, 8)
    assert [data["prompt_id"] for data, _ in questions] == list(range(QUESTIONS))
    data, texts = questions[3]
    assert (data["task"], data["id"], data["tags"]) == ("gsm8k", "3", {"task": "gsm8k"})
    assert texts == {"reference": {"answer": "4"}}
    with closing(sqlite3.connect(session / "events.db")) as log:
        (text,) = log.execute("SELECT settings FROM session").fetchone()
    settings = orjson.loads(text)
    (task,) = settings["accuracy"].pop("tasks")
    assert (task["task"], task["first"], task["count"]) == ("gsm8k", 0, QUESTIONS)
    assert settings["accuracy"] == {
        "scorers": {"gsm8k": "official"},
        "evals": [],
        "repeats": 2,
        "pass_threshold": 1.0,
        "judge": None,
    }
    assert (settings["requests"], settings["temperature"]) == (2 * QUESTIONS, 0.0)


def test_each_answer_is_scored(session: Path) -> None:
    """Each question has two attempts, of which the first is as the endpoint's script says."""
    first = [(number, 1, float(right)) for number, right in enumerate(RIGHT)]
    assert values(session) == first + [(number, 2, 1.0) for number in range(QUESTIONS)]


def test_the_report_has_both(session: Path) -> None:
    """The accuracy, over what was issued, and how fast the answers came."""
    report = orjson.loads((session / "report.json").read_bytes())
    (score,) = report["accuracy"]
    assert (score["name"], score["issued"]) == ("gsm8k", 2 * QUESTIONS)
    assert score["value"] == pytest.approx(10 / 12, abs=1e-6)
    assert report["counts"]["completed"] == 2 * QUESTIONS


def test_interrupted_scoring_is_resumed(session: Path, loadgen: Loadgen, tmp_path: Path) -> None:
    """A resume of a run with all answers and not all scores makes the scores, and issues no request."""
    run = Path(shutil.copytree(session, tmp_path / "run"))
    with closing(sqlite3.connect(run / "events.db")) as log, log:
        log.execute("DELETE FROM events WHERE code = 10")
        some = "SELECT seq FROM events WHERE code = 30 ORDER BY seq LIMIT 7"
        log.execute(f"DELETE FROM events WHERE seq IN ({some})")  # noqa: S608 (a constant)
    assert len(events(run, 30)) == 5
    again = loadgen("resume", "run", "-q")
    assert again.returncode == 0, again.stderr
    assert values(run) == values(session)
    assert len(events(run, 20)) == 2 * QUESTIONS
    assert [data["reason"] for data, _ in events(run, 10)] == ["completed"]
    with pytest.raises(UsageError, match="is complete: there is nothing to resume"):
        resumable(run)


@pytest.mark.slow
def test_a_session_that_was_killed_is_finished(
    session: Path, data: Path, loadgen: Loadgen, tmp_path: Path
) -> None:
    """What the log lacks of the questions is written, and the rest is asked and scored, once each."""
    run = Path(shutil.copytree(session, tmp_path / "run"))
    with closing(sqlite3.connect(run / "events.db")) as log, log:
        log.execute("DELETE FROM sittings WHERE sitting > 1")
        log.execute("DELETE FROM heartbeats WHERE sitting > 1")
        log.execute("DELETE FROM events WHERE code IN (3, 4, 5, 9, 10, 30)")
        log.execute("DELETE FROM events WHERE code = 8 AND json_extract(data, '$.prompt_id') >= 4")
        issued = "SELECT sample_uuid FROM events WHERE code = 20 ORDER BY seq LIMIT -1 OFFSET"
        log.execute(f"DELETE FROM events WHERE sample_uuid IN ({issued} 4)")  # noqa: S608 (a constant)
        log.execute(f"DELETE FROM events WHERE code > 20 AND sample_uuid IN ({issued} 3)")  # noqa: S608 (as above)
    moved = Path(shutil.copytree(data, tmp_path / "moved"))
    again = loadgen("resume", "run", "-q", "--data", moved)
    assert again.returncode == 0, again.stderr
    assert [data["prompt_id"] for data, _ in events(run, 8)] == list(range(QUESTIONS))
    scored = values(run)
    assert [(prompt, attempt) for prompt, attempt, _ in scored] == [
        (number, attempt) for attempt in (1, 2) for number in range(QUESTIONS)
    ]
