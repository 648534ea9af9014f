"""Rules without published outputs: verdicts of their official code, by its commit, on made inputs.

`official_verdicts.jsonl` has a line a case: the commit, the rule, the input, and what the official code said.
"""

from __future__ import annotations

import json
import math
import re
from copy import deepcopy
from functools import cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.anomaly import anomaly_in, detection
from loadgen.plugins.evals.grading.lifelong_agent import rows_match
from loadgen.plugins.evals.grading.pinchbench import combined, total_in
from loadgen.plugins.evals.grading.race import DIMENSIONS, race
from loadgen.plugins.evals.grading.shopping_cart import judge_cart
from loadgen.plugins.evals.grading.travel.travel_database import TravelDatabase, read_database
from loadgen.plugins.evals.grading.travel.travel_score import judge_plan
from loadgen.plugins.evals.grading.web_answer import string_score
from loadgen.plugins.evals.tasks import ama_bench, baseline
from loadgen.plugins.evals.tasks.paperarena import verdict_in
from tests.conformance.agreement import Agreement
from tests.plugins.evals.grading.test_travel import CHANGES, META, RIGHT, write_database
from workloads.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

NEEDS: Final = ()
CASES: Final = Path(__file__).with_name("official_verdicts.jsonl")


def agreements(_: Path) -> Iterator[Agreement]:
    """One line a rule, and one a shortcut."""
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    for (rule, commit), of_rule in groupby(cases, key=lambda case: (case["rule"], case["commit"])):
        yield _compared(f"{rule} ({commit})", list(of_rule), RULES[rule])
    replies = [case for case in cases if case["rule"] == "pinchbench, replies of judges"]
    yield _compared("pinchbench: the last total", replies, _last_total, shortcut=True)


def _compared(
    title: str,
    cases: list[Mapping[str, Any]],
    rule: Callable[[Any], Any],
    *,
    shortcut: bool = False,
) -> Agreement:
    judged = [(case, rule(case["case"])) for case in cases]
    wrong = tuple(
        f"{case['case']!r}: ours {ours}, theirs {case['verdict']}"
        for case, ours in judged
        if not _same(ours, case["verdict"])
    )
    return Agreement(title, len(cases), len(cases) - len(wrong), wrong=wrong, shortcut=shortcut)


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=1e-12)
    return bool(ours == theirs)


@cache
def _database() -> TravelDatabase:
    with TemporaryDirectory() as folder:
        write_database(Path(folder))
        return read_database(Path(folder))


def _last_total(reply: str) -> float | None:
    totals = re.findall(r'"total": ([\d.]+)', reply)
    return float(totals[-1]) if totals else None


def _travel(name: str) -> list[str]:
    """The checks and constraints that a plan fails: the right one, or one with a change."""
    plan = deepcopy(RIGHT)
    if name:
        CHANGES[name][0](plan)
    score = judge_plan(plan, META, _database())
    return sorted(check for check, wrong in {**score.faults, **score.constraints}.items() if wrong)


def _cart(case: list[Any]) -> list[Any]:
    cart = judge_cart(*case)
    return [cart.score, cart.complete]


def _checklist(reply: str) -> list[bool]:
    covered = baseline.covered_in(reply)
    return [covered.get(number, False) for number in (1, 2, 3)]


def _paperarena(reply: str) -> list[Any] | None:
    verdict = verdict_in(reply)
    return None if verdict is None else list(verdict)


def _ama_bench(case: list[str]) -> float | None:
    reply, predicted, golden = case
    reference = {"pairs": [{"question": "?", "answer": golden}]}
    return ama_bench.grade(reference, Answer(f"Answer[1]: {predicted}", judged={"1": reply})).value


def _race(case: list[Any]) -> list[Any]:
    result = race(*case)
    return [round(result.overall, 9), [round(result.dimensions[name], 9) for name in DIMENSIONS]]


def _loghub(case: list[Any]) -> list[float]:
    answers, labels = case
    result = detection([anomaly_in(text) for text in answers], labels)
    return [round(figure, 9) for figure in (result.precision, result.recall, result.f1)]


RULES: Final[Mapping[str, Callable[[Any], Any]]] = {
    "pinchbench, replies of judges": total_in,
    "pinchbench, hybrid tasks": lambda case: combined(*case),
    "paperarena, replies of judges": _paperarena,
    "ama_bench, answers and replies": _ama_bench,
    "deepresearch, marks of judges": _race,
    "loghub, windows": _loghub,
    "lifelong-agent, rows": lambda case: rows_match(*case),
    "webchorearena, answers": lambda case: string_score(*case),
    "deepplanning, carts": _cart,
    "deepplanning, travel plans": _travel,
    "baseline, yes or no": baseline.label_in,
    "baseline, checklists": _checklist,
    "baseline, marks": baseline.marks_in,
    "baseline, equal answers": lambda case: baseline.same(*case),
}
