"""A load in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reporter.render.figures import as_written, whole
from reporter.render.page import clean
from workloads.arrivals import ARRIVAL_PROCESSES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def load_in_words(load: Mapping[str, Any]) -> Iterator[str]:
    """How requests left, one phrase after the other; none where that is not known.

    Args:
        load: The settings' load, see `loadgen.driver.load_record`.
    """
    match load.get("kind"):
        case "closed":
            yield f"closed loop with {whole(load.get('concurrency'))} in flight"
        case "constant" if load.get("rate") is not None:
            yield f"open loop at a constant {as_written(load['rate'])} requests/s"
        case str(kind) if kind in ARRIVAL_PROCESSES:
            yield f"open loop, {ARRIVAL_PROCESSES[kind].label}{_burstiness(load)} {_rate(load)}"
        case "trace":
            yield f"open loop, a trace replayed{_speed(load)}"
        case "offline":
            yield "offline, all requests at once"
        case other if other:
            yield clean(other)
    if load.get("max_concurrency") is not None:
        yield f"at most {whole(load['max_concurrency'])} in flight"
    if load.get("think") is not None:
        yield f"users pausing for {clean(load['think'])}"


def _burstiness(load: Mapping[str, Any]) -> str:
    shape = load.get("burstiness")
    return "" if shape is None else f" of burstiness {as_written(shape)}"


def _rate(load: Mapping[str, Any]) -> str:
    """A rate, or how it changes."""
    if stages := load.get("stages"):
        return f"in {whole(len(stages))} stages"
    shown = as_written(load.get("rate")) if load.get("profile") is None else clean(load["profile"])
    return f"at {shown} requests/s"


def _speed(load: Mapping[str, Any]) -> str:
    speed = load.get("trace_speed")
    return "" if speed is None or speed == 1 else f" {as_written(speed)} times as fast"
