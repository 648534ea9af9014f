"""MMLU-Pro: outputs of models with the letter that the official scripts took out of them.

The records of models that were run locally have the letter of the first rule alone, and those of some of them
a letter by chance where that found none.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from tests.conformance.agreement import Agreement
from workloads.grading import mmlu_pro_letter
from workloads.tasks.mmlu_pro import WORKLOAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

NEEDS: Final = ("mmlu_pro",)

_OUTPUTS: Final = "outputs_"
_BY_API: Final = ("gemini",)
_CHANCE: Final = "have a letter by chance in the record"


def agreements(data: Path) -> Iterator[Agreement]:
    """One line a model, and one of the last letter that stands alone, which must not agree."""
    for path in sorted((data / NEEDS[0]).glob(f"{_OUTPUTS}*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        model = path.name.removeprefix(_OUTPUTS).removesuffix(".jsonl.gz")
        scorer, letter = "first_rule", mmlu_pro_letter.after_is
        if model.startswith(_BY_API):
            scorer, letter = WORKLOAD.scorers[0].name, mmlu_pro_letter.letter
        yield _agreement(f"mmlu_pro/{scorer}, {model}", rows, letter)
        yield _agreement(f"mmlu_pro, last letter, {model}", rows, mmlu_pro_letter.alone, shortcut=True)


def _agreement(
    name: str, rows: Sequence[Any], letter: Callable[[str], str | None], *, shortcut: bool = False
) -> Agreement:
    wrong, known = [], Counter[str]()
    for row in rows:
        ours, theirs = letter(row["response"] or ""), row["pred"]
        if ours is None and theirs is not None and not shortcut and letter is mmlu_pro_letter.after_is:
            known[_CHANCE] += 1
        elif ours != theirs:
            wrong.append(f"{row['question_id']}: ours {ours}, theirs {theirs}")
    agree = len(rows) - len(wrong) - known.total()
    return Agreement(name, len(rows), agree, known, tuple(wrong), shortcut=shortcut)
