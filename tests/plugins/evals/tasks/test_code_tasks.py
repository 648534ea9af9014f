"""HumanEval and LiveCodeBench: prompts, where the code of an answer is, and the outcome of running it."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.grading.code import function_body, last_block
from loadgen.plugins.evals.tasks import humaneval, livecodebench
from workloads.answer import Answer
from workloads.errors import ColumnError, TaskError
from workloads.score import Status
from workloads.sources import FileRow
from workloads.workload import Inputs, Workload

if TYPE_CHECKING:
    from workloads.question import Question

TWICE = {
    "task_id": "Own/0",
    "prompt": 'import math\n\n\ndef twice(x):\n    """Return x + x."""\n',
    "test": "def check(candidate):\n    assert candidate(2) == math.floor(4.5)\n",
    "entry_point": "twice",
}


def asked(workload: Workload, row: dict[str, Any], **options: Any) -> Question:
    """The question that one row makes."""
    rows = iter([FileRow("own.jsonl, line 1", row)])
    (question,) = workload.questions(Inputs(rows, lambda _: (), {**workload.options, **options}))
    return question


def test_a_function_is_asked_for() -> None:
    """A chat is notified of what to do with the prompt; a completion goes on from it."""
    question = asked(humaneval.WORKLOAD, TWICE)
    assert question.id == "Own/0"
    assert question.sample.prompt.endswith(TWICE["prompt"])
    assert question.sample.prompt.startswith("Read the following function signature")
    assert asked(humaneval.WORKLOAD, TWICE, prompt="completion").sample.prompt == TWICE["prompt"]


def test_a_prompt_that_there_is_not() -> None:
    """It is named with the nearest."""
    with pytest.raises(TaskError, match="prompt=complete: must be one of chat, completion; did you mean"):
        asked(humaneval.WORKLOAD, TWICE, prompt="complete")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("```python\ndef twice(x):\n    return x + x\n```", 1),
        ("```python\ndef f(x):\n    return 0\n```\n```python\ndef f(x):\n    return x + x\n```", 0),
        ("def twice(x):\n    return 2 * x\n", 1),
        ("    return 2 * x\n", 0),
        ("", 0),
    ],
)
def test_a_function_that_is_answered(text: str, value: float) -> None:
    """The first block marked as Python counts, without its signature."""
    score = humaneval.grade(asked(humaneval.WORKLOAD, TWICE).reference, Answer(text))
    assert (score.value, score.status) == (value, Status.SCORED)


FUNCTION = "def twice(x):\n    return double(x)\n"
HELPER = "def double(x):\n    return 2 * x\n\n\n"


@pytest.mark.parametrize(
    ("text", "official", "value"),
    [
        (f"Here:\n```\n{HELPER}{FUNCTION}```\n", 0, 1),
        (f"```python\n{HELPER}{FUNCTION}```\n\n```\ntwice(2)  # 4\n```", 0, 1),
        (f"```bash\npip install x\n```\n~~~~ Python3 title\n{HELPER}{FUNCTION}~~~~", 0, 1),
        (
            "1. So:\n" + indent(f"```py\n{HELPER}{FUNCTION}```", "   "),
            0,
            1,
        ),
        (f"```python\nfrom __future__ import annotations\n{HELPER}{FUNCTION}", 0, 1),
        ("```python\ndef twice(x):\n    return math.floor(2.0 * x)\n```", 1, 1),
        (f"{HELPER}{FUNCTION}", 0, 1),
        ("```python\n    return 2 * x\n```", 0, 1),
        (
            "```python\ndef twice(x):\n    return x\n```\n```python\ndef twice(x):\n    return 2 * x\n```",
            0,
            0,
        ),
        ("I cannot.", 0, 0),
    ],
)
def test_a_function_in_a_fenced_block(text: str, official: float, value: float) -> None:
    """The block that defines the function counts, with what stands before it; the official rule stays."""
    reference = asked(humaneval.WORKLOAD, TWICE).reference
    assert humaneval.grade(reference, Answer(text)).value == official
    assert humaneval.grade_block(reference, Answer(text)).value == value


def test_a_completion_as_it_is() -> None:
    """Under another name nothing is taken out of the answer, and the prompt's imports are there."""
    reference = asked(humaneval.WORKLOAD, TWICE).reference
    assert humaneval.grade_raw(reference, Answer("    return math.floor(2.0 * x)\n")).value == 1
    wrong = humaneval.grade_raw(reference, Answer("    return x\n"))
    assert (wrong.value, wrong.reason) == (0, "failed: AssertionError: ")


def test_where_the_code_is() -> None:
    """As the benchmarks' own rules have it, odd ones included."""
    assert function_body("nothing like code") == "othing like code"
    assert function_body("```python\ndef f(a):\n    return a\n```") == "    return a\n"
    assert last_block("```\na\n```\ntext\n```py\nb\nc\n```") == "b\nc"
    assert last_block("```python\nno end") == ""
    assert last_block("a ``` in a line\nb\n```") == "b"


def packed(tests: list[dict[str, str]]) -> str:
    """Tests as the data has the private ones."""
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests)))).decode()


def problem(**other: Any) -> dict[str, Any]:
    """A row: print the sum of the numbers of a line."""
    return {
        "question_id": "own_1",
        "question_content": "Print the sum.",
        "starter_code": "",
        "difficulty": "easy",
        "platform": "atcoder",
        "public_test_cases": json.dumps([{"input": "1 2\n", "output": "3\n", "testtype": "stdin"}]),
        "private_test_cases": packed([{"input": "5\n", "output": "5", "testtype": "stdin"}]),
        "metadata": "{}",
        **other,
    }


def test_a_program_is_asked_for_and_judged() -> None:
    """It must pass the public and the private tests."""
    question = asked(livecodebench.WORKLOAD, problem())
    assert question.sample.tags == {"difficulty": "easy", "platform": "atcoder"}
    assert "Read the inputs from stdin" in question.sample.prompt
    right = Answer("```python\nprint(sum(map(int, input().split())))\n```")
    score = livecodebench.grade(question.reference, right)
    assert (score.value, score.metrics) == (1, {"tests_passed": 2})
    half = livecodebench.grade(question.reference, Answer("```\nprint(3)\n```"))
    assert (half.value, half.reason, half.metrics) == (
        0,
        "failed: test 2: line 1 is another",
        {"tests_passed": 1},
    )
    assert livecodebench.grade(question.reference, Answer("print(3)")).status is Status.UNPARSED


def test_a_method_is_asked_for_and_judged() -> None:
    """With starter code the function that the metadata names is called."""
    case = json.dumps([{"input": "[1, 2]", "output": "3", "testtype": "functional"}])
    row = problem(
        starter_code="class Solution:\n    def total(self, a):",
        public_test_cases=case,
        private_test_cases=case,
        metadata='{"func_name": "total"}',
    )
    question = asked(livecodebench.WORKLOAD, row)
    assert "use the following starter code" in question.sample.prompt
    text = "```python\nclass Solution:\n    def total(self, a: List[int]) -> int:\n        return sum(a)\n```"
    assert livecodebench.grade(question.reference, Answer(text)).value == 1


@pytest.mark.parametrize(
    "tests", ["no tests", packed([{"in": ""}]), base64.b64encode(zlib.compress(pickle.dumps(print))).decode()]
)
def test_invalid_tests(tests: str) -> None:
    """The row is named; and a pickle that would call something does not."""
    with pytest.raises(ColumnError, match=r"own\.jsonl, line 1, column 'private_test_cases': no tests"):
        asked(livecodebench.WORKLOAD, problem(private_test_cases=tests))


@pytest.mark.parametrize("metadata", ["no JSON", "[]", 5])
def test_invalid_metadata(metadata: Any) -> None:
    """The row is named."""
    with pytest.raises(ColumnError, match=r"own\.jsonl, line 1, column 'metadata': no JSON object"):
        asked(livecodebench.WORKLOAD, problem(metadata=metadata))
