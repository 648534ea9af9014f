"""The use cases with criteria for a judge: sound data, typical mistakes by name, replies of judges."""

from __future__ import annotations

import json
import re

import pytest

from loadgen.plugins.evals.tasks import browser_assistant, morning_brief, research_mining
from loadgen.plugins.evals.tasks.benchmarks import DATA
from tests.plugins.evals.tasks.scripted import ScriptedAsk, calling, played, saying
from tests.plugins.evals.tasks.test_use_cases import JUDGED, answer_with, asked, computed, right, rows
from workloads.answer import Answer
from workloads.score import Status
from workloads.task import parse


def changed(name: str, which: str, *replacements: tuple[str, str]) -> str:
    """The reason of the score of a right answer with some words replaced."""
    question = asked(name)[which]
    text = right(name, question)
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    score = parse(name).workload.scorers[0].grade(question.reference, answer_with(question, text))
    assert score.value == (not score.reason)
    return score.reason


@pytest.mark.parametrize("name", JUDGED)
def test_criteria_and_their_judge(name: str) -> None:
    """One inquiry with every criterion; right where all are met, unknown where the reply cannot be read."""
    scorer = parse(name).workload.scorers[1]
    assert scorer.ask is not None
    for question in asked(name).values():
        criteria = question.reference["criteria"]
        answer = answer_with(question, right(name, question))
        if not criteria:
            assert name == "email_triage"
            assert scorer.ask(question.reference, answer) == ()
            assert scorer.grade(question.reference, answer).value == 1
            continue
        assert all(criterion.endswith(".") for criterion in criteria)
        (inquiry,) = scorer.ask(question.reference, answer)
        prompt = inquiry.messages[-1]["content"]
        assert all(f"{number}. {text}\n" in prompt for number, text in enumerate(criteria, 1))
        assert scorer.grade(question.reference, answer).status is Status.JUDGE_PENDING
        all_met = {str(number): True for number in range(1, len(criteria) + 1)}
        for reply, value, reason in (
            (all_met, 1.0, ""),
            ({**all_met, "1": False}, 0.0, f"not met: {criteria[0]}"),
        ):
            judged = answer_with(question, right(name, question), criteria=json.dumps(reply))
            score = scorer.grade(question.reference, judged)
            assert (score.value, score.reason) == (value, reason)
            assert score.metrics["checked"] == 1
        for reply in (json.dumps({**all_met, "1": "yes"}), "All criteria are met.", "{}"):
            unread = scorer.grade(question.reference, answer_with(question, "", criteria=reply))
            assert unread.status is Status.UNPARSED
            unread = scorer.grade(
                question.reference, answer_with(question, right(name, question), criteria=reply)
            )
            assert (unread.status, unread.details["judge_reply"]) == (Status.INFRA_ERROR, reply)


def test_a_judge_sees_only_the_draft() -> None:
    """The labels of a mail are not shown to the judge; a wrong one makes the answer wrong all the same."""
    scorer = parse("email_triage").workload.scorers[1]
    assert scorer.ask is not None
    question = asked("email_triage")["e01"]
    fields = {
        "category": "legal",
        "priority": "normal",
        "needs_reply": True,
        "draft": "We refund one charge.",
    }
    (inquiry,) = scorer.ask(question.reference, Answer(json.dumps(fields)))
    assert "The answer:\nWe refund one charge.\n" in inquiry.messages[0]["content"]
    met = json.dumps({str(number): True for number in range(1, 9)})
    score = scorer.grade(question.reference, Answer(json.dumps(fields), judged={"criteria": met}))
    assert (score.value, score.reason, score.metrics["criteria_met"]) == (0, "category is billing", 1)


def test_pages_have_the_answers() -> None:
    """Required pages have the answer, or numbers that it follows from, and the question finds them."""
    follows = {"w07", "w12", "w14", "w18", "w21", "w22", "w23", "w24", "w25", "w27", "w28", "w29", "w30"}
    for row in rows("browser_assistant.jsonl"):
        by_url = {page["url"]: page for page in row["pages"]}
        assert set(row["required"]) <= set(by_url), row["id"]
        assert not set(row["required"]) & set(row["allowed"])
        text = " ".join(by_url[url]["text"] for url in row["required"])
        assert row["id"] in follows or any(answer in text for answer in row["answers"]), row["id"]
        hits = browser_assistant.results_of(row["pages"], row["question"])
        assert all(url in hits for url in row["required"]), row["id"]
        others = set(by_url) - {*row["required"], *row["allowed"]}
        assert others, row["id"]
        stranger = Answer(right("browser_assistant", asked("browser_assistant")[row["id"]]))
        score = browser_assistant.grade(asked("browser_assistant")[row["id"]].reference, stranger)
        assert score.reason == "cites a page that was not opened", row["id"]


@pytest.mark.parametrize(
    ("which", "replacements", "reason"),
    [
        ("w03", [("7.2", "6.80")], "another answer"),
        ("w11", [("48 310", "52,000")], "another answer"),
        (
            "w11",
            [("stat.osthaven.example/population", "travelblog.example/osthaven")],
            "cites https://travelblog",
        ),
        ("w12", [("changes", "changes, https://docs.quill.example/install")], ""),
        (
            "w12",
            [("changes", "changes, https://forum.example/quill-39")],
            "cites https://docs.quill.example/changes, ",
        ),
        ("w21", [(", https://zoo.lorne.example/season", "")], "cites https://zoo.lorne.example/tickets"),
        ("w24", [("57", "56")], "another answer"),
        ("w01", [("https://library.arnau.example/hours", "the library")], "cites nothing"),
    ],
)
def test_mistakes_of_a_browser_assistant(
    which: str, replacements: list[tuple[str, str]], reason: str
) -> None:
    """Old figures, weak sources, missing ones and further ones."""
    mistake = changed("browser_assistant", which, *replacements)
    assert mistake.startswith(reason)
    assert bool(mistake) is bool(reason)


def test_a_browser_finds_and_opens_pages() -> None:
    """The model gets results of its searches and pages by their URLs; of a wrong one, an error."""
    question = asked("browser_assistant")["w15"]
    url = "https://safety.merol.example/sheet"
    ask = ScriptedAsk(
        [
            calling(("search", {"query": "boiling point of Merol"})),
            calling(("open_page", {"url": f"{url}/"}), ("open_page", {"url": "https://else.example"})),
            saying(f"It boils at 83.\nAnswer: 83 °C\nSources: {url}"),
        ]
    )
    answer = played(question, ask)
    assert browser_assistant.grade(question.reference, answer).value == 1
    results, page, wrong = [tool.result or "" for tool in ask.tools]
    assert results.startswith(url)
    assert "Boiling point 83 °C at 1013 hPa" in page
    assert wrong.startswith("Error: LookupError: no page https://else.example")
    pages = rows("browser_assistant.jsonl")[0]["pages"]
    assert browser_assistant.results_of(pages, "zebra").startswith("No page fits")


def test_figures_follow_from_the_excerpts() -> None:
    """The numbers of a derivation are in the excerpts, and some excerpt is not to be listed."""
    for row in rows("research_mining.jsonl"):
        assert round(computed(row["derivation"]), row["digits"]) == row["figure"], row["id"]
        text = " ".join([*row["sources"], row["asked"]]).replace(",", "")
        for number in set(re.findall(r"\d+(?:\.\d+)?", row["derivation"])) - {"2", "3", "100"}:
            assert number in text, (row["id"], number)
        listed = {*row["supporting"], *row["opposing"]}
        names = {f"S{number}" for number in range(1, len(row["sources"]) + 1)}
        assert listed < names, row["id"]
        assert not set(row["supporting"]) & set(row["opposing"])


@pytest.mark.parametrize(
    ("which", "replacements", "reason"),
    [
        (
            "r21",
            [('"S2", "S4"', '"S1", "S2", "S4"'), ("[S2, S4]", "[S1, S2, S4]")],
            "supporting none, opposing S2, S4",
        ),
        ("r21", [("2220", "2920")], "the figure is 2220"),
        ("r12", [("13.0", "15")], "the figure is 13.0"),
        ("r22", [("1.3", "1.31")], "the figure is 1.3"),
        ("r22", [("1.3", "1.304")], ""),
        ("r01", [("[S1, S2]", "[S1]")], "cites S1"),
        ("r01", [("[S1, S2]", "[S1] and [S2], while [S3] likes it")], "cites S1, S2, S3"),
        ("r01", [('"S1", "S2"', '"[S1]", "S2"')], ""),
        ("r01", [("This is what", "word " * 150 + "is what")], "156 words, where 150 are allowed"),
        (
            "r02",
            [('["S1"]', '["S3"]'), ('["S3"], "figure"', '["S1"], "figure"')],
            "supporting S1, opposing S3",
        ),
    ],
)
def test_mistakes_of_research(which: str, replacements: list[tuple[str, str]], reason: str) -> None:
    """Retracted and doubled studies, unweighted means, missing citations."""
    assert changed("research_mining", which, *replacements) == reason


def test_times_and_deadlines_of_briefs() -> None:
    """What mails change is of the day's items; hard days have such mails, and each change matters."""
    for row in rows("morning_brief.jsonl"):
        by_id = {item["id"]: item for part in ("events", "tasks", "mails") for item in row[part]}
        truth = row["truth"]
        for part, letter in (("events", "C"), ("tasks", "T"), ("mails", "M")):
            assert all(name in by_id and name.startswith(letter) for name in truth[part]), row["id"]
        changes = truth["events"] or truth["tasks"]
        assert (row["difficulty"] == "hard") >= bool(changes), row["id"]
        unread = morning_brief.expected({**row, "truth": {"events": {}, "tasks": {}, "mails": {}}})
        assert (unread != morning_brief.expected(row)) is any(truth.values()), row["id"]
        for event in row["events"]:
            assert re.fullmatch(r"\d\d:\d\d", event["start"]), row["id"]
            assert event["start"] < event["end"], row["id"]


@pytest.mark.parametrize(
    ("which", "replacements", "reason"),
    [
        ("b21", [("14:30 [C2] there", "")], "schedule: 09:00 C1, 14:00 C3, 14:30 C2"),
        ("b21", [("[C2] [C3]", "none")], "conflicts: C3 C2"),
        (
            "b21",
            [("14:00 [C3] there\n14:30 [C2]", "14:30 [C2] there\n14:00 [C3]")],
            "schedule: 09:00 C1, 14:00 C3, 14:30 C2",
        ),
        ("b27", [("10:00 [C2] there\n10:00 [C1]", "10:00 [C1] there\n10:00 [C2]")], ""),
        ("b10", [("2. [T2] do\n3. [T3]", "2. [T3] do\n3. [T2]")], "priorities: T1, T2, T3"),
        ("b02", [("08:30", "8:30")], ""),
        ("b02", [("1. [T1] do", "1. [T1] do\n2. [T2] do")], "priorities: T1"),
        ("b02", [("[T1] do", "T1 do")], "priorities: T1"),
        ("b02", [("A day like others.", "word " * 61)], "a summary of 61 words"),
        ("b03", [("## SUMMARY", "**SUMMARY**"), ("## SCHEDULE", "SCHEDULE:")], ""),
        ("b02", [("## CONFLICTS\nnone", "## CONFLICTS\n")], "conflicts: none"),
        (
            "b02",
            [("## CONFLICTS", "Overlaps")],
            "the headings SUMMARY, SCHEDULE, CONFLICTS, PRIORITIES are not there in this order",
        ),
    ],
)
def test_mistakes_of_a_brief(which: str, replacements: list[tuple[str, str]], reason: str) -> None:
    """Changes that were not taken over, overlaps, order and form."""
    assert changed("morning_brief", which, *replacements) == reason


def test_the_names_of_the_data() -> None:
    """Every use case's file is one of the package, and no id stands twice."""
    for name in (*JUDGED, "coding_task"):
        assert (DATA / f"{name}.jsonl").is_file()
        ids = [row["id"] for row in rows(f"{name}.jsonl")]
        assert len(set(ids)) == len(ids) == 30
    assert research_mining.MOST_WORDS == 150
