"""From the text of a metrics page to our quantities, by prometheus_client's parser.

Only the lines that the table names are parsed: a page has thousands, and the parser takes 10 us for each.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from recorder.sensors.names import ENGINES, IDENTITY, NOT_SUCCESSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from recorder.sensors.names import SensorQuantity

    Labels = tuple[tuple[str, str], ...]

MOST_THINGS: Final = 64
"""The most combinations of labels that are kept apart: engines of a server, GPUs of a host."""

_LONGEST_LABEL: Final = 200
_UNAVAILABLE: Final = 2.0**62
"""DCGM has values above this in place of those that a GPU does not have."""


class UnreadableError(ValueError):
    """The lines of a page are not in Prometheus' format."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What a page says of one thing.

    Attributes:
        labels: What it is.
        values: Numbers by our names.
        histograms: Cumulative counts by upper bound, by our names; empty unless they were asked for.
    """

    labels: Mapping[str, str]
    values: dict[str, float] = field(default_factory=dict)
    histograms: dict[str, dict[str, float]] = field(default_factory=dict)


def engine_of(text: str) -> str | None:
    """The engine that has most lines on a page; None where no line has the prefix of one."""
    counts = {name: len(_lines_of(prefix).findall(text)) for name, prefix in ENGINES.items()}
    name = max(counts, key=lambda engine: counts[engine])
    return name if counts[name] else None


@lru_cache(maxsize=len(ENGINES))
def _lines_of(prefix: str) -> re.Pattern[str]:
    return re.compile(f"^{re.escape(prefix)}", re.MULTILINE)


def observed(text: str, engine: str, quantities: Sequence[SensorQuantity], *, whole: bool) -> list[Observed]:
    """What a page says, by what its labels name.

    Args:
        text: The page.
        engine: Whose names it has.
        quantities: What is looked for.
        whole: Also the buckets of histograms.

    Raises:
        UnreadableError: A line is not in Prometheus' format.
    """
    by_name = _samples(text, engine, tuple(quantities), whole=whole)
    things: dict[Labels, Observed] = {}
    for quantity in quantities:
        for name in quantity.names.get(engine, ()):
            if quantity.kind == "histogram":
                was_there = _add_histogram(things, quantity, name, by_name)
            else:
                was_there = _add_number(things, quantity, by_name.get(name, ()))
            if was_there:
                break
    return list(things.values())


def _samples(
    text: str, engine: str, quantities: tuple[SensorQuantity, ...], *, whole: bool
) -> Mapping[str, list[Any]]:
    from prometheus_client.parser import text_string_to_metric_families

    lines = "\n".join(match[0] for match in _pattern(engine, quantities, whole=whole).finditer(text))
    by_name: defaultdict[str, list[Any]] = defaultdict(list)
    try:
        for family in text_string_to_metric_families(lines + "\n"):
            for sample in family.samples:
                by_name[sample.name].append(sample)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise UnreadableError(str(error)) from error
    return by_name


@lru_cache(maxsize=16)
def _pattern(engine: str, quantities: tuple[SensorQuantity, ...], *, whole: bool) -> re.Pattern[str]:
    names = []
    for quantity in quantities:
        for name in quantity.names.get(engine, ()):
            parts = (
                ("_sum", "_count", *(("_bucket",) if whole else ()))
                if quantity.kind == "histogram"
                else ("",)
            )
            names += [re.escape(name + part) for part in parts]
    return re.compile(rf"^(?:{'|'.join(names) or '(?!)'})[ \t{{].*$", re.MULTILINE)


def _add_number(things: dict[Labels, Observed], quantity: SensorQuantity, samples: Iterable[Any]) -> bool:
    was_there = False
    for sample, value in _usable(samples):
        if any(sample.labels.get(label) in refused for label, refused in NOT_SUCCESSES.items()):
            was_there = True
            value = 0.0  # noqa: PLW2901 (so that a counter that has only these is 0)
        thing = _thing(things, sample.labels)
        if thing is not None:
            thing.values[quantity.name] = thing.values.get(quantity.name, 0.0) + value * quantity.scale
            was_there = True
    return was_there


def _add_histogram(
    things: dict[Labels, Observed], quantity: SensorQuantity, name: str, by_name: Mapping[str, list[Any]]
) -> bool:
    was_there = False
    for suffix, ours in (
        ("_sum", f"{quantity.name}_sum_s"),
        ("_count", f"{quantity.name}_{quantity.of}_total"),
    ):
        for sample, value in _usable(by_name.get(name + suffix, ())):
            if (thing := _thing(things, sample.labels)) is not None:
                thing.values[ours] = thing.values.get(ours, 0.0) + value
                was_there = True
    for sample, value in _usable(by_name.get(f"{name}_bucket", ())):
        if (thing := _thing(things, sample.labels)) is not None:
            buckets = thing.histograms.setdefault(quantity.name, {})
            bound = sample.labels.get("le", "")
            buckets[bound] = buckets.get(bound, 0.0) + value
    return was_there


def _usable(samples: Iterable[Any]) -> Iterator[tuple[Any, float]]:
    """Samples whose value is a number that a quantity can have: none is negative."""
    for sample in samples:
        value = float(sample.value)
        if math.isfinite(value) and 0 <= value < _UNAVAILABLE:
            yield sample, value


def _thing(things: dict[Labels, Observed], labels: Mapping[str, str]) -> Observed | None:
    identity = {name: value[:_LONGEST_LABEL] for name, value in sorted(labels.items()) if name in IDENTITY}
    key = tuple(identity.items())
    if key not in things and len(things) >= MOST_THINGS:
        return None
    return things.setdefault(key, Observed(identity))
