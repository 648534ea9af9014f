"""Functions of the user's own judge answers: both kinds, and every way in which one can fail to."""

from __future__ import annotations

import pickle
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from workloads.answer import Answer
from workloads.errors import EvalError
from workloads.evals import eval_scorer
from workloads.score import Status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from workloads.scorer import Scorer

REFERENCE = {"id": "r7", "ground_truth": "2", "more": {"level": 3}}
ANSWER = Answer(
    "2",
    reasoning="hm",
    messages=({"role": "system", "content": "Be brief."}, {"role": "user", "content": "1 + 1?"}),
)


@pytest.fixture
def scorer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Callable[..., Scorer]:
    """Make a scorer of the function `score` of a module with this text, in a separate folder."""
    name = f"graders_{abs(hash(request.node.nodeid))}"
    monkeypatch.setattr("sys.path", list(sys.path))

    def make(source: str, function: str = "score") -> Scorer:
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        return eval_scorer(f"{name}:{function}", tmp_path)

    return make


@pytest.mark.parametrize(
    "signature",
    [
        "def score(solution_str, ground_truth, extra_info=None, **kw)",
        "async def score(solution_str, ground_truth, extra_info=None, **kw)",
        "def score(solution_str, ground_truth, extra_info)",
        "def score(solution_str, ground_truth, **kw)",
    ],
)
def test_of_the_text(signature: str, scorer: Callable[..., Scorer]) -> None:
    """The first kind is given the answer without its reasoning, the truth, and the row."""
    extra = "kw['extra_info']" if "extra" not in signature else "extra_info"
    wanted = {"user_prompt": "1 + 1?", "system_prompt": "Be brief.", "ground_truth": "2", "level": 3}
    made = scorer(f"{signature}: return (solution_str, ground_truth, {extra}) == ('2', '2', {wanted!r})")
    score = made.grade(REFERENCE, ANSWER)
    assert (score.value, score.status) == (1.0, Status.SCORED)


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_of_the_messages(kind: str, scorer: Callable[..., Scorer]) -> None:
    """The second kind is given the conversation, the answer last, with its calls of tools."""
    made = scorer(
        f"{kind} score(messages, ground_truth, metadata, **kw):\n"
        "    assert [one['role'] for one in messages] == ['system', 'user', 'assistant']\n"
        "    assert messages[-1]['tool_calls'][0]['function']['name'] == 'add'\n"
        "    return metadata['level'] / 4 if messages[-1]['content'] == ground_truth else 0\n"
    )
    calls = ({"function": {"name": "add", "arguments": "{}"}},)
    answer = Answer("2", messages=ANSWER.messages, tool_calls=calls)
    assert made.grade(REFERENCE, answer).value == 0.75


def test_of_a_benchmark(scorer: Callable[..., Scorer]) -> None:
    """A reference without a ground_truth gives its answer, and all of it as the row."""
    made = scorer(
        "def score(solution_str, ground_truth, extra_info):\n"
        "    return ground_truth == 'C' and extra_info['options'] == 4\n"
    )
    assert made.grade({"answer": "C", "options": 4}, ANSWER).value == 1.0


def test_without_the_row(scorer: Callable[..., Scorer]) -> None:
    """A function that takes the answer and the truth alone is given no more."""
    made = scorer("def score(solution_str, ground_truth): return solution_str == ground_truth")
    assert made.grade(REFERENCE, ANSWER).value == 1.0


@pytest.mark.parametrize(
    ("value", "score"), [("True", 1.0), ("False", 0.0), ("3", 3.0), ("-0.5", -0.5), ("1e300", 1e300)]
)
def test_numbers(value: str, score: float, scorer: Callable[..., Scorer]) -> None:
    """Any finite number is a score."""
    assert (
        scorer(f"def score(solution_str, ground_truth): return {value}").grade(REFERENCE, ANSWER).value
        == score
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return '1.0'", "returned '1.0', where a number should be"),
        ("return None", "returned None, where"),
        ("return float('nan')", "returned nan, where"),
        ("return float('-inf')", "returned -inf, where"),
        ("return [1]", r"returned \[1\], where"),
        ("return 1j", "returned 1j, where"),
        ("yield 1", "returned <generator object"),
        ("return 'x' * 9999", "returned 'x{299}…, where"),
        ("return 10 ** 400", "raised OverflowError"),
        ("return {}['key']", r"raised KeyError: 'key' \(graders_\d+.py, line 2\)$"),
        ("raise ValueError('a\\nb')", r"raised ValueError: a b \(graders_\d+.py, line 2\)$"),
        ("raise SystemExit(3)", "raised SystemExit: 3"),
        ("raise BaseException", "raised BaseException: "),
        ("assert 0", "raised AssertionError"),
        ("import json; json.loads('{')", r"raised JSONDecodeError: .* \(graders_\d+.py, line 2\)$"),
    ],
)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_no_score(kind: str, body: str, message: str, scorer: Callable[..., Scorer]) -> None:
    """No number, or an exception, is not a score of 0: there is no score, but the row and the reason."""
    if kind == "async def" and body.startswith("yield"):
        message = "returned <async_generator object"
    score = scorer(f"{kind} score(solution_str, ground_truth, **kw):\n    {body}\n").grade(REFERENCE, ANSWER)
    assert (score.value, score.status) == (None, Status.INFRA_ERROR)
    assert score.reason.startswith("row r7: graders_")
    assert re.search(message, score.reason), score.reason


def test_an_interrupt_is_the_users(scorer: Callable[..., Scorer]) -> None:
    """Ctrl-C while a function judges ends the scoring, not the row."""
    made = scorer("def score(solution_str, ground_truth): raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        made.grade(REFERENCE, ANSWER)


def test_what_it_is_given_is_its_own(scorer: Callable[..., Scorer]) -> None:
    """A function that changes its arguments changes nothing for the next one."""
    made = scorer(
        "def score(messages, ground_truth, metadata):\n"
        "    metadata['more'].append(1); messages[0]['content'] = ''; messages.clear()\n"
        "    return len(metadata['more'])\n"
    )
    reference: dict[str, Any] = {"ground_truth": "2", "more": {"more": []}}
    assert [made.grade(reference, ANSWER).value for _ in range(2)] == [1, 1]
    assert ANSWER.messages[0]["content"] == "Be brief."


def test_other_processes_can_have_it(scorer: Callable[..., Scorer]) -> None:
    """A scorer of a function can be sent to a process that scores."""
    made = scorer("def score(solution_str, ground_truth): return 1")
    assert pickle.loads(pickle.dumps(made)).grade(REFERENCE, ANSWER).value == 1  # noqa: S301 (made here)


def test_its_definition_is_that_of_its_file(scorer: Callable[..., Scorer]) -> None:
    """The checksum of the module says which version of a function has judged."""
    made = scorer("def score(solution_str, ground_truth): return 1")
    assert made.name.endswith(":score")
    assert re.search(r"graders_\d+:score, SHA-256 [0-9a-f]{64}$", made.definition)


@pytest.mark.parametrize(
    "text", ["graders", ":score", "graders:", "a b:score", "graders.py:", "a/b:score", "a::b"]
)
def test_no_function(text: str) -> None:
    """The message says how a function is named."""
    with pytest.raises(EvalError, match=f"--eval {text}: no eval function; write MODULE:FUNCTION"):
        eval_scorer(text)


@pytest.mark.parametrize(
    ("source", "function", "message"),
    [
        (
            "import nothing_of_the_kind",
            "score",
            "cannot be imported: ModuleNotFoundError: No module named 'noth",
        ),
        ("def score(:", "score", r"cannot be imported: SyntaxError: .*line 1\)"),
        ("1 / 0", "score", r"cannot be imported: ZeroDivisionError: .*\(graders_\d+.py, line 1\)"),
        ("import sys; sys.exit(2)", "score", "cannot be imported: SystemExit: 2"),
        (
            "def scores(messages, ground_truth, metadata): ...",
            "score",
            "no function 'score'; did you mean 'scores'",
        ),
        ("score = 1", "score", "score is int, where a function should be"),
        ("def score(): ...", "score", "its first parameter is missing; write"),
        (
            "def score(answer, ground_truth): ...",
            "score",
            r"its first parameter is answer; write \(solution_str,",
        ),
        ("def score(*messages): ...", "score", r"its parameters are \(\*messages\); write"),
        ("def score(messages): ...", "score", r"its parameters are \(messages\); write"),
        ("def score(messages, ground_truth, metadata, x): ...", "score", "metadata, x"),
    ],
)
def test_before_anything_is_asked(
    source: str, function: str, message: str, scorer: Callable[..., Scorer]
) -> None:
    """A module that cannot be imported, and a function that cannot be called, are reported at once."""
    with pytest.raises(EvalError, match=message):
        scorer(source, function)


def test_a_module_that_is_not_there(tmp_path: Path) -> None:
    """The message has its name."""
    with pytest.raises(EvalError, match="--eval gone_graders:x: the module gone_graders cannot be imported"):
        eval_scorer("gone_graders:x", tmp_path)


def test_a_name_that_is_taken(tmp_path: Path) -> None:
    """A file that another module's name hides is not passed over in silence."""
    (tmp_path / "json.py").write_text("def dumps(messages, ground_truth): return 1", encoding="utf-8")
    with pytest.raises(
        EvalError, match=rf"another module is called json too \(.*\); rename the one in {tmp_path}"
    ):
        eval_scorer("json:dumps", tmp_path)
