"""IFBench: the rules of its test file with their arguments, and the verdicts of its own answers.

allenai/IFBench has answers with verdicts, `eval/eval_results_*.jsonl`; where DATA has them as
`ifbench/eval_results_strict.jsonl.gz` and `…_loose.jsonl.gz`, they are compared.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.ifbench import IFBENCH
from loadgen.plugins.evals.tasks.ifeval import follows, verdicts
from tests.conformance.agreement import Agreement
from workloads.errors import SourceError, TaskError
from workloads.nltk_data import offer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NEEDS: Final = ("ifbench/IFBench_test.jsonl.gz",)
PACKAGES: Final = ("nltk",)

_CHANGED: Final = "ratio:sentence_type"
"""Its sentences end otherwise in the release that the rules follow."""
_OTHER_PROMPT: Final = "answer a prompt that the test file has otherwise"
_NO_DATA: Final = "take data of NLTK that is not here"


def agreements(data: Path) -> Iterator[Agreement]:
    """The instructions, and their kinds."""
    offer(data)
    rows = _rows(data / NEEDS[0])
    asked = [pair for row in rows for pair in zip(row["instruction_id_list"], row["kwargs"], strict=True)]
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
    for layer in ("strict", "loose"):
        if (path := data / f"ifbench/eval_results_{layer}.jsonl.gz").exists():
            yield _verdicts(layer, {row["prompt"].strip(): row for row in rows}, _rows(path))
    kinds = {name for name, _ in asked}
    unused = tuple(sorted(set(IFBENCH) - kinds))
    yield Agreement("ifbench/kinds of instructions", len(IFBENCH), len(IFBENCH) - len(unused), wrong=unused)


def _rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file; arguments that are null are left out."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        row["kwargs"] = [
            {key: value for key, value in arguments.items() if value is not None}
            for arguments in row.get("kwargs", ())
        ]
    return rows


def _verdicts(layer: str, prompts: Mapping[str, Any], recorded: list[dict[str, Any]]) -> Agreement:
    agree, exceptions, wrong = 0, Counter[str](), []
    for row in recorded:
        asked = prompts.get(row["prompt"].strip())
        if asked is None or asked["instruction_id_list"] != row["instruction_id_list"]:
            exceptions[_OTHER_PROMPT] += 1
            continue
        try:
            ours = getattr(verdicts(asked, row["response"], None, IFBENCH), layer)
        except SourceError:
            exceptions[_NO_DATA] += 1
            continue
        theirs = row["follow_instruction_list"]
        agree += ours == theirs
        if ours != theirs and row["instruction_id_list"] == [_CHANGED]:
            exceptions[f"were judged by an earlier rule of {_CHANGED}"] += 1
        elif ours != theirs:
            wrong.append(f"{asked['key']}: ours {ours}, recorded {theirs}")
    return Agreement(f"ifbench/official {layer}", len(recorded), agree, exceptions, tuple(wrong))


def _problem(name: str, arguments: Mapping[str, Any]) -> str:
    try:
        follows(name, arguments, None, IFBENCH)
    except TaskError as error:
        return str(error)
    except SourceError:
        return _NO_DATA
    return ""
