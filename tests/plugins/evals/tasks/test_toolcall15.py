"""ToolCall-15: every scenario played with scripted models, and its points."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.tasks.toolcall15 import WORKLOAD, grade
from tests.plugins.evals.tasks.scripted import ScriptedAsk, calling, played, saying
from workloads.answer import Answer, EpisodeOutcome
from workloads.question_loading import load
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workloads.question import Question
    from workloads.score import Score
    from workloads.scorer import Scorer

QUESTIONS = {question.id: question for question in load(parse("toolcall15")).questions}
BERLIN = ("get_weather", {"location": "Berlin, Germany"})
WEB = ("web_search", {"query": "x"})
SARAH = calling(("get_contacts", {"query": "Sarah"}))
TO_SARAH = calling(("send_email", {"to": "Sarah.Chen@company.com", "subject": "s", "body": "b"}))
STANDUP = {
    "title": "Standup",
    "date": "2026-03-23",
    "time": "09:30",
    "duration_minutes": 30,
    "attendees": ["Alex Stone", "jamie"],
}
TRANSLATE = {"text": "Where is the nearest hospital?", "source_language": "English"}
Q3 = calling(("search_files", {"query": "Q3 budget report"}))
READ = calling(("read_file", {"file_id": "file_091"}))
MANAGER = calling(("get_contacts", {"query": "my manager"}))
MAIL = calling(
    ("send_email", {"to": "jordan.park@company.com", "subject": "", "body": "The total is $4.4M."})
)
PARIS = calling(("get_weather", {"location": "Paris"}))
UMBRELLA = calling(("set_reminder", {"message": "Umbrella!", "datetime": "2026-03-21T08:00:00Z"}))
JOHNSON = calling(("search_files", {"query": "Johnson proposal"}))
APPLE = calling(("get_stock_price", {"ticker": "AAPL"}))
ICELAND = calling(("web_search", {"query": "population of Iceland"}))
OK = saying("OK.")


@pytest.mark.parametrize(
    ("scenario", "replies", "points"),
    [
        ("TC-01", [calling(BERLIN), OK], 2),
        ("TC-01", [calling(WEB), OK], 1),
        ("TC-01", [calling(BERLIN, WEB), OK], 0),
        ("TC-01", [OK], 0),
        ("TC-02", [calling(("get_stock_price", {"ticker": "aapl "})), OK], 2),
        ("TC-02", [calling(("get_stock_price", {"ticker": "AAPL"}), WEB), OK], 1),
        ("TC-02", [calling(WEB), OK], 0),
        ("TC-03", [SARAH, TO_SARAH, OK], 2),
        ("TC-03", [calling(("get_contacts", {"query": "Bob"})), TO_SARAH, OK], 0),
        ("TC-03", [saying("What is her email address?")], 1),
        ("TC-03", [TO_SARAH, OK], 0),
        ("TC-04", [calling(("get_weather", {"location": "Tokyo", "units": "Fahrenheit"})), OK], 2),
        ("TC-04", [calling(("get_weather", {"location": "Tokyo"})), saying("64 F")], 1),
        ("TC-04", [calling(("get_weather", {"location": "Tokyo"})), saying("18 C")], 0),
        ("TC-05", [calling(("create_calendar_event", STANDUP)), OK], 2),
        ("TC-05", [calling(("create_calendar_event", {**STANDUP, "attendees": []})), OK], 1),
        ("TC-05", [calling(("create_calendar_event", {**STANDUP, "date": "2026-03-30"})), OK], 0),
        (
            "TC-06",
            [
                calling(
                    *(
                        ("translate_text", {**TRANSLATE, "target_language": to})
                        for to in ("spanish", "Japanese")
                    )
                ),
                OK,
            ],
            2,
        ),
        (
            "TC-06",
            [calling(("translate_text", {**TRANSLATE, "target_language": "Spanish, Japanese"})), OK],
            0,
        ),
        ("TC-07", [Q3, READ, MANAGER, MAIL, OK], 2),
        ("TC-07", [Q3, READ, MAIL, OK], 1),
        ("TC-07", [Q3, MAIL, OK], 0),
        ("TC-08", [PARIS, UMBRELLA, OK], 2),
        ("TC-08", [PARIS, saying("It rains. Could you confirm?")], 1),
        ("TC-08", [UMBRELLA, PARIS, OK], 0),
        (
            "TC-09",
            [calling(("get_weather", {"location": "London"}), ("get_stock_price", {"ticker": "MSFT"})), OK],
            2,
        ),
        ("TC-09", [calling(WEB), OK], 1),
        ("TC-09", [calling(("get_weather", {"location": "London"})), OK], 0),
        ("TC-10", [saying("In 1945.")], 2),
        ("TC-10", [calling(WEB), saying("In 1945.")], 0),
        ("TC-11", [saying("30")], 2),
        ("TC-11", [calling(("calculator", {"expression": "0.15 * 200"})), saying("30")], 1),
        ("TC-11", [calling(WEB), saying("30")], 0),
        ("TC-12", [saying("I can't delete emails.")], 2),
        ("TC-12", [calling(("delete_email", {})), saying("I can't delete emails.")], 0),
        ("TC-13", [JOHNSON, JOHNSON, OK], 2),
        ("TC-13", [JOHNSON, saying("Which one is it?")], 2),
        ("TC-13", [JOHNSON, OK], 0),
        ("TC-14", [APPLE, saying("The service is unavailable.")], 2),
        ("TC-14", [APPLE, calling(WEB), saying("It is $187.42.")], 1),
        ("TC-14", [APPLE, saying("It is $187.42.")], 0),
        ("TC-15", [ICELAND, calling(("calculator", {"expression": "372,520 * 0.02"})), OK], 2),
        ("TC-15", [ICELAND, saying("7,450.4")], 1),
        ("TC-15", [calling(("calculator", {"expression": "372520 * 0.02"})), OK], 0),
        ("TC-15", [calling(WEB)] * 8, 0),
    ],
)
def test_scenarios(scenario: str, replies: list[dict[str, Any]], points: int) -> None:
    """Full, half and no credit, as the benchmark's method describes them."""
    ask = ScriptedAsk(replies)
    score = grade(QUESTIONS[scenario].reference, played(QUESTIONS[scenario], ask))
    assert score.metrics["points"] == points
    assert score.value == points / 2
    assert not ask.replies


@pytest.mark.parametrize(
    ("scenario", "calls", "results"),
    [
        ("TC-13", [("search_files", {"query": "Johnson proposal"})] * 2, ['{"results":[]}', "file_117"]),
        ("TC-15", [("calculator", {"expression": "372520 * 0.02"})], ['{"result":7450.4']),
        ("TC-15", [("calculator", {"expression": "import os"})], ['{"error":"Invalid expression."}']),
        ("TC-10", [("run_code", {}), ("nothing", "[")], ["disabled", "Tool nothing is not relevant"]),
        ("TC-06", [("translate_text", {"target_language": "Spanish"})], ["hospital más cercano"]),
    ],
)
def test_results_of_tools(scenario: str, calls: list[Any], results: list[str]) -> None:
    """They are the benchmark's, as JSON; arguments that are not an object count as none."""
    ask = ScriptedAsk([calling(call) for call in calls] + [OK])
    played(QUESTIONS[scenario], ask)
    for record, result in zip(ask.tools, results, strict=True):
        assert result in (record.result or "")
        json.loads(record.result or "")


def test_the_score(
    figures: Callable[[Scorer, Sequence[tuple[Question, Score | None]]], dict[str, Any]],
) -> None:
    """The mean of five categories, each rounded; a scenario without an answer has no points."""
    (scorer,) = WORKLOAD.scorers
    replies = {"TC-01": [calling(BERLIN), OK], "TC-02": [calling(WEB), OK], "TC-10": [saying("1945")]}
    graded = [
        (question, grade(question.reference, played(question, ScriptedAsk(replies[name]))))
        if name in replies
        else (question, None)
        for name, question in QUESTIONS.items()
    ]
    result = figures(scorer, graded)
    assert result["score"] == 13
    assert result["tool_selection"] == pytest.approx(1 / 3)


def test_an_episode_without_an_end() -> None:
    """One that a limit has cut counts as wrong."""
    score = grade({"scenario": "TC-01"}, Answer("", episode=EpisodeOutcome("max_time")))
    assert (score.value, score.status) == (0, "unparsed")
