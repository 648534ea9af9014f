"""Selection of tools: the published table of the variants, and the published tool sets as they are read.

The table has accuracies, mean input tokens, efficiencies and scores, and no output tokens: those follow from
the efficiency of the output, 1 / (1 + tokens / 500), which has two digits; the scores have three.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

import duckdb

from loadgen.plugins.tool_selection.selection_task import HEADLINES
from tests.conformance.agreement import Agreement
from workloads.errors import WorkloadError
from workloads.question_loading import load
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

NEEDS: Final = ("document_mcp/VARIANT_RESULTS.md",)

_PART: Final = re.compile(r"## Latest Optimization Results.*?(?=\n## )", re.DOTALL)
_VARIANT: Final = re.compile(r"### (\w+) Variant\n```\n(.*?)```(.*?)(?=###|\*\*Results)", re.DOTALL)
_LINE: Final = re.compile(r"\((\d+)/(\d+)\), (\d+) tokens in, ([\d.]+) composite")
_EFFICIENCY: Final = re.compile(r"Token efficiency: ([\d.]+) in / ([\d.]+) out")
_CLOSE: Final = 0.0015
"""What two digits of the output's efficiency leave open: 0.25 x 0.005, and the rounding of the score."""


@dataclass(frozen=True, slots=True)
class Published:
    """A line of the table."""

    variant: str
    correct: int
    n: int
    input_tokens: int
    input_efficiency: float
    output_efficiency: float
    score: float

    @property
    def output_tokens(self) -> float:
        """The mean that its efficiency is of."""
        return 500 * (1 / self.output_efficiency - 1)


def agreements(data: Path) -> Iterator[Agreement]:
    """The scores, the efficiency of the input, two rules that must not agree, and the files."""
    published = list(_published((data / NEEDS[0]).read_text(encoding="utf-8")))
    ours = {headline.name: headline.sql for headline in HEADLINES}
    own = {name: ours[name.lower()] for name in {row.variant for row in published}}
    yield _compared(published, own, "tool_selection: scores of the variants, document-mcp")
    everywhere = dict.fromkeys(own, ours["composite"])
    yield _compared(published, everywhere, "tool_selection: the composite of every variant", shortcut=True)
    unlimited = {
        **own,
        "ACCURACY_BALANCED": "avg(value) / ((avg(input_tokens) + avg(output_tokens)) / 1500)",
    }
    yield _compared(published, unlimited, "tool_selection: fewer tokens are a bonus", shortcut=True)
    wrong = [
        f"{row.variant}, {row.input_tokens} tokens"
        for row in published
        if round(1 / (1 + row.input_tokens / 1000), 2) != row.input_efficiency
    ]
    yield Agreement(
        "tool_selection: efficiency of the input",
        len(published),
        len(published) - len(wrong),
        {},
        tuple(wrong),
    )
    yield _read(data / "document_mcp")


def _published(page: str) -> Iterator[Published]:
    part = _PART.search(page)
    for variant, lines, after in _VARIANT.findall(part[0] if part else ""):
        efficiency = _EFFICIENCY.search(lines + after)
        if efficiency is None:
            continue
        for correct, n, tokens, score in _LINE.findall(lines):
            scores = (float(efficiency[1]), float(efficiency[2]), float(score))
            yield Published(variant, int(correct), int(n), int(tokens), *scores)


def _compared(
    published: Sequence[Published], rules: Mapping[str, str], title: str, *, shortcut: bool = False
) -> Agreement:
    wrong = []
    for row in published:
        score = computed(rules[row.variant], row)
        if abs(score - row.score) > _CLOSE:
            wrong.append(f"{row.variant}, {row.input_tokens} tokens: ours {score:.4f}, theirs {row.score}")
    return Agreement(title, len(published), len(published) - len(wrong), {}, tuple(wrong), shortcut)


def computed(sql: str, row: Published) -> float:
    """A headline over samples, with as many correct ones as were published."""
    rows = "SELECT (range < ?)::DOUBLE AS value, ? AS input_tokens, ?::DOUBLE AS output_tokens FROM range(?)"
    asked = [row.correct, row.input_tokens, row.output_tokens, row.n]
    with duckdb.connect() as connection:
        (score,) = connection.execute(f"SELECT {sql} FROM ({rows})", asked).fetchall()[0]  # noqa: S608 (our own)
    return float(score)


def _read(folder: Path) -> Agreement:
    """Every published tool set, in the words of every published style, for our scenarios."""
    sets = sorted(path.stem.partition("__")[2] for path in folder.glob("tool_sets__*"))
    styles = sorted(path.stem.partition("__")[2] for path in folder.glob("descriptions__*"))
    pairs = list(product(sets, ["own", *styles]))
    wrong = []
    for tools, style in pairs:
        # No style has a word on the tool set of two, but on the tool that has the same name in all of them.
        try:
            load(parse(f"tool_selection:tools={tools},descriptions={style}"), folder)
        except WorkloadError as error:
            wrong.append(f"{tools}, {style}: {error}")
    return Agreement(
        "tool_selection: tool sets and styles", len(pairs), len(pairs) - len(wrong), {}, tuple(wrong)
    )
