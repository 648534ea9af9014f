"""The cost of a run, as lines for the console and for Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.number_text import NOTHING, as_written, decimals, fixed, whole
from reporter.render.console_page import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DIGITS: Final = 4


def lines(cost: Mapping[str, Any]) -> Iterator[str]:
    """The cost and the notes, one per line."""
    price = cost["price"]
    if price is None:
        yield f"unknown: no price for the model {clean(cost['model'])}"
    else:
        yield (
            f"{dollars(cost['total'])} in all, {dollars(cost['per_request'])} per request "
            f"({whole(cost['priced'])} requests)"
        )
    if cost["judge"] is not None:
        yield f"{dollars(cost['judge'])} for the judge"
    yield from map(_of_task, cost["tasks"])
    if price is not None:
        yield _described(price)
    yield from map(clean, cost["notes"])


def dollars(value: float | None) -> str:
    """A sum, with four digits that mean something."""
    return NOTHING if value is None else f"${fixed(value, decimals(value, _DIGITS))}"


def _of_task(task_cost: Mapping[str, Any]) -> str:
    named = clean(task_cost["task"]) + (
        f", {clean(task_cost['scorer'])}" if task_cost["scorer"] not in {None, "official"} else ""
    )
    if task_cost["correct"] is None:
        return f"{named}: {dollars(task_cost['total'])}; the number of correct answers is unknown"
    each = (
        ""
        if task_cost["per_correct"] is None
        else f", {dollars(task_cost['per_correct'])} per correct answer"
    )
    return f"{named}: {dollars(task_cost['total'])}{each} ({whole(task_cost['correct'])} correct)"


def _described(price: Mapping[str, Any]) -> str:
    rates = [f"input {as_written(price['input'])}", f"output {as_written(price['output'])}"]
    if price["cached_input"] != price["input"]:
        rates.insert(1, f"cached {as_written(price['cached_input'])}")
    if price["reasoning"] != price["output"]:
        rates.append(f"reasoning {as_written(price['reasoning'])}")
    where = f"{clean(price['source'])}, {price['date']}"
    return f"dollars per million tokens of {clean(price['model'])}: {', '.join(rates)} ({where})"
