"""DeepPlanning: the carts of a shopping run, or the evaluation of a travel run.

QwenLM/Qwen-Agent at 31a4d368, `benchmark/deepplanning`. Carts are scored here, by the official rule.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.shopping_cart import accuracy, judge_cart
from loadgen.plugins.imports.results.fields import read_fields, require_there
from loadgen.plugins.imports.results.harness_results import Attempt, HarnessResults, ResultFormat
from workloads.errors import SourceError
from workloads.scorer import Headline

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from loadgen.plugins.evals.grading.shopping_cart import Cart
    from loadgen.plugins.imports.results.fields import Fields

_CASES: Final = "case_*"
_CART, _WANTED, _MESSAGES = "cart.json", "validation_cases.json", "messages.json"
_SCORES: Final = "id_*_score.json"
_SIDES: Final = ("commonsense_weighted_score", "personalized_score", "composite_score")
_LEVEL: Final = re.compile(r"_level(\d)")
_NUMBERS: Final = re.compile(r"(\d+)")
_MOST_TASKS: Final = 100_000


def read(path: Path) -> HarnessResults:
    """Read a folder with `case_N` or of such folders, or the `evaluation` folder of a travel run."""
    require_there(path)
    if scores := [*path.glob(_SCORES), *path.glob(f"evaluation/{_SCORES}")]:
        return HarnessResults(attempts=list(_plans(scores)))
    cases = [*path.glob(_CASES), *path.glob(f"*/{_CASES}")]
    folders = sorted((case for case in cases if case.is_dir()), key=_in_order)
    if not folders:
        raise SourceError(f"{path} is not a run of DeepPlanning: neither {_CASES} nor {_SCORES} in it")
    shopped = [_shopping(folder) for folder in folders]
    _, _, is_valid = accuracy([cart for cart, _ in shopped])
    note = "More than a tenth of the cases are incomplete: officially, such a run is not valid."
    return HarnessResults(
        attempts=[attempt for _, attempt in shopped], groups=("level",), notes=() if is_valid else (note,)
    )


def _in_order(path: Path) -> list[str | int]:
    """`case_2` before `case_10`."""
    return [int(part) if part.isdecimal() else part for part in _NUMBERS.split(str(path))]


def _shopping(folder: Path) -> tuple[Cart, Attempt]:
    wanted = read_fields(folder / _WANTED)
    chat = folder / _MESSAGES
    messages = [message.values for message in read_fields(chat).list("messages")] if chat.is_file() else []
    truth = {
        "ground_truth_products": _products(wanted, "ground_truth_products"),
        "ground_truth_coupons": wanted.inside("ground_truth_coupons").values,
    }
    filled = _cart(folder / _CART)
    cart = judge_cart(filled, truth, messages)
    answers = [message for message in messages if message.get("role") == "assistant"]
    level = _LEVEL.search(folder.parent.name)
    return cart, Attempt(
        task_id=f"level{level[1]}/{folder.name}" if level else folder.name,
        value=cart.score,
        ending=("completed" if cart.complete else "max_turns") if filled else "failed",
        failure=None if filled else "no_cart",
        tags={"level": level[1]} if level else {},
        metrics={"matched": float(cart.matched), "expected": float(cart.expected)} if filled else {},
        prompt=wanted.optional_text("query"),
        answer=_text(answers[-1]) if answers else None,
        messages=messages,
        turns=len(answers) or None,
    )


def _cart(file: Path) -> Mapping[str, Any]:
    """The products and coupons of a cart; empty without the file, or for an empty one."""
    cart = read_fields(file) if file.is_file() else None
    if cart is None or not cart.values:
        return {}
    coupons = cart.list("used_coupons") if cart.values.get("used_coupons") else ()
    return {
        "items": _products(cart, "items"),
        "used_coupons": [
            {"coupon_name": coupon.text("coupon_name"), "quantity": coupon.count("quantity") or 0}
            for coupon in coupons
        ],
    }


def _products(fields: Fields, key: str) -> list[dict[str, str | None]]:
    return [{"product_id": product.optional_text("product_id")} for product in fields.list(key)]


def _text(message: Mapping[str, Any]) -> str | None:
    content = message.get("content")
    return content if isinstance(content, str) and content else None


def _plans(files: list[Path]) -> Iterator[Attempt]:
    """The evaluated plans, and a failed attempt for each task without a plan."""
    summary = files[0].with_name("evaluation_summary.json")
    total = read_fields(summary).count("total_test_samples") if summary.is_file() else None
    seen = set()
    for file in sorted(files, key=_in_order):
        evaluated = read_fields(file)
        scores = evaluated.members("scores")
        if scores is None:
            raise evaluated.error("scores", "is missing")
        seen.add(task := evaluated.text("sample_id"))
        figures = {name: scores.number(name) for name in _SIDES}
        yield Attempt(task_id=task, value=scores.number("case_acc"), metrics=figures)
    for number in range(min(total or 0, _MOST_TASKS)):
        if str(number) not in seen:
            yield Attempt(task_id=str(number), value=0.0, ending="failed", failure="no_plan")


FORMAT: Final = ResultFormat(
    "deepplanning",
    "DeepPlanning: a folder of shopping's cases, or travel's evaluation folder",
    "QwenLM/Qwen-Agent at 31a4d368, benchmark/deepplanning",
    read,
    (
        Headline("accuracy"),
        Headline("match_rate", "sum(metrics['matched']) / nullif(sum(metrics['expected']), 0)"),
    ),
)
