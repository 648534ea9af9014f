"""BFCL: what is asked in both modes, which answers are right, and the figures of the categories."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from loadgen.plugins.evals.grading.bfcl import source_calls
from loadgen.plugins.evals.grading.bfcl.first_version import grade as grade_by_v1
from loadgen.plugins.evals.grading.bfcl.official import grade
from loadgen.plugins.evals.tasks.bfcl import CATEGORIES, HEADLINES
from workloads.answer import Answer
from workloads.errors import ColumnError, ExtraError, TaskError
from workloads.question_loading import load
from workloads.score import Status
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from workloads.question import Question

BOIL = {
    "name": "kettle.boil",
    "description": "Boils water.",
    "parameters": {
        "type": "dict",
        "properties": {
            "litres": {"type": "float", "description": "How much."},
            "kind": {"type": "string", "description": "Of what."},
            "steps": {"type": "array", "items": {"type": "integer"}, "description": "Temperatures."},
        },
        "required": ["litres"],
    },
}
POUR = {
    "name": "pour",
    "description": "Pours.",
    "parameters": {
        "type": "dict",
        "properties": {"cup": {"type": "dict", "description": "Into what.", "properties": {}}},
        "required": ["cup"],
    },
}
ADD = {
    "name": "Tea.add",
    "description": "Adds.",
    "parameters": {
        "type": "dict",
        "properties": {
            "leaves": {"type": "ArrayList", "items": {"type": "String"}, "description": "Which."},
            "grams": {"type": "long", "description": "How much."},
            "hot": {"type": "boolean", "description": "Whether."},
            "notes": {"type": "HashMap", "description": "More."},
        },
        "required": ["grams"],
    },
}
SIEVE = {
    "name": "sieve",
    "description": "Sieves.",
    "parameters": {
        "type": "dict",
        "properties": {
            "sizes": {"type": "array", "items": {"type": "float"}, "description": "Holes."},
            "options": {"type": "dict", "properties": {"fine": {"type": "Boolean"}}, "description": "How."},
            "then": {"type": "any", "description": "What next."},
        },
        "required": [],
    },
}
BOILED = {"kettle.boil": {"litres": [1.5, 2], "kind": ["tap water", ""], "steps": [[60, 80], ""]}}
POURED = {"pour": {"cup": [{"size": ["large", "L"], "lid": [True, ""]}]}}
ADDED = {
    "Tea.add": {
        "leaves": [["oolong", "assam"], ""],
        "grams": [5],
        "hot": [True, ""],
        "notes": [{"by": ["me"]}, ""],
    }
}
SIEVED = {"sieve": {"sizes": [[1, 2.5], ""], "options": [{"fine": [True]}, ""], "then": ["stir", ""]}}

ROWS: dict[str, tuple[list[Any], list[Any] | None]] = {
    "simple_python": ([BOIL], [BOILED]),
    "simple_java": ([ADD], [ADDED]),
    "simple_javascript": ([SIEVE], [SIEVED]),
    "multiple": ([POUR, BOIL], [BOILED]),
    "parallel": ([BOIL], [BOILED, {"kettle.boil": {"litres": [3], "kind": [""], "steps": [""]}}]),
    "parallel_multiple": ([BOIL, POUR], [BOILED, POURED]),
    "irrelevance": ([POUR], None),
    "live_relevance": ([POUR], None),
}


def write(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a file as the benchmark has them: JSON Lines that are called `.json`."""
    folder.mkdir(exist_ok=True)
    (folder / f"BFCL_v4_{name}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Questions of our own, laid out as the package `bfcl-eval` has them."""
    folder = tmp_path_factory.mktemp("bfcl")
    for name, (functions, answers) in ROWS.items():
        text = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Tea, please."}]
        asked = [{"id": f"{name}_{n}", "question": [text[1 - n :]], "function": functions} for n in (0, 1)]
        write(folder, name, asked)
        if answers is not None:
            write(
                folder / "possible_answer",
                name,
                [{"id": f"{name}_{n}", "ground_truth": answers} for n in (0, 1)],
            )
    return folder


def questions(data: Path, category: str, mode: str = "fc") -> Sequence[Question]:
    """The questions of a category."""
    return load(parse(f"bfcl:category={category},mode={mode}"), data).questions


def verdict(
    data: Path, category: str, answer: str | Sequence[tuple[str, str]], mode: str | None = None
) -> tuple[float | None, str]:
    """How an answer is judged: a text, or calls of tools; and by what error."""
    mode = mode or ("prompt" if isinstance(answer, str) else "fc")
    reference = json.loads(json.dumps(questions(data, category, mode)[0].reference))
    score = grade(reference, answered(answer))
    return score.value, score.reason.split(": ")[0]


def answered(answer: str | Sequence[tuple[str, str]]) -> Answer:
    """An answer of text, or of calls of tools."""
    if isinstance(answer, str):
        return Answer(answer)
    calls = [{"function": {"name": name, "arguments": arguments}} for name, arguments in answer]
    return Answer("", tool_calls=tuple(calls))


def test_functions_are_tools(data: Path) -> None:
    """Names lose their dots, types become those of JSON schemas, and values of Java are source code."""
    (python,) = questions(data, "simple_python")[0].sample.tools
    assert python["function"]["name"] == "kettle_boil"
    assert python["function"]["description"].endswith(" in Python 3 syntax.")
    assert python["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "litres": {
                "type": "number",
                "description": "How much. This is a float type value.",
                "format": "float",
            },
            "kind": {"type": "string", "description": "Of what."},
            "steps": {"type": "array", "items": {"type": "integer"}, "description": "Temperatures."},
        },
        "required": ["litres"],
    }
    (java,) = questions(data, "simple_java")[0].sample.tools
    leaves = java["function"]["parameters"]["properties"]["leaves"]
    assert leaves["type"] == "string"
    assert "This is Java ArrayList type parameter" in leaves["description"]
    assert "items" not in leaves
    (javascript,) = questions(data, "simple_javascript")[0].sample.tools
    options = javascript["function"]["parameters"]["properties"]["options"]
    assert '{"fine": {"type": "Boolean"}}' in options["description"]
    assert "properties" not in options


def test_a_model_without_tools_has_them_in_its_system_prompt(data: Path) -> None:
    """The prompt comes before what a system prompt of the question says."""
    plain, with_system = questions(data, "multiple", "prompt")
    assert plain.sample.tools == ()
    system, user = plain.sample.messages()
    assert user["content"] == plain.sample.prompt == "Tea, please."
    assert system["content"].startswith("You are an expert in composing functions.You are given")
    assert '"name": "kettle.boil"' in system["content"]
    combined = with_system.sample.messages()[0]["content"]
    assert combined == f"{system['content']}\n\nBe brief."
    assert questions(data, "multiple")[1].sample.messages()[0]["content"] == "Be brief."


def test_the_categories_of_a_run(data: Path) -> None:
    """Categories are joined by plus signs, keep the benchmark's order, and are tags of their questions."""
    asked = questions(data, "parallel+simple_python")
    assert [question.id for question in asked] == [
        "simple_python_0",
        "simple_python_1",
        "parallel_0",
        "parallel_1",
    ]
    assert [question.sample.index for question in asked] == [0, 1, 2, 3]
    assert asked[2].sample.tags == {"category": "parallel", "group": "non_live", "language": "python"}
    assert sum(category.rows for category in CATEGORIES.values()) == 3641


@pytest.mark.parametrize(
    ("category", "answer", "value", "error"),
    [
        ("simple_python", [("kettle_boil", '{"litres": 1.5}')], 1, ""),
        ("simple_python", [("kettle_boil", '{"litres": 2, "kind": "TAP-water"}')], 1, ""),
        ("simple_python", [("kettle_boil", '{"litres": 2, "steps": [60, 80]}')], 1, ""),
        ("simple_python", [("kettle.boil", '{"litres": 2}')], 0, "simple_function_checker:wrong_func_name"),
        ("simple_python", [("kettle_boil", "{}")], 0, "simple_function_checker:missing_required"),
        (
            "simple_python",
            [("kettle_boil", '{"litres": 2, "x": 1}')],
            0,
            "simple_function_checker:unexpected_param",
        ),
        ("simple_python", [("kettle_boil", '{"litres": "2"}')], 0, "type_error:simple"),
        ("simple_python", [("kettle_boil", '{"litres": true}')], 0, "type_error:simple"),
        ("simple_python", [("kettle_boil", '{"litres": 1}')], 0, "value_error:others"),
        ("simple_python", [("kettle_boil", '{"litres": 2, "kind": "rain"}')], 0, "value_error:string"),
        ("simple_python", [("kettle_boil", '{"litres": 2, "steps": [80, 60]}')], 0, "value_error:list/tuple"),
        ("simple_python", [("kettle_boil", "not JSON")], 0, "ast_decoder:decoder_failed"),
        ("simple_python", [("kettle_boil", "[1]")], 0, "ast_decoder:decoder_wrong_output_format"),
        ("simple_python", [], 0, "simple_function_checker:wrong_count"),
        ("simple_python", [("kettle_boil", '{"litres": 2}')] * 2, 0, "simple_function_checker:wrong_count"),
        ("simple_python", "[kettle.boil(litres=3/2, kind='tap water')]", 1, ""),
        ("simple_python", "```\nkettle.boil(litres=2)\r\n```", 1, ""),
        ("simple_python", "kettle.boil(litres=2, steps=(60, 80))", 0, "type_error:simple"),
        ("simple_python", "kettle.boil(litres=+2)", 0, "value_error:others"),
        ("simple_python", "I will: kettle.boil(litres=2)", 0, "ast_decoder:decoder_failed"),
        ("simple_python", "", 0, "simple_function_checker:wrong_count"),
        ("simple_python", "[kettle.boil(litres=2), 'x']", 0, "ast_decoder:decoder_failed"),
        ("multiple", "[kettle.boil(litres=2)]", 1, ""),
        ("multiple", "[pour(cup={})]", 0, "simple_function_checker:wrong_func_name"),
        ("multiple", "[]", 0, "multiple_function_checker:wrong_count"),
        ("parallel", "[kettle.boil(litres=3), kettle.boil(litres=2)]", 1, ""),
        ("parallel", "[kettle.boil(litres=3)]", 0, "parallel_function_checker_no_order:wrong_count"),
        (
            "parallel",
            "[kettle.boil(litres=3), kettle.boil(litres=3)]",
            0,
            "parallel_function_checker_no_order:cannot_find_match",
        ),
        ("parallel_multiple", "[pour(cup={'size': 'l'}), kettle.boil(litres=2)]", 1, ""),
        ("irrelevance", "Nothing there makes tea.", 1, "ast_decoder:decoder_failed"),
        ("irrelevance", "[]", 1, ""),
        ("irrelevance", "[pour(cup={})]", 0, "irrelevance_error:decoder_success"),
        ("irrelevance", [("pour", "not JSON")], 1, "ast_decoder:decoder_failed"),
        ("live_relevance", [("pour", "{}")], 1, ""),
        ("live_relevance", [], 0, "relevance_error:decoder_failed"),
        ("live_relevance", "No.", 0, "relevance_error:decoder_failed"),
    ],
)
def test_an_answer(
    data: Path, category: str, answer: str | list[tuple[str, str]], value: float, error: str
) -> None:
    """Calls are compared with the values that are allowed, by declared types; errors have official names."""
    assert verdict(data, category, answer) == (value, error)


@pytest.mark.parametrize(
    ("category", "answer", "value", "error"),
    [
        (
            "simple_java",
            '[Tea.add(grams=5L, leaves=new ArrayList<>(Arrays.asList("oolong", "assam")), notes=x)]',
            0,
            "type_error:simple",
        ),
        (
            "simple_java",
            '[Tea.add(grams=5L, leaves="new ArrayList<>(Arrays.asList(\\"a\\"))")]',
            0,
            "value_error:list/tuple",
        ),
        ("simple_java", "Tea.add(grams=5L, hot=true)", 1, ""),
        ("simple_java", "[Tea.add(grams=5)]", 0, "type_error:simple"),
        ("simple_java", "[Tea.add(grams=5L, grams=5L)]", 0, "ast_decoder:decoder_failed"),
        ("simple_java", "Tea add", 0, "ast_decoder:decoder_wrong_output_format"),
        ("simple_java", "[]", 0, "ast_decoder:decoder_wrong_output_format"),
        ("simple_java", "[Tea.add(grams=]", 0, "ast_decoder:decoder_failed"),
        ("simple_java", [("Tea_add", '{"grams": 5}')], 0, "type_error:java"),
        (
            "simple_java",
            [
                (
                    "Tea_add",
                    json.dumps(
                        {"grams": "5L", "notes": 'new HashMap<String, String>() {{ put("by", "me"); }}'}
                    ),
                )
            ],
            1,
            "",
        ),
        (
            "simple_java",
            [
                (
                    "Tea_add",
                    json.dumps(
                        {
                            "grams": "5L",
                            "leaves": 'new ArrayList<String>() {{ add("oolong"); add("Assam"); }}',
                        }
                    ),
                )
            ],
            1,
            "",
        ),
        (
            "simple_javascript",
            "[sieve(sizes=[1, 2.5], options={fine: true}, then='stir')]",
            1,
            "",
        ),
        ("simple_javascript", "[sieve(sizes=[1, x])]", 0, "value_error:list/tuple"),
        ("simple_javascript", "[sieve(options={'fine': true}, then=stir)]", 1, ""),
        ("simple_javascript", "sieve(options={fine: false})", 0, "value_error:dict_value"),
        ("simple_javascript", [("sieve", '{"then": 1}')], 0, "type_error:js"),
        ("simple_javascript", "const a = 1", 0, "ast_decoder:decoder_wrong_output_format"),
    ],
)
def test_an_answer_in_source_code(
    data: Path, category: str, answer: str | list[tuple[str, str]], value: float, error: str
) -> None:
    """Java and JavaScript are read by their grammars, and their literals as the types that are declared."""
    assert verdict(data, category, answer) == (value, error)


def test_an_output_that_cannot_be_decoded_is_unparsed(data: Path) -> None:
    """It is wrong and unparsed; a decoded answer is kept as it was understood."""
    reference = questions(data, "simple_python", "prompt")[0].reference
    assert grade(reference, Answer("no")).status is Status.UNPARSED
    score = grade(reference, Answer("[kettle.boil(litres=9)]"))
    assert (score.status, score.extracted) == (Status.SCORED, "[{'kettle.boil': {'litres': 9}}]")
    assert score.reason == "value_error:others: litres: 9.0 is not one of [1.5, 2]"


def test_the_first_version_judges_otherwise(data: Path) -> None:
    """It puts no brackets around a text, and wants exactly the members of an object."""
    reference = questions(data, "parallel_multiple", "prompt")[0].reference
    left_out = Answer("[kettle.boil(litres=2), pour(cup={'size': 'L'})]")
    complete = Answer("[kettle.boil(litres=2), pour(cup={'size': 'L', 'lid': True})]")
    assert (grade(reference, left_out).value, grade_by_v1(reference, left_out).value) == (1, 0)
    assert grade_by_v1(reference, complete).value == 1
    bare = Answer(" [kettle.boil(litres=2), pour(cup={'size': 'L', 'lid': True})]")
    assert (grade(reference, bare).value, grade_by_v1(reference, bare).value) == (1, 0)


def test_columns_of_the_leaderboard() -> None:
    """Languages, then kinds weigh the same; live questions weigh by their number; a part is not a column."""
    shares = {"simple_python": 1, "simple_java": 0, "simple_javascript": 0.5, "multiple": 1, "parallel": 0}
    live = {"live_simple": 1, "live_multiple": 0, "live_parallel": 0, "live_parallel_multiple": 0}
    shares |= {
        "parallel_multiple": 0.5,
        "irrelevance": 1,
        "live_irrelevance": 0.5,
        "live_relevance": 0,
    } | live
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE scores (value DOUBLE, tags MAP(VARCHAR, VARCHAR))")
        for name, share in shares.items():
            row = "INSERT INTO scores SELECT ?, MAP {'category': ?} FROM range(?)"
            connection.execute(row, [share, name, 3 if name == "live_simple" else 1])
        assert [headline.name for headline in HEADLINES][1:] == [
            "non_live",
            "live",
            "hallucination",
            "relevance",
        ]
        sql = ", ".join(headline.sql for headline in HEADLINES)
        figures = connection.sql(f"SELECT {sql} FROM scores")  # noqa: S608 (the benchmark's own)
        assert figures.fetchall() == [
            (
                pytest.approx(7.5 / 15),
                pytest.approx((0.5 + 1 + 0 + 0.5) / 4),
                pytest.approx(3 / 6),
                pytest.approx(0.75),
                0,
            )
        ]
        connection.execute("DELETE FROM scores WHERE tags['category'] IN ('simple_java', 'live_parallel')")
        assert connection.sql("SELECT * FROM figures").fetchall() == [
            (pytest.approx(7.5 / 13), None, None, pytest.approx(0.75), 0)
        ]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("bfcl:category=parralel", "'parallel'"),
        ("bfcl:mode=promt", "'prompt'"),
        ("bfcl:category=multi_turn_base", "live"),
    ],
)
def test_an_option_that_there_is_not(data: Path, text: str, named: str) -> None:
    """The message names the ones that there are."""
    with pytest.raises(TaskError, match=named):
        load(parse(text), data)


@pytest.mark.parametrize(
    ("row", "answer", "message"),
    [
        ({"question": "Tea?"}, {}, r"BFCL_v4_multiple.json, line 1: 'question' must be a list of one turn"),
        ({"function": [{"name": "f"}]}, {}, r"line 1: 'function' must be a list of objects"),
        ({}, {"id": "other"}, r"possible_answer/BFCL_v4_multiple.json, line 1: the answer to 'other'"),
        ({}, {"ground_truth": [{"cook": {}}]}, r"line 1: 'ground_truth' must be a list of calls of pour"),
    ],
)
def test_a_file_that_is_not_the_benchmarks(
    tmp_path: Path, row: dict[str, Any], answer: dict[str, Any], message: str
) -> None:
    """The message says in which line of which file, and what should be there."""
    asked = {"id": "q", "question": [[{"role": "user", "content": "Tea?"}]], "function": [POUR], **row}
    write(tmp_path, "multiple", [asked, asked])
    expected = {"id": "q", "ground_truth": [POURED], **answer}
    write(tmp_path / "possible_answer", "multiple", [expected, expected])
    with pytest.raises(ColumnError, match=message):
        questions(tmp_path, "multiple")


def test_fewer_answers_than_questions(tmp_path: Path) -> None:
    """Files of two releases do not go together."""
    asked = {"id": "q", "question": [[{"role": "user", "content": "Tea?"}]], "function": [POUR]}
    write(tmp_path, "multiple", [asked] * 3)
    write(tmp_path / "possible_answer", "multiple", [{"id": "q", "ground_truth": [POURED]}] * 2)
    with pytest.raises(ColumnError, match="2 answers to 3 questions"):
        questions(tmp_path, "multiple")


def test_a_grammar_that_is_not_installed(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is missed before anything is asked, and only where source code is to be read."""
    source_calls.parser.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_java", None)
    assert questions(data, "simple_java")
    with pytest.raises(ExtraError, match=r"pip install 'llm-loadgen\[bfcl\]'"):
        questions(data, "simple_java", "prompt")


POUR_AS_JSON = '{"name": "pour", "arguments": {"cup": {"size": "l"}}}'
BOIL_AS_JSON = '{"name": "kettle_boil", "arguments": {"litres": 2}}'


@pytest.mark.parametrize(
    ("category", "answer", "value", "error"),
    [
        ("parallel_multiple", "[pour(cup={'size': 'l'}), kettle.boil(litres=2)]", 1, ""),
        (
            "parallel_multiple",
            f"```json\n[{POUR_AS_JSON}, {BOIL_AS_JSON}]\n```",
            1,
            "",
        ),
        (
            "parallel_multiple",
            [("pour", '{"cup": {"size": "l"}}'), ("kettle_boil", '{"litres": 2}')],
            1,
            "",
        ),
        ("parallel_multiple", "I boil water.", 0, "ast_decoder:decoder_failed"),
        ("irrelevance", "Nothing there makes tea.", 1, "ast_decoder:decoder_failed"),
        ("irrelevance", "pour(cup={})", 0, "irrelevance_error:decoder_success"),
        ("live_relevance", "pour(cup={})", 1, ""),
        ("live_relevance", "", 0, "relevance_error:decoder_failed"),
        ("simple_java", "Tea.add(grams=5L, hot=true)", 1, ""),
        ("simple_java", [("Tea_add", '{"grams": 5}')], 0, "type_error:java"),
    ],
)
def test_calls_of_tools_or_calls_in_the_text(
    data: Path, category: str, answer: str | list[tuple[str, str]], value: float, error: str
) -> None:
    """With mode=auto: what the endpoint gave as calls, else what the text has, as JSON or as source code."""
    asked = questions(data, category, "auto")[0]
    assert asked.sample.tools
    assert verdict(data, category, answer, mode="auto") == (value, error)


def test_source_code_beyond_the_bound_is_not_read(data: Path) -> None:
    """The grammars take quadratic time over some texts."""
    assert verdict(data, "simple_javascript", "word: " * 20_000) == (0, "ast_decoder:decoder_failed")
