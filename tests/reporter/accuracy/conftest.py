"""Runs of benchmarks to report on: `asks("gsm8k", 2).answers(0).fails(1).scored(1)`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import duckdb
import orjson
import pytest

from recorder import Event, EventType, schema
from recorder.continued_log import reopen
from recorder.session import Session
from reporter import MetricsReporter
from reporter.accuracy.logged_scores import accuracy
from reporter.log.database import OpenLog
from reporter.log.sql_files import sql_file
from reporter.log.tables import SAMPLE_VIEWS
from reporter.report import Window
from reporter.values.task_score import plain
from tests.reporter.conftest import BASE_NS, WALL_NS, Run, ns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reporter import Report

LATER_MS = 60_000.0
"""When answers are scored."""

TABLES = """
    CREATE OR REPLACE TABLE session (settings JSON);
    CREATE OR REPLACE TABLE passes (
        pass BIGINT, task VARCHAR, scorer VARCHAR, version BIGINT, definition VARCHAR, judge VARCHAR,
        ended VARCHAR, options JSON, started_ns BIGINT
    );
    CREATE OR REPLACE TABLE questions (
        prompt_id BIGINT, task VARCHAR, question_id VARCHAR, tags MAP(VARCHAR, VARCHAR)
    );
    CREATE OR REPLACE TABLE asked (
        prompt_id BIGINT, attempt BIGINT, output_tokens BIGINT, issued_ns BIGINT, replaced_ns BIGINT
    );
    CREATE OR REPLACE TABLE scores (
        pass BIGINT, task VARCHAR, scorer VARCHAR, sample_uuid VARCHAR, prompt_id BIGINT, question_id VARCHAR,
        attempt BIGINT, value DOUBLE, status VARCHAR, extracted VARCHAR, reason VARCHAR,
        metrics MAP(VARCHAR, DOUBLE), tags MAP(VARCHAR, VARCHAR), output_tokens BIGINT, input_tokens BIGINT,
        truncated BOOLEAN, refused BOOLEAN
    );
    DROP VIEW IF EXISTS reported_passes;
    """ + "".join(f"CREATE OR REPLACE VIEW {name} AS SELECT NULL;" for name in SAMPLE_VIEWS)
"""The tables and views that scores are computed from, as docs/sql.md has them."""


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One for all runs, each of which makes its own tables: opening it takes longer than that."""
    return duckdb.connect(config={"threads": 1})


@dataclass
class Answered:
    """The outcome of one request."""

    task: str
    prompt_id: int
    error: str | None = None
    tokens: int | None = None
    finish_reason: str = "stop"


@dataclass
class Pass:
    """A scoring pass: the value of each request by its number; None has none, a text is a status."""

    values: tuple[float | str | None, ...]
    scorer: str
    version: int
    ended: str | None
    metrics: Callable[[int], Mapping[str, float]]
    after: int

    def judged(self, number: int) -> tuple[float | None, str, dict[str, float]] | None:
        """The value, the status and the metrics of a request; None where no grader has seen it."""
        value = self.values[number] if number < len(self.values) else None
        if value is None:
            return None
        if isinstance(value, str):
            return None, value, {}
        return float(value), "scored", dict(self.metrics(number))


@dataclass
class Benchmark:
    """A run of benchmarks in the making, and how its answers are scored afterwards."""

    run: Run
    tasks: list[dict[str, Any]] = field(default_factory=list)
    tags: dict[int, dict[str, str]] = field(default_factory=dict)
    requests: list[Answered] = field(default_factory=list)
    passes: list[Pass] = field(default_factory=list)

    def asks(
        self, task: str, questions: int, tags: Callable[[int], Mapping[str, str]] = lambda _: {}, **facts: Any
    ) -> Self:
        """A task with this number of questions."""
        first, name = sum(earlier["count"] for earlier in self.tasks), task.partition(":")[0]
        described = {"task": task, "name": name, "options": {}, "groups": [], **facts}
        self.tasks.append({**described, "first": first, "count": questions})
        self.tags |= {first + number: {**tags(number), "task": name} for number in range(questions)}
        self.run.settings["accuracy"] = {"tasks": self.tasks, "repeats": 1, "pass_threshold": 1.0}
        return self

    def answers(self, prompt_id: int, task: str = "gsm8k", **more: Any) -> Self:
        """An answer to a question, with its number of `tokens` and its `finish_reason`."""
        self.requests.append(Answered(task, prompt_id, **more))
        return self

    def fails(self, prompt_id: int, error: str = "reset", task: str = "gsm8k") -> Self:
        """A request that failed."""
        self.requests.append(Answered(task, prompt_id, error))
        return self

    def scored(
        self,
        *values: float | str | None,
        scorer: str = "official",
        version: int = 1,
        ended: str | None = "completed",
        metrics: Callable[[int], Mapping[str, float]] = lambda _: {},
    ) -> Self:
        """A further scoring pass, of the requests so far."""
        self.passes.append(Pass(values, scorer, version, ended, metrics, len(self.requests)))
        return self

    def scores(self, scoring_pass: int | None = None) -> list[dict[str, Any]]:
        """What the run scored, computed from tables."""
        with _database().cursor() as connection:
            connection.execute(TABLES)
            connection.execute(sql_file("reported_passes"))
            connection.execute("INSERT INTO session VALUES (?)", [orjson.dumps(self.run.settings).decode()])
            self._fill(connection)
            log = OpenLog(
                run=Path(),
                database=connection,
                connection=connection,
                window=Window("requests", None, None, None),
                requests=0,
            )
            return plain(accuracy(log, scoring_pass))

    def score(self, scoring_pass: int | None = None) -> dict[str, Any]:
        """The only score of it."""
        (score,) = self.scores(scoring_pass)
        return score

    def _fill(self, connection: duckdb.DuckDBPyConnection) -> None:
        attempts: dict[int, int] = {}
        for task in self.tasks:
            for prompt_id in range(task["first"], task["first"] + task["count"]):
                values = [prompt_id, task["task"], str(prompt_id), self.tags[prompt_id]]
                connection.execute("INSERT INTO questions VALUES (?, ?, ?, ?)", values)
        for place, scoring_pass in enumerate(self.passes, start=1):
            for task in self.tasks:
                values = [
                    place,
                    task["task"],
                    scoring_pass.scorer,
                    scoring_pass.version,
                    "a book",
                    "",
                    scoring_pass.ended or "cut_off",
                    "{}",
                    2 * scoring_pass.after - 1,
                ]
                connection.execute("INSERT INTO passes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        for number, request in enumerate(self.requests):
            attempt = attempts[request.prompt_id] = attempts.get(request.prompt_id, 0) + 1
            asked = [request.prompt_id, attempt, request.tokens, 2 * number]
            connection.execute("INSERT INTO asked VALUES (?, ?, ?, ?, NULL)", asked)
            for place, scoring_pass in enumerate(self.passes, start=1):
                if number >= scoring_pass.after:
                    continue
                row = self._row(place, scoring_pass, number, request, attempt)
                connection.execute("INSERT INTO scores SELECT " + ", ".join("?" * len(row)), row)

    def _row(self, place: int, scoring_pass: Pass, number: int, request: Answered, attempt: int) -> list[Any]:
        """A row of the view `scores`, as the view makes it of the outcome of a request."""
        value, status, metrics = scoring_pass.judged(number) or (None, "infra_error", {})
        reason = status if scoring_pass.judged(number) else "not scored yet"
        if request.error is not None:
            reason = request.error
            ours = request.error in {"worker_lost", "client_bug"}
            value, status, metrics = (None, "infra_error", {}) if ours else (0.0, "missing", {})
        return [
            *(
                place,
                request.task,
                scoring_pass.scorer,
                f"request {number}",
                request.prompt_id,
                str(request.prompt_id),
            ),
            *(attempt, value, status, None, reason, metrics, self.tags[request.prompt_id]),
            *(
                request.tokens,
                10,
                request.finish_reason == "length",
                request.finish_reason == "content_filter",
            ),
        ]

    def write(self) -> Path:
        """The run's folder, with all of this in its log."""
        self._happen()
        self.run.ends(1000).write()
        for number, scoring_pass in enumerate(self.passes, start=1):
            at_ms = LATER_MS * number
            segment = Session("", ns(at_ms), WALL_NS + ns(at_ms) - BASE_NS, {}, {"kind": "scoring"})
            store = reopen(self.run.folder / "events.db", segment)
            store.append([schema.row(event) for event in self._events(number, scoring_pass, at_ms)])
            store.close()
        return self.run.folder

    def report(self, **options: Any) -> Report:
        """What the reporter makes of its log."""
        with MetricsReporter(self.write()) as reporter:
            return reporter.create_report(**options)

    def _happen(self) -> None:
        for task in self.tasks:
            for number in range(task["count"]):
                prompt_id = task["first"] + number
                question = {
                    "prompt_id": prompt_id,
                    "task": task["task"],
                    "id": f"question {number}",
                    "tags": self.tags[prompt_id],
                }
                self.run.session(EventType.QUESTION, 0, **question)
        for number, request in enumerate(self.requests):
            uuid, issue, prompt_id = f"request {number}", {"about": {"prompt_id": request.prompt_id}}, number
            if request.error is not None:
                self.run.issues(prompt_id, uuid=uuid, about={"prompt_id": request.prompt_id})
                self.run.happens(
                    EventType.ERROR, prompt_id + 1, uuid, error=request.error, message=f"{request.error}!"
                )
                continue
            usage = None if request.tokens is None else (10, request.tokens)
            more = {"usage": usage, "finish_reason": request.finish_reason}
            self.run.answers(prompt_id + 5, prompt_id + 7, at_ms=prompt_id, uuid=uuid, issue=issue, **more)

    def _events(self, number: int, scoring_pass: Pass, at_ms: float) -> list[Event]:
        scorer = {
            "scorer": scoring_pass.scorer,
            "version": scoring_pass.version,
            "definition": "a book",
            "judge": "",
        }
        started = {"pass": number, "scorers": [{"task": task["task"], **scorer} for task in self.tasks]}
        events = [Event(EventType.SCORING_STARTED, ns(at_ms), None, started)]
        for place in range(len(self.requests)):
            if (judged := scoring_pass.judged(place)) is not None and self.requests[place].error is None:
                value, status, metrics = judged
                data = {"pass": number, "scorer": scoring_pass.scorer, "value": value, "status": status}
                data |= {"extracted": None, "reason": status, "metrics": metrics}
                events.append(Event(EventType.SCORED, ns(at_ms + 1), f"request {place}", data))
        if scoring_pass.ended is not None:
            ended = {"pass": number, "reason": scoring_pass.ended}
            events.append(Event(EventType.SCORING_ENDED, ns(at_ms + 2), None, ended))
        return events


@pytest.fixture(autouse=True)
def _remembered(remembered_logs: None) -> None:
    """A log that is reported several times is loaded once, and its figures are computed once."""


@pytest.fixture
def asks(a_run: Callable[..., Run]) -> Callable[..., Benchmark]:
    """Start describing a run of one benchmark: its name, how many questions, and what tells these apart."""

    def new(task: str = "gsm8k", questions: int = 4, **facts: Any) -> Benchmark:
        return Benchmark(a_run()).asks(task, questions, **facts)

    return new


@pytest.fixture
def graded(asks: Callable[..., Benchmark]) -> Callable[..., Benchmark]:
    """A run in which each question was answered once, and got this value."""

    def new(*values: float | str | None, task: str = "gsm8k", **facts: Any) -> Benchmark:
        run = asks(task, len(values), **facts)
        for number in range(len(values)):
            run.answers(number, task=task, tokens=20 + number)
        return run.scored(*values)

    return new
