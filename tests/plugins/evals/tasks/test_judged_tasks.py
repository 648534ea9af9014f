"""Benchmarks that a judge scores: what is asked, what the judge is asked, and how its words are read."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from workloads.answer import Answer
from workloads.catalog import workload
from workloads.errors import ColumnError, TaskError
from workloads.question_loading import load
from workloads.score import Status
from workloads.task import parse

if TYPE_CHECKING:
    from workloads.question import Question
    from workloads.scorer import Inquiry, Scorer

CASES = [
    orjson.loads(line) for line in Path(__file__).with_name("judgements.jsonl").read_bytes().splitlines()
]
KEYS = {"mt_bench": ("turn_1", "turn_2")}
VERSIONS = {
    "ama_bench": (1, "794985659d52b018"),
    "deepresearch": (1, "adddc796d4fb1d52"),
    "frames": (1, "94ac66c7e3ef32b5"),
    "gaia_fallback": (1, "ed00db3bc67ee61a"),
    "hle": (1, "0ee1a1479eb8bd8d"),
    "liveresearchbench": (1, "4c334dfc074b4a6c"),
    "mt_bench": (1, "6c087bd09fa005f4"),
    "natural_reasoning": (1, "0de3a7a2bb858896"),
    "paperarena": (1, "b7f142ad03b007b3"),
    "simpleqa": (1, "6f9a0099b4065062"),
    "supergpqa_letter": (1, "71a50822e821e9c5"),
    "wildchat_rubrics": (1, "930570f985c1d553"),
}
"""Of each judge's prompts the version, and the beginning of the SHA-256 of their words."""


def questions(task: str, folder: Path, **files: list[dict[str, Any]]) -> list[Question]:
    """The questions of a task, made of the rows of files."""
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return list(load(parse(task), folder).questions)


def inquiries(task: str, question: Question, answer: Answer, scorer: int = 0) -> list[Inquiry]:
    """What a judge is asked about an answer."""
    ask = workload(task).scorers[scorer].ask
    assert ask is not None
    return list(ask(question.reference, answer))


def test_a_changed_prompt_has_a_new_version() -> None:
    """What was said to other words is another judgement: a new word is a new version, here as well."""
    result = {}
    for name in VERSIONS:
        payload = judge_prompts(name)
        words = {key: [prompt.system, prompt.user] for key, prompt in payload.prompts.items()}
        digest = sha256(orjson.dumps(words, option=orjson.OPT_SORT_KEYS)).hexdigest()
        result[name] = (payload.version, digest[:16])
    assert result == VERSIONS


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case['task']}: {case['why'] or case['said']}"[:60]
)
def test_what_a_judge_said_is_read_by_the_published_rule(case: dict[str, Any]) -> None:
    """The value, how far it could be judged, and what was taken out of the judge's words."""
    keys = KEYS.get(case["task"], ("verdict",))
    answer = Answer("", judged=dict.fromkeys(keys, case["said"]))
    score = workload(case["task"]).scorers[0].grade({}, answer)
    extracted = case["extracted"] and ", ".join([case["extracted"]] * len(keys))
    assert (score.value, score.status, score.extracted) == (case["value"], case["status"], extracted)


@pytest.mark.parametrize("task", ["frames", "hle", "hle_text_only", "mt_bench", "simpleqa", "wildchat"])
def test_without_a_judge_there_is_no_score(task: str) -> None:
    """No proxy: not even for an answer that is the right one to the letter."""
    reference = {"answer": "42", "baseline": ["a", "b"]}
    for scorer in workload(task).scorers:
        score = scorer.grade(reference, Answer("42"))
        assert (score.value, score.status) == (None, Status.JUDGE_PENDING)


@pytest.mark.parametrize("task", ["frames", "hle", "mt_bench", "wildchat"])
@pytest.mark.parametrize(
    "piece", ["decision: ", "correct ", "[[1", "\n\n ** ", '{"a": ', "confidence:", "a "]
)
def test_a_judge_that_never_stops_is_read_all_the_same(task: str, piece: str) -> None:
    """Half a million characters of what a judgement begins with are not, and are read in good time."""
    keys = (*KEYS.get(task, ("verdict",)), "ab", "ba")
    answer = Answer("", judged=dict.fromkeys(keys, piece * (500_000 // len(piece))))
    assert workload(task).scorers[0].grade({}, answer).status is Status.INFRA_ERROR


def test_simpleqa_asks_the_problem_alone(tmp_path: Path) -> None:
    """Tags are in the Python literal of `metadata`; the judge sees question, gold target and answer."""
    metadata = "{'topic': 'Art', 'answer_type': 'Person', 'urls': ['https://a.org']}"
    row = {"metadata": metadata, "problem": "Who {painted} it?", "answer": "Ada “A.” O'Hara"}
    (question,) = questions("simpleqa", tmp_path, simpleqa=[row])
    assert question.sample.messages() == [{"role": "user", "content": "Who {painted} it?"}]
    assert question.sample.tags == {"topic": "Art", "answer_type": "Person"}
    (asked,) = inquiries("simpleqa", question, Answer("perhaps {Bob}"))
    assert (
        "Question: Who {painted} it?\nGold target: Ada “A.” O'Hara\nPredicted answer: perhaps {Bob}\n"
        in (asked.messages[1]["content"])
    )
    assert (asked.max_tokens, asked.temperature) == (2048, 0.0)


def test_simpleqa_names_invalid_metadata(tmp_path: Path) -> None:
    """A file that is not as published is not a reason to guess."""
    row = {"metadata": "{'topic': ", "problem": "Who?", "answer": "Ada"}
    with pytest.raises(ColumnError, match=r"simpleqa\.jsonl, line 1: `metadata` is not a Python literal"):
        questions("simpleqa", tmp_path, simpleqa=[row])


def test_simpleqas_figures_are_the_published_ones() -> None:
    """Of 6 right, 3 wrong and 1 not attempted: 2/3 right of those attempted, and F1 of that and 6/10."""
    import duckdb

    rows = [("A", 6), ("B", 3), ("C", 1)]
    scorer = workload("simpleqa").scorers[0]
    scores = [
        scorer.grade({}, Answer("", judged={"verdict": letter}))
        for letter, count in rows
        for _ in range(count)
    ]
    payload = [{"value": score.value, "metrics": dict(score.metrics)} for score in scores]
    figures = ", ".join(f"({headline.sql})" for headline in scorer.headlines)
    query = (
        f"SELECT {figures} FROM (SELECT unnest(from_json(?, "  # noqa: S608 (our own expressions)
        """'[{"value": "DOUBLE", "metrics": "MAP(VARCHAR, DOUBLE)"}]'), recursive := true))"""
    )
    result = duckdb.connect().execute(query, [orjson.dumps(payload).decode()]).fetchall()[0]
    arguments = 6 / 9
    f1 = 2 * arguments * 0.6 / (arguments + 0.6)
    assert [headline.name for headline in scorer.headlines][:3] == [
        "correct",
        "f1",
        "accuracy_given_attempted",
    ]
    assert result == pytest.approx((0.6, f1, arguments, 0.3, 0.1))


@pytest.mark.parametrize(
    ("task", "row", "message"),
    [
        ("simpleqa", {"problem": None, "answer": "x"}, "column 'problem': null, where a text should be"),
        ("simpleqa", {"problem": "Who?", "answer": ["x"]}, "column 'answer': a list, where a text or"),
        ("frames", {"Prompt": 1, "Answer": "x", "reasoning_types": ""}, "column 'Prompt': a number, where"),
    ],
)
def test_a_question_that_is_not_a_text(tmp_path: Path, task: str, row: dict[str, Any], message: str) -> None:
    """The line and the column are named."""
    with pytest.raises(ColumnError, match=f"line 1, {message}"):
        questions(task, tmp_path, **{task: [row]})


def test_frames_asks_the_question_alone(tmp_path: Path) -> None:
    """The paper's naive prompt; the judge sees question, answer and ground truth."""
    row = {"Prompt": "How old?", "Answer": 37, "reasoning_types": "Numerical reasoning | Temporal reasoning"}
    (question,) = questions("frames", tmp_path, frames=[row])
    assert question.sample.prompt == "How old?"
    assert question.sample.tags == {"reasoning_types": "Numerical reasoning | Temporal reasoning"}
    (asked,) = inquiries("frames", question, Answer("thirty"))
    user = asked.messages[-1]["content"]
    assert "- Question: How old?\n- Predicted Answer: thirty\n- Ground Truth Answer: 37\n" in user


HLE: list[dict[str, Any]] = [
    {"id": "a", "question": "What is seen?", "image": "data:image/png;base64,AAAA", "answer": "a cat"},
    {"id": "b", "question": "What is 6 times 7?", "image": "", "answer": "42"},
    {"id": "c", "question": "And 6 times 8?", "image": None, "answer": "48"},
]


def test_hle_shows_images_and_its_text_only_part_leaves_those_questions_out(tmp_path: Path) -> None:
    """Made-up rows: a question with an image has two parts; `hle_text_only` has the others, as texts."""
    rows = [{**row, "answer_type": "exactMatch", "category": "Math"} for row in HLE]
    seen, *_ = result = questions("hle", tmp_path, hle=rows)
    assert [item.id for item in result] == ["a", "b", "c"]
    system, user = seen.sample.messages()
    assert system["content"].startswith("Your response should be in the following format:\nExplanation: {")
    assert [part["type"] for part in user["content"]] == ["text", "image_url"]
    assert user["content"][1] == {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    texts = list(load(parse("hle_text_only"), tmp_path).questions)
    assert [text.id for text in texts] == ["b", "c"]
    assert texts[0].sample.messages() == [system, {"role": "user", "content": "What is 6 times 7?"}]


def test_hles_judge_is_asked_for_a_schema(tmp_path: Path) -> None:
    """Structured output with yes or no and a confidence; no `max_tokens`, which reasoning models refuse."""
    rows = [{**row, "answer_type": "exactMatch", "category": "Math"} for row in HLE]
    item = questions("hle", tmp_path, hle=rows)[1]
    (asked,) = inquiries("hle", item, Answer("Answer: 42\nConfidence: 90%"))
    schema = asked.extra_body["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["properties"]["correct"] == {"type": "string", "enum": ["yes", "no"]}
    assert schema["schema"]["required"] == list(schema["schema"]["properties"])
    assert (asked.max_tokens, asked.temperature) == (None, None)
    (user,) = asked.messages
    assert "[response]: Answer: 42\nConfidence: 90%\n" in user["content"]
    assert "0|\\%| and 100|\\%|" in user["content"]


def test_hles_choices_are_scored_by_the_letter_and_without_a_judge(tmp_path: Path) -> None:
    """The other questions stay pending, and an option of the task leaves them out."""
    types = ("multipleChoice", "exactMatch", "multipleChoice")
    rows = [
        {**row, "answer": answer, "answer_type": kind, "category": "Math"}
        for row, answer, kind in zip(HLE, ("K", "42", "B"), types, strict=True)
    ]
    asked = questions("hle", tmp_path, hle=rows)
    letter = next(scorer for scorer in workload("hle").scorers if scorer.name == "letter")
    answer = Answer("Explanation: A and B are wrong.\nAnswer: K\nConfidence: 90%")
    scores = [letter.grade(item.reference, answer) for item in asked]
    assert letter.ask is None
    assert [(score.value, score.status) for score in scores] == [
        (1.0, Status.SCORED),
        (None, Status.JUDGE_PENDING),
        (0.0, Status.SCORED),
    ]
    for task, ids in (("hle", ["a", "c"]), ("hle_text_only", ["c"])):
        chosen = load(parse(f"{task}:answer_type=multipleChoice"), tmp_path).questions
        assert [item.id for item in chosen] == ids
    with pytest.raises(TaskError, match=r"answer_type=multiple: must be one of any, multipleChoice"):
        list(load(parse("hle:answer_type=multiple"), tmp_path).questions)


def test_hles_confidence_is_a_share() -> None:
    """The calibration error is made of it."""
    text = (
        '{"extracted_final_answer": "4", "reasoning": "", "correct": "no", "confidence": 35, "strict": true}'
    )
    score = workload("hle").scorers[0].grade({}, Answer("", judged={"verdict": text}))
    assert (score.value, score.metrics) == (0.0, {"confidence": 0.35})


WILD: list[dict[str, Any]] = [
    {"conversation_hash": "one", "language": "English", "toxic": False, "said": ["Hi?", "Hello."]},
    {"conversation_hash": "two", "language": "German", "toxic": False, "said": ["Na?", "Hallo."]},
    {"conversation_hash": "three", "language": "English", "toxic": True, "said": ["Bad?", "No."]},
    {"conversation_hash": "four", "language": "English", "toxic": False, "said": ["Nothing?", " "]},
    {"conversation_hash": "five", "language": "English", "toxic": False, "said": ["More?", "Yes.", "And?"]},
    {"conversation_hash": "one", "language": "English", "toxic": False, "said": ["Hi?", "Hello."]},
]


def wild_rows() -> list[dict[str, Any]]:
    """Rows as they are published."""
    roles = ("user", "assistant", "user")
    return [
        {**row, "conversation": [{"role": r, "content": t} for r, t in zip(roles, row["said"], strict=False)]}
        for row in WILD
    ]


@pytest.mark.parametrize(
    ("task", "ids"),
    [
        ("wildchat", ["one", "five", "one/2"]),
        ("wildchat:language=German", ["two"]),
        ("wildchat:language=any,toxic=yes", ["one", "two", "three", "five", "one/2"]),
    ],
)
def test_wildchat_asks_what_began_a_conversation(tmp_path: Path, task: str, ids: list[str]) -> None:
    """Those that were answered, in English and not toxic unless asked for; each with its own id."""
    result = questions(task, tmp_path, wildchat=wild_rows())
    assert [item.id for item in result] == ids
    assert [item.sample.index for item in result] == list(range(len(ids)))


def test_wildchat_shows_both_answers_in_both_orders(tmp_path: Path) -> None:
    """The answer that is judged stands first, then second; a judge of the order alone gives it a half."""
    item = questions("wildchat", tmp_path, wildchat=wild_rows())[0]
    first, second = inquiries("wildchat", item, Answer("Ahoy."))
    assert (first.key, second.key) == ("ab", "ba")
    for inquiry, answers in ((first, ("Ahoy.", "Hello.")), (second, ("Hello.", "Ahoy."))):
        user = inquiry.messages[-1]["content"]
        assert f"Assistant A's Answer]\n{answers[0]}\n" in user
        assert f"Assistant B's Answer]\n{answers[1]}\n" in user
    both, either, *_ = workload("wildchat").scorers
    always_first = Answer("Ahoy.", judged={"ab": "[[A]]", "ba": "[[A]]"})
    assert (both.grade({}, always_first).value, either.grade({}, always_first).value) == (0.5, 1.0)
    assert both.grade({}, always_first).metrics == {"consistent": 0.0, "first_place": 1.0}


def test_one_order_is_not_a_comparison() -> None:
    """While one is missing the score is pending; one without a verdict is a judge that failed."""
    grade = workload("wildchat").scorers[0].grade
    assert grade({}, Answer("", judged={"ab": "[[A]]"})).status is Status.JUDGE_PENDING
    assert grade({}, Answer("", judged={"ab": "nobody"})).status is Status.JUDGE_PENDING
    assert grade({}, Answer("", judged={"ab": "nobody", "ba": "[[B]]"})).status is Status.INFRA_ERROR


MT = [
    {"question_id": 81, "category": "writing", "turns": ["Write.", "Again."]},
    {"question_id": 111, "category": "math", "turns": ["1 + 1?", "2 + 2?"]},
]


def answers_of(model: str, **turns: list[str]) -> list[dict[str, Any]]:
    """Answers as FastChat keeps them, by the numbers of their questions."""
    return [
        {"question_id": int(name[1:]), "model_id": model, "choices": [{"index": 0, "turns": turn}]}
        for name, turn in turns.items()
    ]


def test_mt_bench_asks_two_turns_and_has_both_rated(tmp_path: Path) -> None:
    """Mathematics with a reference answer, the second turn with the first; the score is the mean."""
    files = {"question": MT, "gpt-4": answers_of("gpt-4", q111=["2", "4"])}
    writing, maths = questions("mt_bench", tmp_path, **files)
    assert [message["content"] for message in writing.sample.follow_ups[0].messages] == ["Again."]
    assert writing.reference == {"turns": ["Write.", "Again."]}
    first, second = inquiries("mt_bench", maths, Answer("four", earlier=("two",)))
    assert (first.key, second.key) == ("turn_1", "turn_2")
    assert "[The Start of Reference Answer]\n2\n" in first.messages[1]["content"]
    assert "[The Start of Assistant's Answer]\ntwo\n" in first.messages[1]["content"]
    assert "### Reference answer:\n4\n" in second.messages[1]["content"]
    assert (
        "### Assistant A:\ntwo\n\n### User:\n2 + 2?\n\n### Assistant A:\nfour\n"
        in (second.messages[1]["content"])
    )
    plain, _ = inquiries("mt_bench", writing, Answer("b", earlier=("a",)))
    assert "Reference" not in plain.messages[1]["content"]
    judged = {"turn_1": "Rating: [[9]]", "turn_2": "Rating: [[4]]"}
    score = workload("mt_bench").scorers[0].grade({}, Answer("", judged=judged))
    assert (score.value, score.metrics) == (6.5, {"turn_1": 9.0, "turn_2": 4.0})


def test_mt_bench_compares_with_a_baseline(tmp_path: Path) -> None:
    """Four comparisons; a win in both orders is 1, and what the orders disagree about is a tie."""
    baseline = answers_of("base", q81=["x", "y"], q111=["3", "5"]) + answers_of("other", q81=["p", "q"])
    files = {"question": MT, "gpt-4": answers_of("gpt-4", q111=["2", "4"]), "baseline": baseline}
    writing, _ = questions("mt_bench:baseline=base", tmp_path, **files)
    assert writing.reference["baseline"] == ["x", "y"]
    asked = inquiries("mt_bench", writing, Answer("b", earlier=("a",)), scorer=1)
    assert [item.key for item in asked] == ["turn_1_ab", "turn_1_ba", "turn_2_ab", "turn_2_ba"]
    assert "Assistant A's Answer]\nx\n" in asked[1].messages[1]["content"]
    assert "### Assistant B:\nb\n\n<|The End of Assistant B's" in asked[3].messages[1]["content"]
    judged = dict(zip((item.key for item in asked), ("[[A]]", "[[B]]", "[[A]]", "[[C]]"), strict=True))
    score = workload("mt_bench").scorers[1].grade(writing.reference, Answer("", judged=judged))
    assert (score.value, score.extracted) == (0.75, "AB, AC")


def test_mt_bench_cannot_compare_with_nothing() -> None:
    """No judge is asked, and the score says what to do."""
    pairwise = workload("mt_bench").scorers[1]
    assert pairwise.ask is not None
    assert not pairwise.ask({"turns": ["a", "b"]}, Answer(""))
    score = pairwise.grade({"turns": ["a", "b"]}, Answer(""))
    assert (score.status, score.reason) == (
        Status.INFRA_ERROR,
        "no answers to compare with: ask mt_bench:baseline=MODEL",
    )


def test_mt_bench_says_what_its_data_lacks(tmp_path: Path) -> None:
    """A question without a reference answer, or without one of the baseline; a baseline that is not one."""
    with pytest.raises(ColumnError, match="line 2: there is no reference answer to question 111"):
        questions("mt_bench", tmp_path, question=MT, **{"gpt-4": answers_of("gpt-4", q101=["2", "4"])})
    files = {"gpt-4": answers_of("gpt-4", q111=["2", "4"]), "baseline": answers_of("base", q111=["3", "5"])}
    with pytest.raises(ColumnError, match="line 1: there is no answer of base to question 81"):
        questions("mt_bench:baseline=base", tmp_path, question=MT, **files)
    with pytest.raises(TaskError, match=r"baseline=bass: no answers of this model; did you mean 'base'\?"):
        questions("mt_bench:baseline=bass", tmp_path, question=MT, **files)
    with pytest.raises(ColumnError, match="`turns` is not a list of two texts"):
        questions("mt_bench", tmp_path, question=[{**MT[0], "turns": ["one"]}])


def named(task: str, scorer: str) -> Scorer:
    """A scorer of a task by its name."""
    return next(candidate for candidate in workload(task).scorers if candidate.name == scorer)


SUPER = {
    "uuid": "u1",
    "question": "Which is a color?",
    "options": ["stone", "blue", "seven"],
    "answer_letter": "B",
    "discipline": "Art",
    "field": "Painting",
    "subfield": "Colors",
    "difficulty": "easy",
}


def test_supergpqas_judge_sees_the_question_and_not_the_right_letter(tmp_path: Path) -> None:
    """It has the options, their letters and the answer, and is asked at temperature 0."""
    (question,) = questions("supergpqa", tmp_path, SuperGPQA=[SUPER])
    answer = Answer("It is the blue one.", messages=tuple(question.sample.messages()))
    scorer = named("supergpqa", "judge_letter")
    assert scorer.ask is not None
    (asked,) = scorer.ask(question.reference, answer)
    user = asked.messages[-1]["content"]
    assert "Which is a color?\nA) stone\nB) blue\nC) seven" in user
    assert "[Answer]\nIt is the blue one.\n" in user
    assert "The valid letters are: A, B, C.\n" in user
    assert (asked.temperature, asked.max_tokens) == (0.0, 1024)
    changed = {**question.reference, "answer": "C"}
    assert scorer.ask(changed, answer)[0].messages == asked.messages


@pytest.mark.parametrize(
    ("message", "value", "status", "letter"),
    [
        ("Letter: B", 1, "scored", "B"),
        ("It names blue.\n**Letter:** (B)", 1, "scored", "B"),
        ("b", None, "infra_error", None),
        ("B.", 1, "scored", "B"),
        ("Letter: A\nNo, wait.\nLetter: C", 0, "scored", "C"),
        ("Letter: NONE", 0, "unparsed", ""),
        ("Letter: D", None, "infra_error", None),
        ("Letter: A or B", None, "infra_error", None),
        ("Based on the text, B", None, "infra_error", None),
        ("", None, "infra_error", None),
    ],
)
def test_a_judge_takes_the_letter_out(
    message: str, value: float | None, status: str, letter: str | None
) -> None:
    """Only a letter of an option, or NONE, is one; anything else is a reply that cannot be read."""
    reference = {"answer": "B", "options": ["stone", "blue", "seven"]}
    score = named("supergpqa", "judge_letter").grade(reference, Answer("x", judged={"letter": message}))
    assert (score.value, score.status) == (value, status)
    if letter is None:
        assert score.reason == "the judge gave no letter from A to C, nor NONE"
        assert score.details == {"judge_reply": message}
    else:
        payload = {"reference_letter": "B", "candidate_letter": letter, "valid_letters": "ABC"}
        assert score.details == payload


GAIA = {"answer": "17 thousand"}


def test_gaias_judge_is_asked_only_about_what_the_rule_calls_wrong() -> None:
    """What the official rule calls right is right without a judge."""
    scorer = named("gaia", "judge_fallback")
    assert scorer.ask is not None
    right = Answer("FINAL ANSWER: 17 Thousand.")
    assert not scorer.ask(GAIA, right)
    score = scorer.grade(GAIA, right)
    assert (score.value, score.metrics) == (1, {"exact": 1})
    wrong = Answer("It is 17000.", messages=({"role": "user", "content": "How {many}?"},))
    (asked,) = scorer.ask(GAIA, wrong)
    user = asked.messages[-1]["content"]
    assert "[Question]\nHow {many}?\n" in user
    assert "[Response]\nIt is 17000.\n" in user
    assert "[Correct answer]\n17 thousand\n" in user
    assert scorer.grade(GAIA, wrong).status is Status.JUDGE_PENDING


@pytest.mark.parametrize(
    ("message", "value", "reason"),
    [
        (
            '{"extracted_final_answer": "17000", "reasoning": "same", "correct": "yes"}',
            1,
            "the judge says that it means the same",
        ),
        (
            '```json\n{"extracted_final_answer": "18", "reasoning": "off", "correct": "No"}\n```',
            0,
            "another answer, the judge says",
        ),
        ('{"correct": "maybe"}', None, "the judge gave no JSON object with `correct` (yes or no)"),
        ("yes", None, "the judge gave no JSON object with `correct` (yes or no)"),
    ],
)
def test_what_gaias_judge_decides(message: str, value: float | None, reason: str) -> None:
    """Its words are kept with the score: what it extracted, why, and what it decided."""
    score = named("gaia", "judge_fallback").grade(GAIA, Answer("17000", judged={"verdict": message}))
    assert (score.value, score.reason) == (value, reason)
    if value is None:
        assert score.details == {"judge_reply": message}
    else:
        assert score.details["correct"] == ("yes" if value else "no")
        assert set(score.details) == {"extracted_final_answer", "reasoning", "correct"}
        assert score.metrics == {"exact": 0}


@pytest.mark.parametrize(
    ("first", "second", "value", "preference"),
    [
        ("[[A>>B]]", "[[B>>A]]", 1, 1.0),
        ("[[A>B]]", "[[A>B]]", 1, 0.5),
        ("[[A>>B]]", "[[A>>B]]", 1, 0.5),
        ("[[A=B]]", "[[A>>B]]", 1, 0.25),
        ("[[B>A]]", "[[A=B]]", 1, 0.375),
        ("[[B>A]]", "[[A>B]]", 0, 0.25),
        ("[[B>>A]]", "[[A>>B]]", 0, 0.0),
        ("At first [[A>>B]], but in the end [[B>A]]", "[[A>B]]", 0, 0.25),
    ],
)
def test_wildchats_five_verdicts(first: str, second: str, value: float, preference: float) -> None:
    """A win or a tie in either order passes; the last verdict of a reply counts."""
    judged = {"ab": f"Rubric: objective\n{first}", "ba": f"**Rubric:** Objective\n{second}"}
    score = named("wildchat", "five_verdicts").grade({}, Answer("x", judged=judged))
    assert (score.value, score.metrics["preference"]) == (value, preference)
    assert (score.metrics["objective"], score.details) == (1, {"rubric": "objective"})


def test_a_verdict_of_five_steps_that_cannot_be_read_is_shown() -> None:
    """MT-Bench's verdicts, `[[A<B]]` and no verdict are not among the five; both replies are kept."""
    grade = named("wildchat", "five_verdicts").grade
    for message in ("[[A]]", "[[A<B]]", "A>B", ""):
        score = grade({}, Answer("x", judged={"ab": message, "ba": "[[A=B]]"}))
        assert (score.status, score.details) == (Status.INFRA_ERROR, {"judge_reply": f"{message} | [[A=B]]"})
        assert score.reason == "the judge gave no verdict [[A>>B]], [[A>B]], [[A=B]], [[B>A]] or [[B>>A]]"
    undecided = {"ab": "Rubric: subjective [[A=B]]", "ba": "Rubric: objective [[A=B]]"}
    score = grade({}, Answer("x", judged=undecided))
    assert score.value == 1
    assert not {"objective", "subjective"} & set(score.metrics)


def test_wildchats_rubrics_are_in_the_judges_prompt(tmp_path: Path) -> None:
    """The subjective one has five criteria, the objective one correctness alone."""
    item = questions("wildchat", tmp_path, wildchat=wild_rows())[0]
    scorer = named("wildchat", "five_verdicts")
    assert scorer.ask is not None
    first, second = scorer.ask(item.reference, Answer("Ahoy."))
    system, user = first.messages
    subjective = system["content"].partition("Rubric: subjective")[2]
    for criterion in ("correctness", "helpfulness", "relevance", "conciseness", "creativity"):
        assert f"- {criterion}: " in subjective
    assert "Judge by correctness alone." in system["content"].partition("Rubric: subjective")[0]
    assert "[Answer A]\nAhoy.\n" in user["content"]
    assert "[Answer B]\nAhoy.\n" in second.messages[1]["content"]
