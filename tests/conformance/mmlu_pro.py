"""MMLU-Pro: outputs of models with the letter that the official scripts took out of them.

A record holds the letter of the first rule alone, or that of all three. Where no rule finds one, it holds
none, or the one that the scripts draw: always the same, for they seed the generator before each draw.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.tasks import mmlu_pro
from loadgen.plugins.evals.tasks.mmlu_pro import drawn
from tests.conformance.agreement import Agreement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

NEEDS: Final = ("mmlu_pro",)

_OUTPUTS: Final = "outputs_"
_DRAWN: Final = drawn(len(mmlu_pro.LETTERS))
_CHANCE: Final = f"have the letter {_DRAWN} that the scripts draw where no rule finds one"
_RULES: Final[Mapping[str, Callable[[str], str | None]]] = {
    "official": mmlu_pro.letter,
    "first_rule": mmlu_pro.after_is,
}


def agreements(data: Path) -> Iterator[Agreement]:
    """One line a model, and one of the last letter that stands alone, which must not agree."""
    for path in sorted((data / NEEDS[0]).glob(f"{_OUTPUTS}*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        model = path.name.removeprefix(_OUTPUTS).removesuffix(".jsonl.gz")
        yield of_record(rows, model)
        yield agreement(f"mmlu_pro, last letter, {model}", rows, mmlu_pro.alone, shortcut=True)


def of_record(rows: Sequence[Mapping[str, Any]], model: str) -> Agreement:
    """The line of a record: by all three rules, or by the first alone where the record was made so.

    Args:
        rows: `question_id`, `response` and `pred`, the letter that was recorded.
        model: For the name of the line.
    """
    by_rule = [agreement(f"mmlu_pro/{name}, {model}", rows, rule) for name, rule in _RULES.items()]
    return next((line for line in by_rule if line.passes), by_rule[0])


def agreement(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    letter: Callable[[str], str | None],
    *,
    shortcut: bool = False,
) -> Agreement:
    """How far one rule finds the letters that were recorded; only the letter drawn is an exception."""
    wrong, exceptions = [], Counter[str]()
    for row in rows:
        ours, theirs = letter(row["response"] or ""), row["pred"]
        if ours is None and theirs == _DRAWN and not shortcut:
            exceptions[_CHANCE] += 1
        elif ours != theirs:
            wrong.append(f"{row['question_id']}: ours {ours}, theirs {theirs}")
    agree = len(rows) - len(wrong) - exceptions.total()
    return Agreement(name, len(rows), agree, exceptions, tuple(wrong), shortcut=shortcut)
