"""LiveCodeBench: programs for problems of programming contests (Jain et al., arXiv:2403.07974).

A program passes when it passes every public and every private test, 6 s for each
(LiveCodeBench/LiveCodeBench, `lcb_runner/evaluation/testing_util.py`). The log keeps the private tests as the
data has them, compressed.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import pickle
import zlib
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.code import last_block, score_of
from loadgen.plugins.evals.headlines import by_tag
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from loadgen.plugins.sandbox.job import Job
from workloads.cells import tag, text
from workloads.errors import ColumnError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import unparsed
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.score import Score
    from workloads.sources import FileRow
    from workloads.workload import Inputs

TIMEOUT_S: Final = 6.0

_SYSTEM: Final = prompt("livecodebench", "system")
_WITH_STARTER: Final = (
    "### Format: You will use the following starter code to write the solution to the problem and enclose "
    "your code within delimiters.\n```python\n{starter}\n```\n\n"
)
_WITHOUT_STARTER: Final = prompt("livecodebench", "without_starter")
_MOST_BYTES: Final = 2**29


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row, by the prompt of the benchmark for chat models."""
    for index, row in enumerate(inputs.rows):
        starter = row["starter_code"]
        how = _WITH_STARTER.format(starter=starter) if starter else _WITHOUT_STARTER
        asked = (
            f"### Question:\n{text(row, 'question_content')}\n\n{how}"
            "### Answer: (use the provided format with backticks)\n\n"
        )
        tags = {name: tag(row, name) for name in ("difficulty", "platform")}
        reference = {
            "public": row["public_test_cases"],
            "private": row["private_test_cases"],
            "function": _function(row),
        }
        cases_of(reference, row.place)
        yield Question(tag(row, "question_id"), Sample(index, asked, _SYSTEM, tags=tags), reference)


def grade(reference: Reference, answer: Answer) -> Score:
    """Run the program of an answer against every test."""
    source = last_block(answer.text)
    if not source:
        return unparsed("no code between two lines of ```")
    tests, name = cases_of(reference), reference["function"]
    job = Job(
        "functional" if name else "standard_input",
        source,
        TIMEOUT_S,
        name or "",
        [test["input"] for test in tests],
        [test["output"] for test in tests],
    )
    return score_of(job, source, (TIMEOUT_S + 1) * len(tests) + 5)


def cases_of(reference: Reference, place: str = "") -> list[dict[str, Any]]:
    """The tests, the public ones first."""
    cases: list[dict[str, Any]] = []
    for name in ("public", "private"):
        try:
            tests = _decoded(reference[name])
            cases += [{"input": str(test["input"]), "output": str(test["output"])} for test in tests]
        except (ValueError, TypeError, KeyError, pickle.UnpicklingError, zlib.error, EOFError) as error:
            raise ColumnError(
                f"{place}, column '{name}_test_cases': no tests ({type(error).__name__}: {error})"
            ) from error
    return cases


def _decoded(text: str) -> Any:
    """JSON, or JSON as text in a pickle, compressed, in base64: both are in the data."""
    try:
        return json.loads(text)
    except ValueError:
        try:
            packed = base64.b64decode(text, validate=True)
        except binascii.Error as error:
            raise ValueError("neither JSON nor base64") from error
    unpacked = zlib.decompressobj().decompress(packed, _MOST_BYTES)
    return json.loads(_TextOnly(io.BytesIO(unpacked)).load())


class _TextOnly(pickle.Unpickler):
    """Unpickles a text. A pickle can name any function; this one names none."""

    def find_class(self, module: str, name: str) -> Any:
        """Refuse."""
        raise pickle.UnpicklingError(f"{module}.{name} in what should be a text")


def _function(row: FileRow) -> str | None:
    """The function that is called, where one is."""
    try:
        match json.loads(row["metadata"] or "{}"):
            case {"func_name": str(name)}:
                return name
            case {}:
                return None
    except (ValueError, TypeError):
        pass
    raise ColumnError(f"{row.place}, column 'metadata': no JSON object as text")


WORKLOAD: Final = benchmark(
    "livecodebench",
    questions,
    official=ScoreRule(
        grade,
        headlines=(
            Headline("accuracy"),
            *by_tag("difficulty", ("easy", "medium", "hard")),
        ),
    ),
)
