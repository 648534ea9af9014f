"""Short names for the sides of a comparison."""

from __future__ import annotations

import pytest

from reporter.compare.compare_sides import LONGEST, labels
from reporter.compare.side import ComparedRun, Side


def side(name: str, model: str = "m", dataset: str = "") -> Side:
    """A side of one run."""
    return Side(name, (ComparedRun(name, {}, (), {}, model=model, dataset=dataset),))


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        (
            [side("a", "org/llama", "gsm8k.jsonl"), side("b", "org/qwen", "gsm8k.jsonl")],
            ["gsm8k llama", "gsm8k qwen"],
        ),
        ([side("a", "llama", "x"), side("b", "llama", "y")], ["x llama", "y llama"]),
        ([side("runs/old"), side("runs/new")], ["old", "new"]),
        ([side("monday/run"), side("friday/run")], ["monday/run", "friday/run"]),
        ([side("baseline"), side("runs")], ["baseline", "runs"]),
    ],
)
def test_sides_are_named_by_what_distinguishes_them(sides: list[Side], expected: list[str]) -> None:
    """The dataset and the model where they do, else the ends of their paths."""
    assert labels(sides) == expected


def test_long_names_are_cut_and_stay_apart() -> None:
    """In the middle, and numbered where the part that differed was cut."""
    names = ["run-" + 30 * "x" + middle + 30 * "y" for middle in "ab"]
    short = labels([side(name) for name in names])
    assert len(set(short)) == 2
    assert max(map(len, short)) <= LONGEST
