"""The use cases with data of our own: the data is sound, right answers pass, and near ones fail by name."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from operator import add, mul, sub, truediv
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.grading.json_answer import json_in, plain
from loadgen.plugins.evals.tasks import browser_assistant, coding_assistant, daily_digest
from loadgen.plugins.evals.tasks.benchmarks import DATA
from loadgen.plugins.evals.tasks.daily_digest import NOTHING
from workloads.answer import Answer, EpisodeOutcome
from workloads.episode_program import EpisodeSample
from workloads.errors import ColumnError
from workloads.question_loading import load
from workloads.score import Status
from workloads.sources import read_rows, read_stored
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from workloads.question import Question
    from workloads.score import Score

NAMES = (
    "browser_assistant",
    "coding_assistant",
    "coding_task",
    "daily_digest",
    "document_qa",
    "email_triage",
    "knowledge_base",
    "morning_brief",
    "research_mining",
    "security_scanner",
)
JUDGED = ("browser_assistant", "email_triage", "morning_brief", "research_mining")
CODE = ("coding_assistant", "coding_task")


def asked(name: str) -> Mapping[str, Question]:
    """The questions of a use case by their ids."""
    return {question.id: question for question in load(parse(name)).questions}


def judged(name: str, which: str, text: str) -> Score:
    """The score of an answer to one of its questions."""
    task = parse(name)
    return task.workload.scorers[0].grade(asked(name)[which].reference, Answer(text))


def right(name: str, question: Question) -> str:  # noqa: PLR0911 (one for each use case)
    """A right answer to a question."""
    payload = question.reference
    match name:
        case "email_triage":
            fields = {name: payload[name] for name in ("category", "priority", "needs_reply")}
            return json.dumps({**fields, "draft": "We will." if payload["needs_reply"] else None})
        case "security_scanner":
            return json.dumps(
                [{"cwe": finding["cwe"][-1], "line": finding["lines"][1]} for finding in payload["findings"]]
            )
        case "document_qa":
            return json.dumps(
                {"answer": (payload["answers"] or [None])[-1], "citations": payload["required"]}
            )
        case "knowledge_base":
            return f"Let me see.\n**Answer:** {(payload['answers'] or ['Unknown'])[-1]}."
        case "browser_assistant":
            return (
                f"So it is.\n**Answer:** {payload['answers'][-1]}\nSources: {', '.join(payload['required'])}"
            )
        case "morning_brief":
            parts = {
                "SUMMARY": ["A day like others."],
                "SCHEDULE": [f"{time} [{which}] there" for time, which in payload["schedule"]],
                "CONFLICTS": [f"[{second}] [{first}]" for first, second in payload["conflicts"]],
                "PRIORITIES": [
                    f"{place}. [{which}] do" for place, which in enumerate(payload["priorities"], 1)
                ],
            }
            return "\n\n".join(
                "\n".join([f"## {name}", *(lines or ["none"])]) for name, lines in parts.items()
            )
        case "research_mining":
            fields = {name: payload[name] for name in ("supporting", "opposing", "figure")}
            cited = ", ".join([*payload["supporting"], *payload["opposing"]])
            return json.dumps({**fields, "synthesis": f"This is what is known [{cited}]."})
        case "daily_digest":
            return "\n".join(f"[{item}] do it" for item in payload["expected"]) or "Nothing today."
    raise AssertionError(name)


def answer_with(question: Question, text: str, **judged: str) -> Answer:
    """An answer; of an episode, one in which every page was read."""
    if not isinstance(question.sample, EpisodeSample):
        return Answer(text, judged=judged)
    pages = question.sample.episode.data["pages"]
    read = tuple({"role": "tool", "content": browser_assistant.page_text(page)} for page in pages)
    return Answer(text, judged=judged, episode=EpisodeOutcome("completed", messages=read))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in CODE])
def test_right_answers(name: str) -> None:
    """Every question has one, and no other question's is one everywhere."""
    questions = asked(name)
    grade = parse(name).workload.scorers[0].grade
    for question in questions.values():
        score = grade(question.reference, answer_with(question, right(name, question)))
        assert (score.value, score.status, score.reason) == (1, Status.SCORED, ""), question.id
    fixed = [right(name, asked_question) for asked_question in questions.values()]
    for text in fixed:
        assert (
            sum(
                grade(asked_question.reference, answer_with(asked_question, text)).value or 0
                for asked_question in questions.values()
            )
            < len(questions) / 2
        )


@pytest.mark.parametrize("name", NAMES)
def test_thirty_questions_of_three_levels(name: str) -> None:
    """Ten a level, none twice, scored without a judge; the score of each level is its own figure."""
    workload = parse(name).workload
    questions = asked(name)
    levels = Counter(question.sample.tags["difficulty"] for question in questions.values())
    assert levels == {"easy": 10, "medium": 10, "hard": 10}
    assert workload.source.rows == len(questions) == 30
    assert len({question.sample.prompt for question in questions.values()}) == 30
    assert "difficulty" in workload.groups
    official, *judging = workload.scorers
    assert official.ask is None
    assert [scorer.name for scorer in judging] == ["judged"] * (name in JUDGED)
    for scorer in workload.scorers:
        assert {"easy", "medium", "hard"} <= {headline.name for headline in scorer.headlines}


def test_the_score_of_a_level(figures: Callable[..., dict[str, Any]]) -> None:
    """Here every question but the hard ones is answered rightly."""
    scorer = parse("knowledge_base").workload.scorers[0]
    graded = [
        (
            item,
            scorer.grade(
                item.reference,
                Answer(
                    "Answer: 0.5"
                    if item.sample.tags["difficulty"] == "hard"
                    else right("knowledge_base", item)
                ),
            ),
        )
        for item in asked("knowledge_base").values()
    ]
    payload = figures(scorer, graded)
    assert (payload["accuracy"], payload["easy"], payload["medium"], payload["hard"]) == (2 / 3, 1, 1, 0)


def test_an_unknown_level(tmp_path: Path) -> None:
    """A file of one's own that takes the place of the package's says its levels, too."""
    row = {**rows("knowledge_base.jsonl")[0], "difficulty": "trivial"}
    (tmp_path / "knowledge_base.jsonl").write_text(json.dumps(row))
    with pytest.raises(ColumnError, match="line 1, column 'difficulty': 'trivial', where easy, medium, hard"):
        load(parse("knowledge_base"), tmp_path)


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("document_qa", lambda row: [row["paragraphs"][number - 1] for number in row["required"]]),
        ("knowledge_base", lambda row: [entry["text"] for entry in row["entries"]]),
    ],
)
def test_answers_follow_from_the_texts(name: str, texts: Callable[[Any], list[str]]) -> None:
    """An accepted answer is in the texts that it rests on, or is computed from numbers in them."""
    for row in rows(f"{name}.jsonl"):
        if row["answers"] is None or row["answers"] in (["yes"], ["no"]):
            continue
        text = " ".join(texts(row)).casefold()
        derivation = row.get("derivation")
        if derivation is None:
            assert row["id"] in IN_OTHER_WORDS or any(
                re.search(rf"(?<!\w){re.escape(answer.casefold())}(?!\w)", text) for answer in row["answers"]
            ), row["id"]
            continue
        assert computed(derivation) == float(row["answers"][0]), row["id"]
        for number in re.findall(r"\d+", derivation):
            assert number in text or number in {"2", "6"}, row["id"]
        assert all(
            plain(answer) != plain(old) for answer in row["answers"] for old in row.get("outdated", ())
        )


IN_OTHER_WORDS = frozenset({"d09", "d12", "d30", "k07"})
"""Nothing to pay; two releases, listed; what a range says of a temperature; that one person is enough."""


def computed(expression: str) -> float:
    """The value of an expression of numbers, +, -, * and /."""
    operators = {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: truediv}

    def value(node: ast.AST) -> float:
        if isinstance(node, ast.BinOp):
            return float(operators[type(node.op)](value(node.left), value(node.right)))
        assert isinstance(node, ast.Constant)
        assert isinstance(node.value, int | float)
        return node.value

    return value(ast.parse(expression, mode="eval").body)


def test_the_labels_of_mails_are_those_of_the_instructions() -> None:
    """Every category and priority occurs; what no person waits for is low, and needs no reply."""
    payload = rows("email_triage.jsonl")
    system = next(iter(asked("email_triage").values())).sample.system or ""
    categories = re.findall(r"^  (\w+) {2,}", system, re.MULTILINE)
    assert {row["category"] for row in payload} == set(categories)
    assert {row["priority"] for row in payload} == {"urgent", "normal", "low"}
    for row in payload:
        assert row["needs_reply"] or row["priority"] != "urgent", row["id"]
        assert not (row["needs_reply"] and row["priority"] == "low"), row["id"]
        if row["category"] in {"spam", "newsletter", "notification"}:
            assert (row["priority"], row["needs_reply"]) == ("low", False), row["id"]


def test_findings_are_in_the_code() -> None:
    """Their lines are there and say something; seven pieces are clean, and hard ones are among them."""
    payload = rows("security_scanner.jsonl")
    for row in payload:
        lines = row["code"].rstrip("\n").split("\n")
        for finding in row["findings"]:
            first, last = finding["lines"]
            assert 1 <= first <= last <= len(lines), row["id"]
            assert lines[last - 1].strip(), row["id"]
            assert all(re.fullmatch(r"CWE-\d+", item) for item in finding["cwe"]), row["id"]
    clean = [row["difficulty"] for row in payload if not row["findings"]]
    assert len(clean) == 7
    assert "hard" in clean


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text", ["", "I cannot help with that.", "[]", "{}", "null", "```\n\n```", "\x00" * 9]
)
def test_an_invalid_answer(name: str, text: str) -> None:
    """It scores nothing, and what was wrong has a name; only where nothing is right, [] may be."""
    grade = parse(name).workload.scorers[0].grade
    for question in asked(name).values():
        score = grade(question.reference, Answer(text))
        if not (name == "security_scanner" and text == "[]"):
            assert score.value == 0
            assert score.reason


def test_the_answers_of_the_digest_follow_from_its_rules() -> None:
    """Tasks until today and meetings of today, open ones, by time."""
    for row in rows(daily_digest.WORKLOAD.source.files[0]):
        until = f"{row['today']} 23:59"
        wanted = [
            (item["when"], item["id"])
            for item in row["items"]
            if item["state"] == "open"
            and (
                (item["kind"] == "task" and item["when"] <= until)
                or (item["kind"] == "meeting" and item["when"].startswith(row["today"]))
            )
        ]
        assert [name for _, name in sorted(wanted)] == row["expected"], row["id"]


def rows(name: str) -> list[Any]:
    """The rows of a file of the package."""
    path = DATA / name
    return [row.value for row in read_rows(path, read_stored(path))]


@pytest.mark.slow
@pytest.mark.parametrize("name", CODE)
def test_the_solutions_of_coding_pass(name: str) -> None:
    """Each is right, and without its body it is wrong: the tests can fail."""
    for row in rows(f"{name}.jsonl"):
        task = {"entry_point": row["entry_point"], "tests": row["tests"]}
        text = f"Here it is:\n```python\n{row['solution']}```\nand how to call it:\n```python\nprint(1)\n```"
        assert coding_assistant.grade(task, Answer(text)).value == 1, row["id"]
        empty = f"def {row['entry_point']}(*a, **k): return None\n{row['tests']}"
        with pytest.raises((AssertionError, AttributeError, TypeError)):
            exec(empty, {})  # noqa: S102 (our own data)


def test_typical_mistakes_of_a_coding_task() -> None:
    """Every function has a wrong version that looks right, and no test lets one pass."""
    for row in rows("coding_task.jsonl"):
        assert row["mistakes"], row["id"]
        for number, mistake in enumerate(row["mistakes"]):
            assert fails(f"{mistake}\n{row['tests']}"), f"mistake {number} of {row['id']} passes"


def fails(program: str) -> bool:
    """Whether a program of our own ends with an exception."""
    try:
        exec(program, {})  # noqa: S102 (our own data)
    except Exception:  # noqa: BLE001 (each fails in its own way)
        return True
    return False


@pytest.mark.parametrize(
    ("which", "text", "value", "reason"),
    [
        ("s01", '[{"cwe": "89", "line": 5}]', 1, ""),
        ("s01", '[{"cwe": "CWE-89", "line": 1}]', 0, "CWE-89 in line 4 missed; 1 false or repeated"),
        ("s01", '[{"cwe": "CWE-89", "line": 4}, {"cwe": "CWE-89", "line": 5}]', 2 / 3, "1 false or repeated"),
        ("s08", '[{"cwe": "CWE-798", "line": 3}]', 2 / 3, "CWE-295 in line 6 missed"),
        ("s02", '[{"cwe": "CWE-89", "line": 4}]', 0, "1 false or repeated"),
        ("s01", '[{"cwe": "CWE-89", "line": "4"}]', 0, "CWE-89 in line 4 missed; 1 false or repeated"),
    ],
)
def test_findings_of_a_scanner(which: str, text: str, value: float, reason: str) -> None:
    """F1 of (CWE, line); each weakness counts once, and clean code is kept clean."""
    score = judged("security_scanner", which, text)
    assert score.value == pytest.approx(value)
    assert score.reason == reason


@pytest.mark.parametrize(
    ("which", "message", "reason"),
    [
        ("d01", {"answer": "22 litres", "citations": [1, 2]}, "cites [1, 2]"),
        ("d01", {"answer": "40", "citations": [2]}, "another answer"),
        ("d01", {"answer": "22", "citations": []}, "cites []"),
        ("d01", {"answer": None, "citations": [2]}, "another answer"),
        ("d03", {"answer": "12 euros", "citations": [5]}, "invented; cites [5]"),
        ("d10", {"answer": "4.3", "citations": ["4", "[3]"]}, ""),
        ("d10", {"answer": "4.3", "citations": [4, 99]}, "cites [4, 99]"),
        ("d10", {"answer": "4.3", "citations": True}, "cites True"),
        ("d10", {"answer": "4.3", "citations": ["9" * 5000]}, f"cites ['{'9' * 5000}']"),
    ],
)
def test_citations(which: str, message: Any, reason: str) -> None:
    """All that the answer rests on, and no other; what is not in the document is not answered."""
    score = judged("document_qa", which, json.dumps(message))
    assert (score.value, score.reason) == (float(not reason), reason)


def test_words_are_not_a_digest_of_a_day_without_items() -> None:
    """Neither the selection nor the order of such a day is right by accident."""
    score = judged("daily_digest", "g02", "I do not know.")
    assert (score.value, score.metrics["in_order"], score.metrics["selection_f1"]) == (0, 0, 0)
    assert judged("daily_digest", "g02", NOTHING).metrics["in_order"] == 1


@pytest.mark.parametrize(
    ("which", "text", "reason"),
    [
        ("g01", "[A2] a\n[A1] b\n[A5] c", ""),
        ("g01", "- [A2] a\n- [A1] b\n- [A5] c", ""),
        ("g01", "[A1] a\n[A2] b\n[A5] c", "another order"),
        ("g01", "[A2] a\n[A1] b", "another selection"),
        ("g01", "[A2] a\n[A1] b\n[A5] c\n[A5] c", "another selection"),
        ("g01", "Here it is:\n[A2] a\n[A1] b\n[A5] c", "1 other lines"),
        ("g01", "[A2]\n[A1] b\n[A5] c", "a line without words, or with more than 12"),
        ("g01", "[Z9] a", "another selection; ids that are not in the list: Z9"),
        ("g02", f"{NOTHING}.", ""),
        ("g02", "[B1] a", "another selection"),
        ("g01", NOTHING, "another selection"),
    ],
)
def test_lines_of_a_digest(which: str, text: str, reason: str) -> None:
    """Exactly those that belong there, in order, short, and no other words."""
    score = judged("daily_digest", which, text)
    assert (score.value, score.reason) == (float(not reason), reason)


@pytest.mark.parametrize(
    ("which", "text", "reason"),
    [
        ("k02", "Answer: 5", ""),
        ("k02", "Answer: 3\nNo, it moved.\nanswer: Floor 5.", ""),
        ("k02", "Answer: floor 3", "outdated"),
        ("k02", "It is on floor 5.", "no line with `Answer:`"),
        ("k05", "Answer: 10 euros", "invented"),
        ("k05", "Answer: unknown", ""),
        ("k13", "Answer: 2027-06-30", "outdated"),
        ("k03", "Answer: unknown", "another answer"),
    ],
)
def test_what_a_knowledge_base_says(which: str, text: str, reason: str) -> None:
    """The last line counts; an old truth and an invention have their own names."""
    score = judged("knowledge_base", which, text)
    assert (score.value, score.reason) == (float(not reason), reason)


def test_a_mail_is_sorted_field_by_field() -> None:
    """One wrong field is a wrong mail, and the others keep their figures; "true" is not a truth value."""
    text = {"category": "Billing", "priority": "normal", "needs_reply": "true"}
    score = judged("email_triage", "e01", f"```json\n{json.dumps(text)}\n```")
    assert (score.value, score.reason) == (0, "needs_reply is True, no draft")
    assert score.metrics == {"category": 1, "priority": 1, "needs_reply": 0, "draft": 0}
    low = {"category": "newsletter", "priority": "low", "needs_reply": False, "draft": "Thank you."}
    assert judged("email_triage", "e03", json.dumps(low)).reason == "a draft that is not needed"
    assert judged("email_triage", "e03", json.dumps({**low, "draft": " "})).value == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Sure!\n```json\n{"a": 1}\n```\nDone.', {"a": 1}),
        ('```\n{"a": 0}\n```\n```\n{"a": 1}\n```', {"a": 1}),
        ('I think:\n{"a": [1,\n 2]}', {"a": [1, 2]}),
        ('{"a": 1} and so on', None),
        ("[1]", None),
        ('{"a": 1', None),
        ("[" * 100_000, None),
    ],
)
def test_json_in_an_answer(text: str, expected: Any) -> None:
    """Alone, in the last block that has some, or at the end; a part of it is not one."""
    assert json_in(text, dict) == expected


def test_plain_answers() -> None:
    """Case, spaces, quotes and a last stop do not matter."""
    assert plain("  \u201c22  Litres.\u201d ".replace("\u201c", '"').replace("\u201d", '"')) == "22 litres"
    assert plain(22) == plain("22.") == "22"
    assert plain("1\u00a0pm!") == "1 pm"
