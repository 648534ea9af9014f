"""A file of the user's own is a benchmark: what its columns are called, and what is wrong with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from workloads.answer import Answer
from workloads.errors import TaskError, WorkloadError
from workloads.question_loading import load
from workloads.score import Status
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from workloads.question import Question

ROW = {"user_prompt": "1 + 1?", "ground_truth": "2"}


def write(path: Path, rows: Sequence[Mapping[str, Any] | str]) -> str:
    """Write rows as JSON Lines; return the task."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def asked(
    text: str, columns: Mapping[str, str] | None = None, tags: Sequence[str] = ()
) -> Sequence[Question]:
    """The questions of a file."""
    return load(parse(text, columns or {}, tags)).questions


def test_columns_in_any_case(tmp_path: Path) -> None:
    """What is not a prompt, the truth or the id goes to the reference; the row's number is its id."""
    row = {
        "User_Prompt": "1 + 1?",
        "SYSTEM_PROMPT": "Be brief.",
        "Ground_Truth": "2",
        "Level": 3,
        "note": None,
    }
    (question,) = asked(write(tmp_path / "Sums.v2.jsonl", [row]))
    assert question.id == "0"
    assert (question.sample.prompt, question.sample.system) == ("1 + 1?", "Be brief.")
    assert question.reference == {"id": "0", "ground_truth": "2", "more": {"Level": 3, "note": None}}


def test_mapped_columns(tmp_path: Path) -> None:
    """Other names are mapped; an exact name goes before one in another case; tags tell scores apart."""
    row = {"question": "q", "user_prompt": "no", "answer": [1, 2], "Answer": "no", "id": "r7", "kind": "x"}
    mapped = {"user_prompt": "question", "ground_truth": "answer"}
    task = parse(write(tmp_path / "faq.jsonl", [row]), mapped, ("kind",))
    assert (task.workload.name, task.workload.groups) == ("faq", ("kind",))
    assert task.options["ground_truth"] == "answer"
    (question,) = load(task).questions
    assert (question.id, question.sample.prompt, question.sample.tags) == ("r7", "q", {"kind": "x"})
    assert question.reference["ground_truth"] == [1, 2]
    assert question.reference["more"] == {"user_prompt": "no", "Answer": "no", "kind": "x"}


def test_a_row_without_truth(tmp_path: Path) -> None:
    """Where it was said that there is none, the row is asked, and needs a function to be judged."""
    text = write(tmp_path / "open.jsonl", [{"user_prompt": "Sing!"}])
    (question,) = asked(text, {"ground_truth": ""})
    score = parse(text).workload.scorers[0].grade(question.reference, Answer("La"))
    assert (score.value, score.status) == (None, Status.INFRA_ERROR)
    assert "--eval" in score.reason


def test_no_other_column_is_sent(tmp_path: Path) -> None:
    """A column that prompts of files take for a system prompt is only one more column here."""
    (question,) = asked(write(tmp_path / "a.jsonl", [{**ROW, "system": "Linux"}]))
    assert question.sample.system is None
    assert question.reference["more"] == {"system": "Linux"}


def test_conversations_and_tools(tmp_path: Path) -> None:
    """A prompt may be a list of messages, with the tools of its row."""
    tools = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
    chat = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    row = {"user_prompt": [*chat, {"role": "user", "content": "c"}], "ground_truth": "d", "tools": tools}
    (question,) = asked(write(tmp_path / "a.jsonl", [row]))
    assert [message["content"] for message in question.sample.messages()] == ["a", "b", "c"]
    assert list(question.sample.tools) == tools
    (question,) = asked(write(tmp_path / "b.jsonl", [{**ROW, "Tools": tools}]))
    assert list(question.sample.tools) == tools


def test_every_format(tmp_path: Path) -> None:
    """JSON, CSV, tab-separated and Parquet give the same questions as JSON Lines."""
    expected = asked(write(tmp_path / "a.jsonl", [ROW]))
    (tmp_path / "a.json").write_text(json.dumps([ROW]), encoding="utf-8")
    (tmp_path / "a.csv").write_text("user_prompt,ground_truth\n1 + 1?,2\n", encoding="utf-8")
    (tmp_path / "a.tsv").write_text("user_prompt\tground_truth\n1 + 1?\t2\n", encoding="utf-8")
    parquet.write_table(pa.Table.from_pylist([ROW]), tmp_path / "a.parquet")
    for suffix in ("json", "csv", "tsv", "parquet"):
        assert asked(str(tmp_path / f"a.{suffix}")) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("faq.jsonl", "faq"),
        ("./data/My FAQ.v2.csv.gz", "my_faq_v2"),
        ("gsm8k.jsonl", "own_gsm8k"),
        ("é.json", "own"),
        ("folder/without.suffix", "without"),
    ],
)
def test_names(text: str, name: str) -> None:
    """Rules and reports call a file by its name, and never by that of a benchmark."""
    assert parse(text).workload.name == name


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        (
            [{"prompt": "q"}],
            {},
            r"line 1: no column 'user_prompt' \(columns: prompt\); use --map user_prompt=prompt",
        ),
        (
            [ROW, {"user_prompt": "q"}],
            {},
            "line 2: no column 'ground_truth'.*or --map ground_truth= wi",
        ),
        ([{**ROW, "ground_truth": None}], {}, "line 1, column 'ground_truth': null, where the right answer"),
        ([{**ROW, "ground_truth": " "}], {}, "line 1, column 'ground_truth': an empty text, where"),
        ([{**ROW, "user_prompt": ""}], {}, "line 1, column 'user_prompt': the prompt is empty"),
        ([{**ROW, "user_prompt": 1}], {}, "line 1, column 'user_prompt': a number, where.*--map user_"),
        ([{**ROW, "tools": "add"}], {}, "line 1, column 'tools': not JSON"),
        ([{**ROW, "system_prompt": 1}], {}, "line 1, column 'system_prompt': a number, where"),
        (["q"], {}, "line 1: no column 'user_prompt' .the row has no columns."),
        ([ROW], {"system_prompt": "sys"}, "no column 'sys'.*--map system_prompt=COLUMN"),
        ([{"A": 1, "a": 2}], {"user_prompt": "á"}, "no column 'á'"),
        ([{"User_prompt": 1, "USER_PROMPT": 2}], {}, "'User_prompt' and 'USER_PROMPT' are one name"),
        ([{**ROW, "id": "x"}, {**ROW, "id": "x"}], {}, "two questions have the id 'x', number 1 and 2"),
    ],
)
def test_what_is_wrong(rows: list[Any], columns: Mapping[str, str], message: str, tmp_path: Path) -> None:
    """Each message names the place and the way out."""
    with pytest.raises(WorkloadError, match=message):
        asked(write(tmp_path / "a.jsonl", rows), columns)


def test_a_tag_that_is_not_there(tmp_path: Path) -> None:
    """The message has all columns of the row."""
    with pytest.raises(WorkloadError, match=r"no column 'level' \(columns: user_prompt, ground_truth\)"):
        asked(write(tmp_path / "a.jsonl", [ROW]), tags=("level",))


def test_nothing_is_called_so() -> None:
    """A mapping of what is not read is an error, with the nearest name."""
    with pytest.raises(TaskError, match=r"--map truth=a: nothing is called 'truth'; .* ground_truth, id"):
        parse("a.jsonl", {"truth": "a"})


@pytest.mark.parametrize(
    ("truth", "answer", "exact", "contains"),
    [
        ("Paris", " Paris\r\n", 1, 1),
        ("Paris", "It is Paris.", 0, 1),
        ("Paris", "paris", 0, 0),
        ("Paris", "", 0, 0),
        (42, "42", 1, 1),
        (True, "true", 1, 1),
        (["a", 1], '["a",1]', 1, 1),
    ],
)
def test_scorers(truth: Any, answer: str, exact: float, contains: float) -> None:
    """Texts are compared as they are but for white space at the ends; what is not text by its JSON."""
    scores = [
        scorer.grade({"id": "0", "ground_truth": truth, "more": {}}, Answer(answer)).value
        for scorer in parse("a.jsonl").workload.scorers[:2]
    ]
    assert scores == [exact, contains]
