"""Selection of tools: sets and descriptions in YAML, name matches step by step, scores of variants."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from loadgen.plugins.tool_selection.selection_task import HEADLINES, LEVELS, grade, grade_text, levels
from loadgen.plugins.tool_selection.tool_files import load_model_config
from loadgen.plugins.tool_selection.tool_sets import DescribedTool
from workloads.answer import Answer
from workloads.benchmark import dataset
from workloads.errors import ColumnError, MalformedError, SourceError, TaskError
from workloads.question_loading import load
from workloads.score import Status
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


SETS = ("2-tool", "4-tool", "8-tool")
SQL = {item.name: item.sql for item in HEADLINES}
TOOLS = """\
name: mine
tools:
  - {name: look, what: Look something up., parameters: {word: string, 'deep?': boolean}}
  - {name: save, what: Keep a text., when: To keep it., parameters: {text: string, where: [here, there]}}
tool_mapping: {find: look}
"""


def calls(*names: str) -> Answer:
    """An answer that calls tools."""
    return Answer("", tool_calls=tuple({"function": {"name": name, "arguments": "{}"}} for name in names))


def steps(*right: Sequence[str] | str, **more: Any) -> dict[str, Any]:
    """A reference of steps, each with one tool that is right or several."""
    payload = [[item] if isinstance(item, str) else list(item) for item in right]
    return {"steps": payload, "mode": "fc", "known": ["a", "b", "c"], **more}


def figures(rows: Sequence[tuple[float, float | None, float | None]]) -> Mapping[str, Any]:
    """All headlines over samples: their value, input tokens, output tokens."""
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE scores (value DOUBLE, input_tokens BIGINT, output_tokens BIGINT, "
            "metrics MAP(VARCHAR, DOUBLE))"
        )
        for row in rows:
            connection.execute(
                "INSERT INTO scores VALUES "
                "(?, ?, ?, MAP {'steps': 1.0, 'input_cost': 1.0, 'output_cost': 4.0})",
                list(row),
            )
        asked = ", ".join(SQL.values())
        result = connection.execute(f"SELECT {asked} FROM scores").fetchall()  # noqa: S608 (SQL of the scorer)
        return dict(zip(SQL, result[0], strict=True))


def test_the_scenarios_are_of_all_levels_and_fit_all_tool_sets() -> None:
    """The same ones are asked of each tool set, with the tools that it has for them, in any words."""
    asked = []
    for tools, style in product(SETS, ("own", "minimal", "verbose")):
        questions = load(parse(f"tool_selection:tools={tools},descriptions={style}")).questions
        names = [tool["function"]["name"] for tool in questions[0].sample.tools]
        assert len(names) == int(tools[0])
        assert {
            name for question in questions for step in question.reference["steps"] for name in step
        } <= set(names)
        asked.append([(question.id, question.sample.prompt, question.sample.tags) for question in questions])
    assert all(item == asked[0] for item in asked)
    counts = Counter(tags["level"] for _, _, tags in asked[0])
    assert tuple(counts) == LEVELS
    assert tuple(counts.values()) == (45, 25, 20, 25, 28, 42)
    assert len({prompt for _, prompt, _ in asked[0]}) == 185


@pytest.mark.parametrize("tools", SETS)
def test_right_answers(tools: str) -> None:
    """Every scenario has one, as calls and as text; no tool alone is right half of the time."""
    for mode, judge in (("fc", grade), ("prompt", grade_text)):
        questions = load(parse(f"tool_selection:tools={tools},mode={mode}")).questions
        for question in questions:
            right = [step[-1] for step in question.reference["steps"]]
            answer = calls(*right) if right else Answer("None of my tools does that.")
            answer = answer if mode == "fc" else Answer(json.dumps(right))
            assert (judge(question.reference, answer).value, judge(question.reference, answer).reason) == (
                1,
                "",
            )
        for name in questions[0].reference["known"] if tools != "2-tool" else ():
            same = calls(name) if mode == "fc" else Answer(name)
            assert (
                sum(judge(question.reference, same).value or 0 for question in questions) < len(questions) / 2
            )


@pytest.mark.parametrize(
    ("reference", "answer", "value", "share"),
    [
        (steps("a"), calls("a"), 1, 1),
        (steps("a"), calls("A"), 0, 0),
        (steps("a"), calls("a", "a"), 0, 0.5),
        (steps("a"), Answer("I would call a."), 0, 0),
        (steps("a", "b"), calls("a", "b"), 1, 1),
        (steps("a", "b"), calls("b", "a"), 0, 0),
        (steps("a", "b"), calls("a"), 0, 0.5),
        (steps("a", "a"), calls("a", "a"), 1, 1),
        (steps(("a", "b")), calls("b"), 1, 1),
        (steps(("a", "b")), calls("a", "b"), 0, 0.5),
        (steps(("a", "b")), calls("c"), 0, 0),
        (steps(), Answer("There is no tool for that."), 1, 1),
        (steps(), calls("a"), 0, 0),
        (steps("a"), Answer("", tool_calls=({"function": None},)), 0, 0),
    ],
)
def test_names_match_step_by_step(
    reference: Mapping[str, Any], answer: Answer, value: float, share: float
) -> None:
    """All of them, in order, and no call more; of several that are valid any."""
    score = grade(reference, answer)
    assert (score.value, score.status, score.metrics["steps"]) == (value, Status.SCORED, share)
    assert bool(score.reason) == (value == 0)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('["a", "b"]', "a, b"),
        ('I think:\n```json\n[{"name": "a"}, {"tool": "b", "arguments": {}}]\n```', "a, b"),
        ('{"tool": "a"}', "a"),
        ("a", "a"),
        ("a,\r\nb", "a, b"),
        ("`a` -> `b`", "a, b"),
        ("[]", "no call"),
        ('["z"]', "z"),
        ("", None),
        ("I call a", None),
        ("[1]", None),
        ('{"steps": 1}', None),
    ],
)
def test_names_in_a_text(text: str, names: str | None) -> None:
    """A list in JSON, or nothing but names of tools that there are."""
    score = grade_text(steps("a", "b", mode="prompt"), Answer(text))
    assert score.extracted == names
    assert score.status == (Status.UNPARSED if names is None else Status.SCORED)
    assert score.value == (names == "a, b")


def test_an_empty_answer_scores_nothing() -> None:
    """It says nothing where saying something would be right."""
    score = grade(steps(), Answer(" \n"))
    assert (score.value, score.status) == (0, Status.UNPARSED)


def test_text_needs_its_scorer() -> None:
    """The official one would count every answer as wrong."""
    question = load(parse("tool_selection:mode=prompt")).questions[0]
    assert not question.sample.tools
    with pytest.raises(TaskError, match="--scorer tool_selection=text"):
        grade(question.reference, Answer("[]"))


def test_the_published_scores() -> None:
    """0.853 of 54 of 55 with 704 and 81 tokens; 1.000 of all of them with 1,065 and 80."""
    cheap = figures([(float(n < 54), 704, 81) for n in range(55)])
    assert round(cheap["cost_optimized"], 3) == 0.853
    assert cheap["maximum_accuracy"] == cheap["accuracy"] == pytest.approx(54 / 55)
    assert cheap["composite"] == pytest.approx(0.6 * 54 / 55 + 0.25 / 1.704 + 0.15 / 1.162)
    assert figures([(1, 1065, 80)] * 55)["accuracy_balanced"] == 1
    assert figures([(1, 2800, 200)] * 2)["accuracy_balanced"] == 0.5
    assert (cheap["input_tokens"], cheap["output_tokens"], cheap["steps"]) == (704, 81, 1)
    assert cheap["cost_of_1000"] == pytest.approx((704 + 4 * 81) / 1000)
    assert cheap["cost_of_1000_correct"] == pytest.approx(55 / 54 * (704 + 4 * 81) / 1000)


def test_scores_of_nothing() -> None:
    """No examples are 0; without token counts, what takes them is not defined."""
    names = ("cost_optimized", "accuracy_balanced", "maximum_accuracy", "composite")
    assert [figures([])[name] for name in names] == [0, 0, 0, 0]
    uncounted = figures([(1, None, None)])
    assert [uncounted[name] for name in names] == [None, None, 1, None]


def test_levels_are_chosen() -> None:
    """By their names or numbers, in any order."""
    for text in ("edge+simple", "L5+l1"):
        questions = load(parse(f"tool_selection:levels={text}")).questions
        assert Counter(question.sample.tags["level"] for question in questions) == {"simple": 45, "edge": 28}
    assert levels("all") == LEVELS


def test_formats_of_descriptions() -> None:
    """A few words, running text, or labels; in a request and in a prompt."""
    words = {"what": "Find a note.", "when": "To read it.", "returns": "The note."}
    tool = DescribedTool("find", words, {})
    assert tool.description("minimal") == "Find a note."
    assert tool.description() == "Find a note. To read it. The note."
    assert tool.description("full") == "WHAT: Find a note.\nWHEN: To read it.\nRETURNS: The note."
    options = "descriptions=verbose,format=full"
    called, listed = (
        load(parse(f"tool_selection:{options},mode={mode}")).questions[0].sample for mode in ("fc", "prompt")
    )
    assert called.tools[0]["function"]["description"].startswith("WHAT: Adds one new paragraph")
    assert "- new_paragraph: WHAT: Adds one new paragraph" in str(listed.messages())
    assert "  WHEN: Whenever there is new text" in str(listed.messages())


def test_default_descriptions(tmp_path: Path) -> None:
    """Those of the tool set, unless a file has that name."""
    own, default = (
        load(parse(f"tool_selection:descriptions={style}")).questions[0].sample.tools
        for style in ("own", "default")
    )
    assert own == default
    (tmp_path / "descriptions__default.yaml").write_text("tools: [{name: new_paragraph, what: Add.}]")
    replaced = load(parse("tool_selection:descriptions=default"), tmp_path).questions[0].sample.tools
    assert replaced[0]["function"]["description"] == "Add."


PUBLISHED = """\
name: "My tool set"
tool_count: 3

tools:
  - name: insert_text
    what: "Insert text at a position."
    when: "Use it to add new text."
  - name: remove_text
    what: "Remove text."
    when: "Use it to delete text."

tool_mapping:
  insert_before: insert_text
  insert_after: insert_text
  delete: remove_text
"""


def test_a_tool_set_with_fewer_tools_and_operations_than_it_says(tmp_path: Path) -> None:
    """It loads; notes say what was counted, and which scenarios were left out."""
    (tmp_path / "tool_sets__mine.yaml").write_text(PUBLISHED)
    loaded = load(parse("tool_selection:tools=mine"), tmp_path)
    first, second = loaded.facts["notes"]
    assert first == "tool_sets__mine.yaml: tool_count is 3, the file has 2 tools"
    left_out = 185 - len(loaded.questions)
    assert second.startswith(
        f"{left_out} scenarios left out: the tool set mine has no tool for replace, append"
    )
    asked = {name for question in loaded.questions for step in question.reference["steps"] for name in step}
    assert asked == {"insert_text", "remove_text"}


def test_packaged_models() -> None:
    """Their prices, names and limits."""
    for name in ("gpt-5-mini", "claude-haiku-4.5", "gemini-3-flash"):
        model = load_model_config(name, None)
        assert (model.provider, model.temperature) == ("openrouter", 0)
        assert model.model_id.endswith(name) or name == "gemini-3-flash"
        assert 0 < model.input_cost < model.output_cost
        assert model.requests_per_minute
        assert model.tokens_per_minute


def test_files_of_ones_own(tmp_path: Path) -> None:
    """Tool sets, descriptions, models and scenarios are found by their names in a folder of data."""
    (tmp_path / "tool_sets").mkdir()
    (tmp_path / "tool_sets" / "mine.yaml").write_text(TOOLS)
    (tmp_path / "descriptions__short.yml").write_text("tools: [{name: look, what: Look.}]")
    (tmp_path / "models__cheap.yaml").write_text("input_cost: 0.5\noutput_cost: 2")
    row = {"id": "1", "level": "simple", "ask": "Find 'tea', then keep it.", "expect": ["find", "save"]}
    (tmp_path / "scenarios.jsonl").write_text(json.dumps(row))
    loaded = load(parse("tool_selection:tools=mine,descriptions=short,model=cheap"), tmp_path)
    (question,) = loaded.questions
    assert loaded.facts["source"] == "data"
    assert question.reference["steps"] == [["look"], ["save"]]
    assert grade(question.reference, calls("look", "save")).metrics == {
        "steps": 1,
        "input_cost": 0.5,
        "output_cost": 2,
    }
    look, save = (tool["function"] for tool in question.sample.tools)
    assert (look["description"], save["description"]) == ("Look.", "Keep a text. To keep it.")
    assert look["parameters"]["required"] == ["word"]
    assert save["parameters"]["properties"]["where"] == {"type": "string", "enum": ["here", "there"]}
    assert load(parse("tool_selection:tools=8-tool,descriptions=minimal"), None).facts["source"] == "package"


@pytest.mark.parametrize(
    ("options", "file", "content", "message"),
    [
        ("tools=mne", "tool_sets__mine.yaml", TOOLS, "no file mne.yaml; did you mean 'mine'"),
        ("descriptions=x", "descriptions__y.yaml", "a: b", "descriptions has no file x.yaml"),
        ("model=x", "models__y.yaml", "a: b", "models has no file x.yaml"),
        ("mode=promt", "x", "", "mode=promt: must be fc or prompt; did you mean 'prompt'"),
        ("tools=mine", "tool_sets__mine.yaml", "- a", "must hold keys and values"),
        ("tools=mine", "tool_sets__mine.yaml", "tools: [", "is not YAML"),
        ("tools=mine", "tool_sets__mine.yaml", "a: 1\na: 2", "line 2: the key 'a' stands twice"),
        ("tools=mine", "tool_sets__mine.yaml", "tools: &x [*x]", "no aliases: write out what .x stands for"),
        ("tools=mine", "tool_sets__mine.yaml", "tools: []", "tools: must be a list of tools"),
        ("tools=mine", "tool_sets__mine.yaml", "tool: []", "unknown key 'tool' here; did you mean 'tools'"),
        (
            "tools=mine",
            "tool_sets__mine.yaml",
            "tools: [{name: a}]",
            r"tools\[0\]: the key 'what' is missing",
        ),
        ("tools=mine", "tool_sets__mine.yaml", "tools: [{name: 1, what: b}]", r"\[0\].name: must be text"),
        ("levels=L1+hard", "x", "", "levels=hard: must be simple or"),
        ("format=short", "x", "", "format=short: must be compact or minimal or full"),
        (
            "tools=mine",
            "tool_sets__mine.yaml",
            f"{TOOLS[:-2]}, get: lok}}",
            "tool_mapping.get: 'lok' is not one",
        ),
        (
            "tools=mine",
            "tool_sets__mine.yaml",
            "tools: [{name: a, what: b, parameters: {c: text}}]",
            r"tools\[0\].parameters.c: must be one of string, integer",
        ),
        ("tools=mine", "tool_sets__mine.yaml", TOOLS, "the tool set mine has no tool for delete, replace"),
        (
            "descriptions=x",
            "descriptions__x.yaml",
            "tools: [{name: a, what: b}]",
            "describes none of the tools",
        ),
        ("model=x", "models__x.yaml", "input_cost: -1", "input_cost: must be dollars per million tokens"),
        (
            "tools=4-tool",
            "scenarios.jsonl",
            '{"id":"1","level":"hard","ask":"a","expect":[]}',
            "'level' must be",
        ),
        (
            "tools=4-tool",
            "scenarios.jsonl",
            '{"id":"1","level":"edge","ask":"a","expect":"b"}',
            "list of steps",
        ),
        (
            "tools=4-tool",
            "scenarios.jsonl",
            '{"id":"1","level":"edge","ask":"","expect":[]}',
            "'ask' must be text",
        ),
        (
            "tools=4-tool",
            "scenarios.jsonl",
            '{"id":"1","level":"edge","ask":"a","expect":[[]]}',
            "no tool for",
        ),
    ],
)
def test_bad_files(tmp_path: Path, options: str, file: str, content: str, message: str) -> None:
    """Each says which file, which key, and what would be right."""
    (tmp_path / file).write_text(content)
    with pytest.raises((SourceError, MalformedError, ColumnError, TaskError), match=message):
        load(parse(f"tool_selection:{options}"), tmp_path)


def test_tool_sets_side_by_side() -> None:
    """Several are asked in one run, each its own task with the same scenarios."""
    both = dataset([parse("tool_selection:tools=2-tool"), parse("tool_selection:tools=8-tool")])
    first, second = both.tasks
    assert (first["count"], second["first"]) == (second["count"], first["count"])
    assert [question.id for question in both.questions[: first["count"]]] == [
        question.id for question in both.questions[first["count"] :]
    ]
