"""LiveCodeBench: the code that was taken out of recorded answers; the data has no tests to run."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.code import last_block
from tests.conformance.agreement import Agreement

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEEDS: Final = ("livecodebench",)

_RECORDED: Final = "_eval_all.json.gz"


def agreements(data: Path) -> Iterator[Agreement]:
    """What is taken for the program: a line for each file of a model's answers."""
    for path in sorted((data / NEEDS[0]).glob(f"*{_RECORDED}")):
        yield _agreement(path)


def _agreement(path: Path) -> Agreement:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        problems = json.load(file)
    pairs = [
        (problem["question_id"], output or "", code)
        for problem in problems
        for output, code in zip(problem["output_list"], problem["code_list"], strict=True)
    ]
    wrong = tuple(
        f"{name}: {last_block(output)[:40]!r}" for name, output, code in pairs if last_block(output) != code
    )
    model = path.name.removesuffix(_RECORDED)
    agree = len(pairs) - len(wrong)
    return Agreement(f"livecodebench/official, the code of {model}", len(pairs), agree, wrong=wrong)
