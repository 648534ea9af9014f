"""IFBench: every instruction of the official test file has its rule here, with the arguments that it takes.

Outputs with verdicts are not published with it.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any, Final

from tests.conformance.agreement import Agreement
from workloads.errors import SourceError, TaskError
from workloads.grading.ifbench import IFBENCH
from workloads.grading.nltk_data import offer
from workloads.tasks.ifeval import follows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NEEDS: Final = ("ifbench/IFBench_test.jsonl.gz",)
PACKAGES: Final = ("nltk",)

_NO_DATA: Final = "take data of NLTK that is not here"


def agreements(data: Path) -> Iterator[Agreement]:
    """The instructions, and their kinds."""
    offer(data)
    with gzip.open(data / NEEDS[0], "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    asked = [
        (name, {key: value for key, value in arguments.items() if value is not None})
        for row in rows
        for name, arguments in zip(row["instruction_id_list"], row["kwargs"], strict=True)
    ]
    problems = [(name, _problem(name, arguments)) for name, arguments in asked]
    wrong = tuple(f"{name}: {problem}" for name, problem in problems if problem and problem != _NO_DATA)
    lacking = sum(problem == _NO_DATA for _, problem in problems)
    yield Agreement(
        "ifbench/instructions of the test file",
        len(asked),
        len(asked) - len(wrong) - lacking,
        {_NO_DATA: lacking} if lacking else {},
        wrong,
    )
    kinds = {name for name, _ in asked}
    unused = tuple(sorted(set(IFBENCH) - kinds))
    yield Agreement("ifbench/kinds of instructions", len(IFBENCH), len(IFBENCH) - len(unused), wrong=unused)


def _problem(name: str, arguments: Mapping[str, Any]) -> str:
    try:
        follows(name, arguments, None, IFBENCH)
    except TaskError as error:
        return str(error)
    except SourceError:
        return _NO_DATA
    return ""
