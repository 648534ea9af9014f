"""BFCL of several turns: the right calls of every entry, replayed, and what breaks them.

It takes the services of `bfcl-eval` (`pip install --no-deps bfcl-eval`); without them nothing can be checked.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.environments.bfcl.services import parsed_call
from loadgen.plugins.evals.grading.bfcl.multi_turn import fault_of
from tests.conformance.agreement import Agreement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_PARTS: Final = ("base", "miss_func", "miss_param", "long_context")
NEEDS: Final = tuple(
    f"bfcl_v4/{prefix}BFCL_v4_multi_turn_{part}.json.gz"
    for part in _PARTS
    for prefix in ("", "possible_answer__")
)
_ANY_ARGUMENTS: Final = "multi_turn_{part}_139"
PACKAGES: Final = ("bfcl_eval", "mpmath")

Turns = list[list[list[dict[str, Any]]]]


def agreements(data: Path) -> Iterator[Agreement]:
    """The replay of each category is right, and each kind of broken replay is wrong."""
    for part in _PARTS:
        path = f"BFCL_v4_multi_turn_{part}.json.gz"
        rows = _read(data / "bfcl_v4" / path)
        answers = _read(data / "bfcl_v4" / f"possible_answer__{path}")
        references = [_reference(row, answer, part) for row, answer in zip(rows, answers, strict=True)]
        for name, change in _VARIANTS.items():
            verdicts = [
                (reference["id"], fault_of(reference, turns))
                for reference in references
                if (turns := change(replayed(reference))) is not None
            ]
            right = name == "right calls"
            wrong = {entry: str(fault) for entry, fault in verdicts if (fault is None) != right}
            unsettled = 0 if wrong.pop(_ANY_ARGUMENTS.format(part=part), None) is None else 1
            yield Agreement(
                f"bfcl_multi_turn/{part}, {name}",
                len(verdicts),
                len(verdicts) - len(wrong) - unsettled,
                {"calls only a function that ignores its arguments": unsettled} if unsettled else {},
                tuple(f"{entry}: {fault}" for entry, fault in wrong.items()),
            )


def _read(path: Path) -> list[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _reference(row: Mapping[str, Any], answer: Mapping[str, Any], part: str) -> dict[str, Any]:
    return {
        "id": row["id"],
        "classes": row["involved_classes"],
        "config": row["initial_config"],
        "long_context": part == "long_context",
        "ground_truth": answer["ground_truth"],
    }


def replayed(reference: Mapping[str, Any]) -> Turns:
    """The right calls, each a separate step."""
    return [
        [[parsed_call(text)._asdict()] for text in right_calls] for right_calls in reference["ground_truth"]
    ]


def _silent_turn(turns: Turns) -> Turns:
    """No call in the last turn that has any."""
    last = max(number for number, steps in enumerate(turns) if steps)
    return [[] if number == last else steps for number, steps in enumerate(turns)]


def _cut(turns: Turns) -> Turns:
    """The last turn is not there."""
    return turns[:-1]


def _other_functions(turns: Turns) -> Turns:
    """Functions that there are not, with the right arguments."""
    return [[[{**call, "name": f"{call['name']}_"} for call in step] for step in steps] for steps in turns]


def _late(turns: Turns) -> Turns | None:
    """Each turn's calls are made a turn later, where that leaves a turn with due calls empty."""
    shifted: Turns = [[], *turns[:-1]]
    return shifted if turns[0] else None


def _other_arguments(turns: Turns) -> Turns | None:
    """Every text and number among the arguments is another one, where there is any."""
    changed: Turns = [
        [
            [
                {key: value if key == "name" else _changed(value) for key, value in call.items()}
                for call in step
            ]
            for step in steps
        ]
        for steps in turns
    ]
    return changed if changed != turns else None


def _changed(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case str():
            return f"{value}?"
        case int() | float():
            return value + 7
        case dict():
            return {key: _changed(member) for key, member in value.items()}
        case list():
            return [_changed(member) for member in value]
    return value


_VARIANTS: Final[Mapping[str, Callable[[Turns], Turns | None]]] = {
    "right calls": lambda turns: turns,
    "a turn without calls": _silent_turn,
    "the last turn cut off": _cut,
    "functions that there are not": _other_functions,
    "calls a turn late": _late,
    "other arguments": _other_arguments,
}
