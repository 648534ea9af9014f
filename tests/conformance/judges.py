"""What judges say, and how it is read: cases of our own, and random texts against the published rules.

There are no recorded judgements to be had. `tests/plugins/evals/tasks/judgements.jsonl` says what each text
means; the published rules are written down here once more, as they are.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

import duckdb

from loadgen.plugins.evals.grading.pairwise import PairwiseComparison, PairwiseVerdict
from loadgen.plugins.evals.tasks.hle import CALIBRATION_ERROR, CALIBRATION_ERROR_OF_ALL
from loadgen.plugins.evals.tasks.mt_bench import rating_in
from tests.conformance.agreement import Agreement
from workloads.answer import Answer
from workloads.catalog import workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

NEEDS: Final = ()
CASES: Final = Path(__file__).parents[1] / "plugins" / "evals" / "tasks" / "judgements.jsonl"
KEYS: Final = {"mt_bench": ("turn_1", "turn_2")}
_PIECES: Final = (
    "A",
    "B",
    "C",
    "[[A]]",
    "[[B]]",
    "[[C]]",
    "[[7]]",
    "[3.5]",
    "[[",
    "]]",
    "correct",
    "\r\n",
    " ",
    "é",
)
_TEXTS: Final = 20_000


def agreements(_: Path) -> Iterator[Agreement]:
    """One line a judge, and one a shortcut."""
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    for task in sorted({case["task"] for case in cases}):
        of_task = [case for case in cases if case["task"] == task]
        yield _table(
            f"{task}/official, what a judge said", of_task, lambda case: value_of(case["task"], case["said"])
        )
    for name, (task, read) in _SHORTCUTS.items():
        of_task = [case for case in cases if case["task"] == task]
        yield _table(f"{task}: {name}", of_task, lambda case, read=read: read(case["said"]), shortcut=True)
    texts = [_random_text(Random(seed)) for seed in range(_TEXTS)]  # noqa: S311 (no secret)
    yield _same("simpleqa/official, random texts", texts, _simpleqa, lambda text: value_of("simpleqa", text))
    yield _same("mt_bench/official, random texts", texts, _rating, rating_in)
    yield _calibration("hle/calibration_error, as published", CALIBRATION_ERROR.sql, last_bin=False)
    yield _calibration("hle/calibration_error_of_all", CALIBRATION_ERROR_OF_ALL.sql, last_bin=True)
    yield _calibration(
        "hle: all bins, compared with the published",
        CALIBRATION_ERROR_OF_ALL.sql,
        last_bin=False,
        shortcut=True,
    )
    yield _position_only("wildchat/both_orders, a judge that sees the order alone", lambda pair: pair.mean)
    yield _position_only("wildchat: either order", lambda pair: pair.either, shortcut=True)


def value_of(task: str, reply: str) -> float | None:
    """The score of an answer, when a judge replies with this to each question about it."""
    judged = dict.fromkeys(KEYS.get(task, ("verdict",)), reply)
    return workload(task).scorers[0].grade({}, Answer("", judged=judged)).value


_SHORTCUTS: Final = {
    "the last letter": ("simpleqa", lambda reply: float((re.findall("[ABC]", reply) or "C")[-1] == "A")),
    "the first letter, in capitals": ("simpleqa", lambda reply: float(reply.strip().upper()[:1] == "A")),
    "TRUE somewhere": ("frames", lambda reply: float("TRUE" in reply.upper())),
    "a line that begins with Decision:": (
        "frames",
        lambda reply: float(
            any(line.startswith("Decision:") and "TRUE" in line for line in reply.splitlines())
        ),
    ),
    "yes somewhere": ("hle", lambda reply: float("yes" in reply)),
    "the last number": ("mt_bench", lambda reply: float((re.findall(r"\d+", reply) or "0")[-1])),
}


def _simpleqa(text: str) -> float:
    """openai/simple-evals, simpleqa_eval.py: `grade_sample`."""
    match = re.search(r"(A|B|C)", text)
    return float((match.group(0) if match else "C") == "A")


def _rating(text: str) -> float | None:
    """lm-sys/FastChat, fastchat/llm_judge/common.py: `run_judge_single`."""
    match = re.search(r"\[\[(\d+\.?\d*)\]\]", text) or re.search(r"\[(\d+\.?\d*)\]", text)
    return float(match.groups()[0]) if match else None


def _random_text(random: Random) -> str:
    return "".join(random.choices(_PIECES, k=random.randrange(8)))


def _table(
    title: str,
    cases: Sequence[dict[str, object]],
    read: Callable[..., float | None],
    *,
    shortcut: bool = False,
) -> Agreement:
    wrong = [f"{case['said']!r}: {case['value']}" for case in cases if read(case) != case["value"]]
    return Agreement(title, len(cases), len(cases) - len(wrong), {}, tuple(wrong), shortcut)


def _same(
    title: str, texts: Sequence[str], theirs: Callable[[str], object], ours: Callable[[str], object]
) -> Agreement:
    wrong = [repr(text) for text in texts if ours(text) != theirs(text)]
    return Agreement(title, len(texts), len(texts) - len(wrong), wrong=tuple(wrong))


def _calibration(title: str, sql: str, *, last_bin: bool, shortcut: bool = False) -> Agreement:
    """Random judgements; no two have the same confidence, for the published sort has no order for such."""
    wrong = []
    sizes = [0, 1, 99, 100, 101, 199, 200, 201, 300, 999, 2158, 2500]
    for size in sizes:
        random = Random(size)  # noqa: S311 (no secret)
        confidences = random.sample([number / 10_000 for number in range(10_001)], size)
        rows = [(confidence, float(random.random() < confidence)) for confidence in confidences]
        ours, theirs = calibration_error(sql, rows), published(rows, last_bin=last_bin)
        near = ours == theirs if ours is None or theirs is None else abs(ours - theirs) < 1e-12
        if not near:
            wrong.append(f"{size} samples: ours {ours}, theirs {theirs}")
    return Agreement(title, len(sizes), len(sizes) - len(wrong), {}, tuple(wrong), shortcut)


def calibration_error(sql: str, rows: Sequence[tuple[float, float]]) -> float | None:
    """A headline over judged answers, each a confidence and a value."""
    confidences, values = [confidence for confidence, _ in rows], [value for _, value in rows]
    query = f"""
        SELECT {sql} FROM (
            SELECT
                generate_subscripts(?::DOUBLE[], 1) AS prompt_id,
                1 AS attempt,
                unnest(?::DOUBLE[]) AS value,
                MAP {{'confidence': unnest(?::DOUBLE[])}} AS metrics
        )"""  # noqa: S608 (our own expression)
    rows_of_error = duckdb.connect().execute(query, [values, values, confidences]).fetchall()
    return None if rows_of_error[0][0] is None else float(rows_of_error[0][0])


def published(rows: Sequence[tuple[float, float]], *, last_bin: bool) -> float | None:
    """centerforaisafety/hle, hle_eval/run_judge_results.py: `calib_err`; with its last bin, or as it is."""
    ordered = sorted(rows)
    bins = [(start, start + 100) for start in range(0, len(ordered) // 100 * 100, 100)]
    if not bins:
        return None
    bins[-1] = (bins[-1][0], len(ordered))
    error = 0.0
    for start, end in bins if last_bin else bins[:-1]:
        part = ordered[start:end]
        confidence = sum(stated for stated, _ in part) / len(part)
        correct = sum(value for _, value in part) / len(part)
        error += len(part) / len(ordered) * (confidence - correct) ** 2
    return float(error**0.5)


def _position_only(
    title: str, value: Callable[[PairwiseComparison], float], *, shortcut: bool = False
) -> Agreement:
    """The answer in the first position wins: as no answer is better, half a win is the truth."""
    comparisons = [PairwiseComparison(verdict, verdict) for verdict in PairwiseVerdict]
    agree = sum(value(comparison) == 0.5 for comparison in comparisons)
    return Agreement(title, len(comparisons), agree, shortcut=shortcut)
