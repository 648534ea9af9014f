"""Runs of benchmarks to report on: `asks("gsm8k", 2).answers(0).fails(1).scored(1)`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import duckdb
import orjson
import pytest

from recorder import Event, EventType, schema
from recorder.session import Session
from recorder.store import Store
from reporter import MetricsReporter
from reporter.accuracy.scores import accuracy
from reporter.accuracy.task_score import plain
from reporter.log.database import OpenLog
from reporter.report import Window
from tests.reporter.conftest import BASE_NS, WALL_NS, Run, ns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reporter import Report

LATER_MS = 60_000.0
"""When answers are scored."""

TABLES = """
    CREATE TABLE session (settings JSON);
    CREATE TABLE passes (
        pass BIGINT, task VARCHAR, scorer VARCHAR, version BIGINT, definition VARCHAR, judge VARCHAR,
        ended VARCHAR, options JSON, started_ns BIGINT
    );
    CREATE TABLE questions (prompt_id BIGINT, task VARCHAR, question_id VARCHAR, tags MAP(VARCHAR, VARCHAR));
    CREATE TABLE asked (
        prompt_id BIGINT, attempt BIGINT, output_tokens BIGINT, issued_ns BIGINT, replaced_ns BIGINT
    );
    CREATE TABLE scores (
        pass BIGINT, task VARCHAR, scorer VARCHAR, sample_uuid VARCHAR, prompt_id BIGINT, question_id VARCHAR,
        attempt BIGINT, value DOUBLE, status VARCHAR, extracted VARCHAR, reason VARCHAR,
        metrics MAP(VARCHAR, DOUBLE), tags MAP(VARCHAR, VARCHAR), output_tokens BIGINT, input_tokens BIGINT,
        truncated BOOLEAN, refused BOOLEAN
    );"""
"""The tables and views that scores are computed from, as docs/sql.md has them."""


@dataclass
class Answered:
    """What became of one request."""

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
        """So many questions of a task."""
        first, name = sum(one["count"] for one in self.tasks), task.partition(":")[0]
        told = {"task": task, "name": name, "options": {}, "groups": [], **facts}
        self.tasks.append({**told, "first": first, "count": questions})
        self.tags |= {first + number: {**tags(number), "task": name} for number in range(questions)}
        self.run.settings["accuracy"] = {"tasks": self.tasks, "repeats": 1, "pass_threshold": 1.0}
        return self

    def answers(self, prompt_id: int, task: str = "gsm8k", **more: Any) -> Self:
        """An answer to a question, with so many `tokens`, and a `finish_reason`."""
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
        with duckdb.connect() as connection:
            connection.execute(TABLES)
            connection.execute("INSERT INTO session VALUES (?)", [orjson.dumps(self.run.settings).decode()])
            self._fill(connection)
            log = OpenLog(
                run=Path(),
                database=connection,
                connection=connection,
                window=Window("requests", None, None, None),
            )
            return plain(accuracy(log, scoring_pass))

    def score(self, scoring_pass: int | None = None) -> dict[str, Any]:
        """The only score of it."""
        (found,) = self.scores(scoring_pass)
        return found

    def _fill(self, connection: duckdb.DuckDBPyConnection) -> None:
        attempts: dict[int, int] = {}
        for task in self.tasks:
            for prompt_id in range(task["first"], task["first"] + task["count"]):
                told = [prompt_id, task["task"], str(prompt_id), self.tags[prompt_id]]
                connection.execute("INSERT INTO questions VALUES (?, ?, ?, ?)", told)
        for place, one in enumerate(self.passes, start=1):
            for task in self.tasks:
                told = [
                    place,
                    task["task"],
                    one.scorer,
                    one.version,
                    "a book",
                    "",
                    one.ended or "cut_off",
                    "{}",
                    2 * one.after - 1,
                ]
                connection.execute("INSERT INTO passes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", told)
        for number, request in enumerate(self.requests):
            attempt = attempts[request.prompt_id] = attempts.get(request.prompt_id, 0) + 1
            asked = [request.prompt_id, attempt, request.tokens, 2 * number]
            connection.execute("INSERT INTO asked VALUES (?, ?, ?, ?, NULL)", asked)
            for place, one in enumerate(self.passes, start=1):
                if number >= one.after:
                    continue
                row = self._row(place, one, number, request, attempt)
                connection.execute("INSERT INTO scores SELECT " + ", ".join("?" * len(row)), row)

    def _row(self, place: int, one: Pass, number: int, request: Answered, attempt: int) -> list[Any]:
        """A row of the view `scores`, as it makes it of what became of a request."""
        value, status, metrics = one.judged(number) or (None, "infra_error", {})
        reason = status if one.judged(number) else "not scored yet"
        if request.error is not None:
            reason = request.error
            ours = request.error in {"worker_lost", "client_bug"}
            value, status, metrics = (None, "infra_error", {}) if ours else (0.0, "missing", {})
        return [
            *(
                place,
                request.task,
                one.scorer,
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
        for number, one in enumerate(self.passes, start=1):
            at = LATER_MS * number
            segment = Session("", ns(at), WALL_NS + ns(at) - BASE_NS, {}, {"kind": "scoring"})
            store = Store.reopen(self.run.folder / "events.db", segment)
            store.append([schema.row(event) for event in self._events(number, one, at)])
            store.close()
        return self.run.folder

    def report(self, **options: Any) -> Report:
        """What the reporter makes of its log."""
        with MetricsReporter(self.write()) as reporter:
            return reporter.create_report(**options)

    def _happen(self) -> None:
        for task in self.tasks:
            for number in range(task["count"]):
                at = task["first"] + number
                told = {
                    "prompt_id": at,
                    "task": task["task"],
                    "id": f"question {number}",
                    "tags": self.tags[at],
                }
                self.run.session(EventType.QUESTION, 0, **told)
        for number, one in enumerate(self.requests):
            uuid, issue, at = f"request {number}", {"about": {"prompt_id": one.prompt_id}}, number
            if one.error is not None:
                self.run.issues(at, uuid=uuid, about={"prompt_id": one.prompt_id})
                self.run.happens(EventType.ERROR, at + 1, uuid, error=one.error, message=f"{one.error}!")
                continue
            usage = None if one.tokens is None else (10, one.tokens)
            more = {"usage": usage, "finish_reason": one.finish_reason}
            self.run.answers(at + 5, at + 7, at=at, uuid=uuid, issue=issue, **more)

    def _events(self, number: int, one: Pass, at: float) -> list[Event]:
        told = {"scorer": one.scorer, "version": one.version, "definition": "a book", "judge": ""}
        started = {"pass": number, "scorers": [{"task": task["task"], **told} for task in self.tasks]}
        events = [Event(EventType.SCORING_STARTED, ns(at), None, started)]
        for place in range(len(self.requests)):
            if (judged := one.judged(place)) is not None and self.requests[place].error is None:
                value, status, metrics = judged
                data = {"pass": number, "scorer": one.scorer, "value": value, "status": status}
                data |= {"extracted": None, "reason": status, "metrics": metrics}
                events.append(Event(EventType.SCORED, ns(at + 1), f"request {place}", data))
        if one.ended is not None:
            ended = {"pass": number, "reason": one.ended}
            events.append(Event(EventType.SCORING_ENDED, ns(at + 2), None, ended))
        return events


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
