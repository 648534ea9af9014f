"""IFEval: GPT-4 with the verdicts of Google's code, and eight models of M-IFEval, strict and loose.

That code draws: in the versions that made these verdicts a random letter in place of `#` and `!`, and
langdetect without a seed. Where it was not of one mind in six runs (`stable`), or where a verdict of
M-IFEval's is another but one that a draw gives, that is an exception; any other difference is an error.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.instructions import follows
from loadgen.plugins.evals.tasks.ifeval import draws, variants, verdicts
from tests.conformance.agreement import Agreement
from workloads.nltk_data import offer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    Row = Mapping[str, Any]

NEEDS: Final = (
    "ifeval/input_data.jsonl.gz",
    "ifeval/input_response_data_gpt4_20231107_145030.jsonl.gz",
    "ifeval/google_verdicts_strict.jsonl.gz",
    "ifeval/google_verdicts_loose.jsonl.gz",
    "m_ifeval_en/en_input.jsonl.gz",
    "nltk_punkt",
)

_DRAWS: Final = 200
_REASONS: Final = {"keywords:letter_frequency": "for a letter drawn at random"}
_LANGUAGE: Final = "for a language detected without a seed"


def agreements(data: Path) -> Iterator[Agreement]:
    """Two lines a model, strict and loose, an output a prompt; then the shortcuts."""
    offer(data)
    prompts = {row["key"]: row for row in _rows(data / NEEDS[0])}
    responses = {row["prompt"]: row["response"] for row in _rows(data / NEEDS[1])}
    for layer, place in (("strict", NEEDS[2]), ("loose", NEEDS[3])):
        rows = list(_rows(data / place))
        judged = [(prompts[row["key"]], responses[prompts[row["key"]]["prompt"]] or "", row) for row in rows]
        yield _agreement("gpt-4", layer, judged, "follow_instruction_list")
        if layer == "strict":
            yield from _shortcuts(judged)
    english = {row["key"]: row for row in map(_english, _rows(data / NEEDS[4]))}
    for path in sorted((data / "m_ifeval_en").glob("*.jsonl.gz")):
        if path != data / NEEDS[4]:
            judged = [(english[row["key"]], row["response"] or "", row) for row in _rows(path)]
            for layer in ("strict", "loose"):
                yield _agreement(path.name.removesuffix(".jsonl.gz"), layer, judged, layer)


def _rows(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _english(row: Row) -> Row:
    names = [name.removeprefix("en:") for name in row["instruction_id_list"]]
    return {**row, "instruction_id_list": names}


def _agreement(model: str, layer: str, judged: Sequence[tuple[Row, str, Row]], column: str) -> Agreement:
    agree, exceptions, wrong = 0, Counter[str](), []
    for asked, text, row in judged:
        ours, recorded = getattr(verdicts(asked, text), layer), row[column]
        differ = [index for index, mine in enumerate(ours) if mine != recorded[index]]
        reasons = {_reason(asked, index, text, layer) for index in differ}
        if not differ:
            agree += 1
        elif None in reasons:
            wrong.append(f"{asked['key']}: ours {ours}, recorded {recorded}")
        else:
            exceptions[" and ".join(sorted(map(str, reasons)))] += 1
    name = f"ifeval/official {layer}, {model}"
    return Agreement(name, len(judged), agree, exceptions, tuple(wrong))


def _reason(asked: Row, index: int, text: str, layer: str) -> str | None:
    """Why an instruction need not have the verdict that was recorded; None where no draw gives another."""
    name, arguments = asked["instruction_id_list"][index], asked["kwargs"][index]
    if not draws(name, arguments):
        return None
    texts = variants(text) if layer == "loose" else [text]
    drawn = set()
    for draw in range(_DRAWS):
        check = follows(name, arguments, Random(draw))  # noqa: S311 (no secret)
        drawn.add(any(variant.strip() and check(variant) for variant in texts))
        if drawn == {True, False}:
            return _REASONS.get(name, _LANGUAGE)
    return None


def _shortcuts(judged: Sequence[tuple[Row, str, Row]]) -> Iterator[Agreement]:
    """Rules found in popular tools, in place of the official ones of one instruction."""
    for shortcut, (name, rule) in _SHORTCUTS.items():
        outputs = agree = 0
        for asked, text, row in judged:
            for instruction, arguments, theirs in zip(
                asked["instruction_id_list"], asked["kwargs"], row["follow_instruction_list"], strict=True
            ):
                if instruction == name:
                    outputs += 1
                    agree += rule(text, arguments) == theirs
        yield Agreement(f"ifeval, {shortcut}", outputs, agree, shortcut=True)


def _paragraphs_by_blank_lines(text: str, arguments: Mapping[str, Any]) -> bool:
    return len([part for part in text.split("\n\n") if part.strip()]) == arguments["num_paragraphs"]


def _sentences_by_marks(text: str, arguments: Mapping[str, Any]) -> bool:
    count = len([part for part in re.split(r"[.!?]+", text) if part.strip()])
    wanted = arguments["num_sentences"]
    return count >= wanted if arguments["relation"] == "at least" else count < wanted


_SHORTCUTS: Final[Mapping[str, tuple[str, Callable[[str, Mapping[str, Any]], bool]]]] = {
    "an unknown id is not followed": ("change_case:capital_word_frequency", lambda *_: False),
    "paragraphs by blank lines": ("length_constraints:number_paragraphs", _paragraphs_by_blank_lines),
    "sentences by their marks": ("length_constraints:number_sentences", _sentences_by_marks),
    "at least as many bullets": (
        "detectable_format:number_bullet_lists",
        lambda text, limits: len(re.findall(r"^\s*[*-]", text, re.MULTILINE)) >= limits["num_bullets"],
    ),
}
