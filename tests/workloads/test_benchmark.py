"""The questions of benchmarks are the samples of a run, wherever their data comes from."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from workloads.benchmark import dataset
from workloads.conversation_sample import FollowUp, conversation_of
from workloads.errors import ColumnError, SourceError, TaskError
from workloads.own_data import SCORERS
from workloads.question import Question
from workloads.question_loading import load
from workloads.sample import Sample
from workloads.task import Task, parse
from workloads.workload import Inputs, Source, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def asked(inputs: Inputs) -> Iterator[Question]:
    """A question a row, with as many examples before it as the option says."""
    for index, row in enumerate(inputs.rows):
        shown = [item["question"] for item in inputs.more("dev")[: inputs.options["shots"]]]
        sample = Sample(
            index, " ".join([*shown, row["question"]]), max_tokens=row["most"], tags={"kind": "x"}
        )
        yield Question(f"q{index}", sample, {"answer": row["answer"]})


QUIZ = Workload(
    "quiz",
    "a quiz",
    3,
    Source(("test.jsonl*", "test*.csv"), columns=("question", "answer"), rows=3, licence="MIT"),
    asked,
    SCORERS,
    further={"dev": Source(("dev.jsonl",))},
    max_tokens=64,
    temperature=0.5,
    groups=("kind",),
)


def quiz(shots: int = 1, **changes: Any) -> Task:
    """The benchmark with an option."""
    return Task(f"quiz:shots={shots}", replace(QUIZ, **changes), {"shots": shots})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with the data of a benchmark."""
    folder = tmp_path / "data" / "quiz"
    folder.mkdir(parents=True)
    rows = [{"question": item, "answer": item.upper(), "most": None} for item in "abc"]
    rows[1]["most"] = 5
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "dev.jsonl").write_text('{"question": "e"}\n', encoding="utf-8")
    return folder.parent


def test_two_tasks(data: Path) -> None:
    """Samples are numbered through; each has its task as a tag, and each task's facts say where it begins."""
    read = dataset([quiz(0), quiz(1)], data)
    assert [sample.prompt for sample in read.samples] == ["a", "b", "c", "e a", "e b", "e c"]
    assert [sample.index for sample in read.samples] == [0, 1, 2, 3, 4, 5]
    assert {tuple(sample.tags.items()) for sample in read.samples} == {(("kind", "x"), ("task", "quiz"))}
    assert tuple(question.sample for question in read.questions) == read.samples
    assert [(task["task"], task["first"], task["count"]) for task in read.tasks] == [
        ("quiz:shots=0", 0, 3),
        ("quiz:shots=1", 3, 3),
    ]
    assert (read.name, read.synthetic) == ("quiz:shots=0, quiz:shots=1", False)


def test_facts(data: Path) -> None:
    """What the log keeps of a task, and that it is JSON."""
    (task,) = dataset([quiz()], data).tasks
    assert list(task["files"]) == ["quiz/test.jsonl", "quiz/dev.jsonl"]
    assert json.loads(json.dumps(task)) == {
        **task,
        "task": "quiz:shots=1",
        "name": "quiz",
        "title": "a quiz",
        "version": 3,
        "options": {"shots": 1},
        "first": 0,
        "offset": 0,
        "count": 3,
        "max_tokens": 64,
        "temperature": 0.5,
        "groups": ["kind"],
        "licence": "MIT",
        "source": "data",
        "revision": None,
        "rows": 3,
        "published": 3,
    }


def test_a_part(data: Path) -> None:
    """Of the rest nothing is read, so the number of rows is unknown."""
    read = dataset([quiz()], data, samples=1, offset=1)
    assert [(question.id, question.sample.index) for question in read.questions] == [("q1", 0)]
    assert (read.tasks[0]["rows"], read.tasks[0]["count"], read.tasks[0]["offset"]) == (None, 1, 1)
    assert len(dataset([quiz()], data, samples=9).samples) == 3
    with pytest.raises(SourceError, match="no question is left from number 3 on; give a smaller --offset"):
        dataset([quiz()], data, offset=3)


@pytest.mark.parametrize(
    ("argument", "option", "expected"),
    [
        (None, {}, [64, 5, 64]),
        (9, {}, [9, 5, 9]),
        (100, {}, [64, 5, 64]),
        (100, {"max_tokens": 80}, [80, 80, 80]),
        (70, {"max_tokens": 80}, [70, 70, 70]),
    ],
)
def test_the_most_tokens(
    data: Path, argument: int | None, option: dict[str, int], expected: list[int]
) -> None:
    """The smaller of the session's limit and the benchmark's holds; the task's option replaces the latter."""
    task = quiz()
    task = replace(task, options={**task.options, **option})
    read = dataset([task], data, max_tokens=argument)
    assert [sample.max_tokens for sample in read.samples] == expected
    (facts,) = read.tasks
    notes = [note for note in facts["notes"] if "raises the limit" in note]
    assert bool(notes) == (not option and argument is not None)
    if notes:
        assert f"--task quiz:shots=1,max_tokens={argument} raises" in notes[0]


def test_the_most_tokens_of_later_turns(data: Path) -> None:
    """A conversation's turns have the limit too."""

    def conversation(inputs: Inputs) -> Iterator[Question]:
        for question in asked(inputs):
            later = FollowUp(({"role": "user", "content": "And?"},))
            sample = replace(conversation_of(question.sample), follow_ups=(later,))
            yield replace(question, sample=sample)

    sample, *_ = dataset([quiz(questions=conversation)], data, max_tokens=9).samples
    assert [turn.max_tokens for turn in sample.follow_ups] == [9]


def test_the_checksum(data: Path, tmp_path: Path) -> None:
    """It is that of what is asked and what it is compared with, wherever the data comes from."""
    first = dataset([quiz()], data).sha256
    lines = "question,answer,most\na,A,\nb,B,5\nc,C,\n"
    (tmp_path / "test.csv").write_text(lines, encoding="utf-8")
    (tmp_path / "dev.jsonl").write_text('{"question": "e"}\n', encoding="utf-8")
    assert dataset([quiz()], tmp_path).sha256 == first
    (tmp_path / "test.csv").write_text(lines.replace("b,B", "b,X"), encoding="utf-8")
    assert dataset([quiz()], tmp_path).sha256 != first
    assert dataset([quiz(0)], data).sha256 != first


def test_twice(data: Path, tmp_path: Path) -> None:
    """One task twice, or two files with one name, could not be distinguished."""
    with pytest.raises(TaskError, match=r"quiz:shots=1: named 2 times; .* --repeats"):
        dataset([quiz(), quiz()], data)
    (tmp_path / "b").mkdir()
    paths = [tmp_path / "faq.jsonl", tmp_path / "b" / "FAQ.json"]
    for path in paths:
        path.write_text('{"user_prompt": "q", "ground_truth": "a"}\n', encoding="utf-8")
    with pytest.raises(TaskError, match=r"faq.jsonl and .*FAQ.json would both be called faq; rename one"):
        dataset([parse(str(path)) for path in paths])


def test_a_missing_column(data: Path) -> None:
    """A row without a column that the benchmark needs is reported with its place and the nearest name."""
    (data / "quiz" / "test.jsonl").write_text('{"question": "a", "anser": "A"}\n', encoding="utf-8")
    with pytest.raises(ColumnError, match=r"test.jsonl, line 1: no column 'answer' .*mean 'anser'"):
        dataset([quiz()], data)


def test_where_data_is_looked_for(data: Path, tmp_path: Path) -> None:
    """In a folder with the benchmark's name, then in the folder itself; else the wanted files are named."""
    neighbour = {"question": "z", "answer": "Z", "most": None}
    (data / "test.jsonl").write_text(json.dumps(neighbour) + "\n", encoding="utf-8")
    assert len(load(quiz(), data).questions) == 3
    (data / "quiz" / "test.jsonl").unlink()
    (data / "dev.jsonl").write_text('{"question": "e"}\n', encoding="utf-8")
    assert len(load(quiz(), data).questions) == 1
    (tmp_path / "none").mkdir()
    with pytest.raises(
        SourceError, match=r"no file test.jsonl\* or test\*.csv in .*none or .*none/quiz: put"
    ):
        load(quiz(), tmp_path / "none")
    with pytest.raises(SourceError, match=r"--data .*dat: the folder does not exist; did you mean 'data'"):
        load(quiz(), tmp_path / "dat")


def test_only_the_questions_with_some_ids(data: Path) -> None:
    """In the order of the rows; the facts say so; an id that no question has is named."""
    loaded = load(quiz(), data, ids=("q2", "q0"))
    assert [question.id for question in loaded.questions] == ["q0", "q2"]
    assert loaded.facts["notes"] == ["the questions with the ids q2, q0 (--record-ids)"]
    with pytest.raises(SourceError, match="no question has the id q7, q9"):
        load(quiz(), data, ids=("q9", "q1", "q7"))


def test_another_split(data: Path) -> None:
    """Its files have its name, as the official one's have theirs; data without splits has no other."""
    row = {"question": "v", "answer": "V", "most": None}
    (data / "quiz" / "validation.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    published = replace(QUIZ.source, hub="someone/quiz", split="test")
    loaded = load(replace(quiz(source=published), split="validation"), data)
    assert [question.reference for question in loaded.questions] == [{"answer": "V"}]
    assert loaded.facts["notes"] == ["of the split validation, where the benchmark's is test"]
    assert loaded.facts["published"] is None
    assert len(load(replace(quiz(source=published), split="test"), data).questions) == 3
    with pytest.raises(TaskError, match="--split validation: its data has no splits"):
        load(replace(quiz(), split="validation"), data)


def test_two_questions_with_one_id(data: Path) -> None:
    """The log could not tell them apart."""

    def same(inputs: Inputs) -> Iterator[Question]:
        return (replace(question, id="q") for question in asked(inputs))

    with pytest.raises(SourceError, match="two questions have the id 'q'"):
        load(quiz(questions=same), data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gsm8", "Unknown task 'gsm8'. Did you mean 'gsm8k'"),
        ("gsm8k:shots=1", "gsm8k:shots=1: no option 'shots=1'; the options of gsm8k are: "),
        ("plain.txt", "Unknown task 'plain.txt'"),
    ],
)
def test_no_task(text: str, message: str) -> None:
    """A name that nothing has, an option that it does not have."""
    with pytest.raises(TaskError, match=message):
        parse(text)


def test_benchmarks_of_different_temperatures_are_each_asked_at_their_own(data: Path) -> None:
    """Their questions carry it, unless the session has one, or all benchmarks have the same."""
    warm, none = quiz(), Task("plain", replace(QUIZ, name="plain", temperature=None), {"shots": 1})
    assert [sample.temperature for sample in dataset([warm], data).samples] == [None] * 3
    both = dataset([warm, replace(none, workload=replace(none.workload, name="quiz"))], data)
    assert [sample.temperature for sample in both.samples] == [0.5] * 3 + [0.0] * 3
    assert [task["sampled_at"] for task in both.tasks] == [0.5, 0.0]
    arguments = dataset(
        [warm, replace(none, workload=replace(none.workload, name="quiz"))], data, temperature=1
    )
    assert {sample.temperature for sample in arguments.samples} == {None}
    assert [task["sampled_at"] for task in arguments.tasks] == [1, 1]
