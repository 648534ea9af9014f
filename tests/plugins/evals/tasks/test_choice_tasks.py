"""Multiple choice: mmlu, mmlu_pro, gpqa, supergpqa."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

from workloads.answer import Answer
from workloads.catalog import workload
from workloads.errors import ColumnError, SourceError, TaskError
from workloads.question_loading import load
from workloads.score import Status
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from workloads.question import Question
    from workloads.score import Score

MMLU: Final = {
    "subject": "astronomy",
    "question": "Which is nearest?",
    "choices": ["Sun", "Moon", "Mars", "M31"],
    "answer": 1,
}
PRO: Final = {
    "question_id": 70,
    "question": "Which is {odd}?",
    "options": ["two", "three", "N/A", "four"],
    "answer": "B",
    "category": "math",
}
EXAMPLE: Final = PRO | {
    "question": "Which is even?",
    "answer": "A",
    "cot_content": "A: Let's think step by step. Two is. The answer is (A).",
}
GPQA: Final = {
    "Question": "What is it?",
    "Correct Answer": "right",
    "Incorrect Answer 1": "wrong 1",
    "Incorrect Answer 2": "wrong 2",
    "Incorrect Answer 3": "wrong 3",
    "High-level domain": "Physics",
}
SUPER: Final = {
    "uuid": "u1",
    "question": "Which color?",
    "options": ["red", "blue"],
    "answer_letter": "A",
    "discipline": "Science",
    "field": "Physics",
    "subfield": "Optics",
    "difficulty": "hard",
}


def asked(
    folder: Path, task: str, *rows: dict[str, Any], file: str = "test", **more: Any
) -> Sequence[Question]:
    """The questions of a task, of rows that are written to a folder; `more` are further files."""
    for name, content in {file: rows, **more}.items():
        lines = (json.dumps(row) for row in content)
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return load(parse(task), folder).questions


def judged(task: str, scorer: str, reference: dict[str, Any], text: str) -> Score:
    """The score of an answer by one of a task's scorers."""
    result = next(candidate for candidate in workload(task).scorers if candidate.name == scorer)
    return result.grade(reference, Answer(text))


# mmlu…


def test_mmlu_asks_as_simple_evals_does(tmp_path: Path) -> None:
    """No examples, and a last line to be read; the tags are the subject and its category."""
    (question,) = asked(tmp_path, "mmlu", MMLU)
    assert question.sample.prompt == (
        "Answer the following multiple choice question. The last line of your response should be of the "
        "following format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. Think step by "
        "step before answering.\n\nWhich is nearest?\n\nA) Sun\nB) Moon\nC) Mars\nD) M31"
    )
    assert question.sample.tags == {"subject": "astronomy", "category": "stem"}
    assert question.reference == {"answer": "B"}


@pytest.mark.parametrize(("subject", "category"), [("virology", "other"), ("sociology", "social_sciences")])
def test_mmlu_has_four_categories(tmp_path: Path, subject: str, category: str) -> None:
    """What is in none of three is in the fourth."""
    (question,) = asked(tmp_path, "mmlu", MMLU | {"subject": subject, "answer": "D"})
    assert (question.sample.tags["category"], question.reference["answer"]) == (category, "D")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("answer", 4, "column 'answer': 4, where 0 to 3 or A to D should be"),
        ("answer", None, "column 'answer': None, where"),
        ("choices", ["a", "b"], "column 'choices': 2 texts, where 4 should be"),
        ("choices", "abcd", "column 'choices': text, where a list of texts should be"),
        ("question", " ", "column 'question': empty, where a text should be"),
        ("question", 5, "column 'question': a number, where a text should be"),
    ],
)
def test_an_invalid_row_is_an_error_with_its_place(
    tmp_path: Path, column: str, value: object, message: str
) -> None:
    """The message has the file, the line and the column."""
    with pytest.raises(ColumnError) as error:
        asked(tmp_path, "mmlu", MMLU, MMLU | {column: value})
    assert "test.jsonl, line 2" in str(error.value)
    assert message in str(error.value)


def test_mmlu_judges_the_letter_as_a_capital() -> None:
    """A small letter is read and wrong, as officially; what is not a letter is unparsed and wrong."""
    reference = {"answer": "B"}
    assert judged("mmlu", "official", reference, "**Answer:** B").value == 1
    small = judged("mmlu", "official", reference, "Answer: b")
    assert (small.value, small.status, small.extracted) == (0, Status.SCORED, "b")
    assert judged("mmlu", "official", reference, "It is B").status is Status.UNPARSED


@pytest.mark.parametrize("text", ["B", "(b)", "It is B.", "A or so. Answer: B", "B) Moon"])
def test_mmlu_is_scored_by_the_letter_alone(text: str) -> None:
    """Without the form that the official scorer wants."""
    assert judged("mmlu", "letter", {"answer": "B"}, text).value == 1
    assert judged("mmlu", "letter", {"answer": "C"}, text).value == 0


def test_mmlu_without_a_letter_is_unparsed() -> None:
    """Neither the text of an option nor a letter beyond the fourth is a choice."""
    for text in ("Moon", "Answer: E", ""):
        assert judged("mmlu", "letter", {"answer": "B"}, text).status is Status.UNPARSED


# mmlu_pro…


def test_mmlu_pro_shows_examples_of_the_same_category(tmp_path: Path) -> None:
    """As `evaluate_from_local.py` does; options that are `N/A` are not."""
    other = EXAMPLE | {"category": "law"}
    (question,) = asked(tmp_path, "mmlu_pro", PRO, validation=[EXAMPLE, other, EXAMPLE])
    listed = "Options:\nA. two\nB. three\nC. four\n"
    shown = (
        f"Question:\nWhich is even?\n{listed}Answer: Let's think step by step. Two is. The answer is (A).\n\n"
    )
    assert question.sample.prompt == (
        "The following are multiple choice questions (with answers) about math. Think step by step and then "
        'finish your answer with "the answer is (X)" where X is the correct letter choice.\n\n\n\n'
        f"{shown}{shown}Question:\nWhich is {{odd}}?\n{listed}Answer: Let's think step by step."
    )
    assert (question.id, question.sample.max_tokens) == ("70", 2048)
    assert question.reference == {"answer": "B", "options": 3, "id": "70"}


def test_mmlu_pro_can_ask_as_the_other_script(tmp_path: Path) -> None:
    """As `evaluate_from_api.py` does, with fewer examples."""
    (question,) = asked(tmp_path, "mmlu_pro:shots=1,prompt=api", PRO, validation=[EXAMPLE, EXAMPLE])
    listed = "Options: A. two\nB. three\nC. four\n"
    assert question.sample.prompt == (
        "The following are multiple choice questions (with answers) about math. Think step by step and then "
        'output the answer in the format of "The answer is (X)" at the end.\n\n'
        f"Question: Which is even?\n{listed}"
        "Answer: Let's think step by step. Two is. The answer is (A).\n\n"
        f"Question: Which is {{odd}}?\n{listed}Answer: Let's think step by step.\n\n"
    )
    assert question.sample.max_tokens == 4000


def test_mmlu_pro_without_examples_needs_no_more_data(tmp_path: Path) -> None:
    """With them and without their file, the message says so."""
    assert asked(tmp_path, "mmlu_pro:shots=0", PRO)[0].sample.prompt.count("Question:") == 1
    with pytest.raises(SourceError, match=r"validation\*.*mmlu_pro:shots=0"):
        asked(tmp_path, "mmlu_pro", PRO)
    with pytest.raises(SourceError, match=r"line 1: there are no examples of the category 'math'"):
        asked(tmp_path, "mmlu_pro", PRO, validation=[EXAMPLE | {"category": "law"}])


@pytest.mark.parametrize(
    ("options", "message"),
    [("shots=6", "must be 0 to 5"), ("shots=few", "must be like 5"), ("prompt=mine", "one of local, api")],
)
def test_mmlu_pro_refuses_other_options(tmp_path: Path, options: str, message: str) -> None:
    """There are five examples of a category, and two official scripts."""
    with pytest.raises(TaskError, match=message):
        asked(tmp_path, f"mmlu_pro:{options}", PRO)


def test_mmlu_pro_refuses_invalid_letters_and_options(tmp_path: Path) -> None:
    """With their place."""
    with pytest.raises(ColumnError, match=r"line 1, column 'answer': 'K', where one of the letters"):
        asked(tmp_path, "mmlu_pro:shots=0", PRO | {"answer": "K"})
    with pytest.raises(ColumnError, match=r"line 1, column 'options': there are none"):
        asked(tmp_path, "mmlu_pro:shots=0", PRO | {"options": ["N/A"]})


@pytest.mark.parametrize(
    ("scorer", "text", "value", "status"),
    [
        ("official", "The answer is (B).", 1, "scored"),
        ("official", "**Answer:** B", 1, "scored"),
        ("official", "No idea.", 0, "unparsed"),
        ("official", "", 0, "unparsed"),
        ("official", "answer is **B**. A", 0, "scored"),
        ("api", "answer is **B**. A", 1, "scored"),
        ("first_rule", "Answer: B", 0, "unparsed"),
        ("first_rule", "answer is B", 1, "scored"),
        ("official_random", "Answer: B", 1, "scored"),
        ("official_random", "Answer: C", 0, "scored"),
    ],
)
def test_mmlu_pro_scorers(scorer: str, text: str, value: float, status: str) -> None:
    """The official one has three rules; the others are what parts of the official code do."""
    score = judged("mmlu_pro", scorer, {"answer": "B", "options": 3, "id": "70"}, text)
    assert (score.value, score.status) == (value, status)


@pytest.mark.parametrize(
    ("scorer", "options", "letter"),
    [
        *(("official_random", options, "G") for options in range(2, 11)),
        *(("official_random_option", options, "BBDDDDGGG"[options - 2]) for options in range(2, 11)),
    ],
)
def test_mmlu_pro_draws_one_letter_for_all_answers_without_one(
    scorer: str, options: int, letter: str
) -> None:
    """As the scripts draw that seed the generator before each: by how many letters there are, and no more."""
    scores = [
        judged("mmlu_pro", scorer, {"answer": answer, "options": options, "id": answer}, "?")
        for answer in "ABCDEFGHIJ"
    ]
    assert [score.value for score in scores] == [float(answer == letter) for answer in "ABCDEFGHIJ"]
    assert {score.status for score in scores} == {Status.UNPARSED}
    assert scores[0].reason == f"no letter; {letter} drawn at random"


# gpqa…


def test_gpqa_puts_answers_in_the_official_order(tmp_path: Path) -> None:
    """`random.Random(0).sample(range(4), 4)` once a row: its first draws are 3 1 0 2 and 3 2 0 1."""
    rows = [GPQA | {"Question": f"What is {number}?"} for number in range(2)]
    questions = asked(tmp_path, "gpqa", *rows, file="gpqa_diamond")
    orders = [[line[3:] for line in question.sample.prompt.splitlines()[-4:]] for question in questions]
    assert orders[0] == ["wrong 3", "wrong 1", "right", "wrong 2"]
    assert [question.reference["answer"] for question in questions] == [
        "ABCD"[order.index("right")] for order in orders
    ]
    assert questions[0].sample.tags == {"domain": "Physics"}


def test_gpqa_goes_on_drawing_where_rows_are_asked_again(tmp_path: Path) -> None:
    """The second time around the orders are others, and the questions have their own names."""
    once = asked(tmp_path, "gpqa", GPQA, GPQA, file="gpqa_diamond")
    twice = asked(tmp_path, "gpqa:orders=2", GPQA, GPQA, file="gpqa_diamond")
    assert [question.id for question in twice] == ["0", "1", "0#2", "1#2"]
    assert [asked.sample.prompt for asked in twice[:2]] == [asked.sample.prompt for asked in once]
    assert len({asked.sample.prompt for asked in twice}) > 2
    with pytest.raises(TaskError, match="gpqa:orders=0: must be 1 or more"):
        asked(tmp_path, "gpqa:orders=0", GPQA, file="gpqa_diamond")


def test_gpqa_has_three_subsets(tmp_path: Path) -> None:
    """Each with its own file, number of questions and pinned source; Diamond without being named."""
    for subset, rows in (("diamond", 198), ("main", 448), ("extended", 546)):
        folder = tmp_path / subset
        folder.mkdir()
        asked(folder, f"gpqa:subset={subset}", GPQA | {"Question": subset}, file=f"gpqa_{subset}")
        task = parse(f"gpqa:subset={subset}")
        assert task.source.rows == rows
        read = load(task, folder)
        assert (read.facts["published"], len(read.questions)) == (rows, 1)
        assert subset in read.questions[0].sample.prompt
        if subset != "diamond":
            assert (task.source.hub, task.source.config) == ("Idavidrein/gpqa", f"gpqa_{subset}")
            assert len(task.source.revision or "") == 40
    assert parse("gpqa").source == parse("gpqa:subset=diamond").source
    with pytest.raises(SourceError, match=r"no file gpqa_main\*"):
        load(parse("gpqa:subset=main"), tmp_path / "diamond")
    with pytest.raises(TaskError, match="no subset 'mian'; did you mean 'main'"):
        parse("gpqa:subset=mian")


def test_gpqa_judges_the_first_letter() -> None:
    """The first `Answer:` with a letter counts, and nothing else."""
    assert judged("gpqa", "official", {"answer": "C"}, "So.\nAnswer: C").value == 1
    assert judged("gpqa", "official", {"answer": "C"}, "Answer: D. Wait, Answer: C").value == 0
    assert judged("gpqa", "official", {"answer": "C"}, "(C)").status is Status.UNPARSED


# supergpqa…


def test_supergpqa_asks_with_and_without_the_subfield(tmp_path: Path) -> None:
    """The two prompts differ in a line break at the end, too."""
    (plain,) = asked(tmp_path, "supergpqa", SUPER, file="SuperGPQA-all")
    (named,) = asked(tmp_path, "supergpqa:subfield=true", SUPER, file="SuperGPQA-all")
    assert plain.sample.prompt == (
        "Answer the following multiple choice question. There is only one correct answer. The last line of "
        "your response should be in the format 'Answer: $LETTER' (without quotes), where LETTER is one of A, "
        "B, C, D, E, F, G, H, I, or J.\n\nWhich color?\nA) red\nB) blue\n"
    )
    assert named.sample.prompt == plain.sample.prompt.replace("question.", "question about Optics.", 1)[:-1]
    assert plain.id == "u1"
    assert plain.sample.tags == {
        "discipline": "Science",
        "field": "Science/Physics",
        "subfield": "Science/Physics/Optics",
        "difficulty": "hard",
    }


def test_supergpqa_judges_letters_and_texts() -> None:
    """What is neither is a miss."""
    reference = {"answer": "A", "options": ["red", "blue"]}
    assert judged("supergpqa", "official", reference, "Answer: A").value == 1
    assert judged("supergpqa", "official", reference, "The answer is blue").value == 0
    assert judged("supergpqa", "official", reference, "The answer is red").value == 1
    missed = judged("supergpqa", "official", reference, "Who knows?")
    assert (missed.status, missed.metrics) == (Status.UNPARSED, {"miss": 1.0})


# Headlines…

ROWS: Final = """
CREATE TABLE scores AS
SELECT value, metrics, MAP {'discipline': discipline, 'difficulty': difficulty, 'category': category} AS tags
FROM (VALUES
    (1.0, MAP {'miss': 0.0, 'guess': 1.0}, 'a', 'hard', 'stem'),
    (0.0, MAP {'miss': 1.0, 'guess': 0.5}, 'a', 'easy', 'other'),
    (0.0, MAP {}, 'a', 'easy', 'stem'),
    (0.0, MAP {}, 'a', 'easy', 'stem'),
    (1.0, MAP {'miss': 0.0}, 'b', 'easy', 'stem')
) AS rows(value, metrics, discipline, difficulty, category)
"""


@pytest.mark.parametrize(
    ("task", "headline", "figure"),
    [
        ("supergpqa", "accuracy", 2 / 5),
        ("supergpqa", "by_discipline", (1 / 4 + 1) / 2),
        ("supergpqa", "hard", 1.0),
        ("supergpqa", "easy", 1 / 4),
        ("supergpqa", "middle", None),
        ("supergpqa", "miss_rate", 3 / 5),
        ("mmlu", "stem", 2 / 4),
        ("mmlu", "humanities", None),
        ("mmlu_pro", "with_guesses", (1.0 + 0.5 + 0 + 0 + 1) / 5),
    ],
)
def test_headlines_are_aggregates_over_the_scores(task: str, headline: str, figure: float | None) -> None:
    """Of the four rows of one discipline and the one of another; two have no metrics, for no answer came."""
    (result,) = (candidate for candidate in workload(task).scorers[0].headlines if candidate.name == headline)
    with duckdb.connect() as connection:
        connection.execute(ROWS)
        row = connection.execute(f"SELECT {result.sql} FROM scores").fetchone()  # noqa: S608 (of our own)
    assert row == (figure if figure is None else pytest.approx(figure),)
