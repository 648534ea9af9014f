"""LiveCodeBench: the code that was taken out of 880 recorded answers; the data has no tests to run."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Final

from tests.conformance.agreement import Agreement
from workloads.grading.code import last_block

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEEDS: Final = ("livecodebench/o1-preview_eval_all.json.gz",)


def agreements(data: Path) -> Iterator[Agreement]:
    """What is taken for the program."""
    with gzip.open(data / NEEDS[0], "rt", encoding="utf-8") as file:
        problems = json.load(file)
    pairs = [
        (problem["question_id"], said, code)
        for problem in problems
        for said, code in zip(problem["output_list"], problem["code_list"], strict=True)
    ]
    wrong = tuple(
        f"{name}: {last_block(said)[:40]!r}" for name, said, code in pairs if last_block(said) != code
    )
    yield Agreement(
        "livecodebench/official, the code of o1-preview", len(pairs), len(pairs) - len(wrong), wrong=wrong
    )
