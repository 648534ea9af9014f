"""From the text of a metrics page to our quantities, by prometheus_client's parser.

Only the lines that the table names are parsed: a page has thousands, and the parser takes 10 us for each.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from lazy_dataclasses import dataclass, field
from recorder.sensors.names import ENGINES, IDENTITY, NOT_SUCCESSES, SERVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recorder.sensors.names import SensorQuantity

    Labels = tuple[tuple[str, str], ...]

MOST_THINGS: Final = 64
"""The most combinations of labels that are kept apart: engines of a server, GPUs of a host."""

_Part = TypeVar("_Part", bound=Hashable)
_LONGEST_LABEL: Final = 200
_DCGM_BLANKS: Final = ((0x7FFFFFF0, 2**31), (0xFFFFFFF0, 2**32), (2**47, math.inf))
"""Ranges of what DCGM has in place of a value (dcgm_structs.h: INT32_BLANK, FP64_BLANK, INT64_BLANK)."""


class UnreadableError(ValueError):
    """The lines of a page are not in Prometheus' format."""


@dataclass(frozen=True, slots=True)
class Observed:
    """The values of one thing on a page."""

    labels: Mapping[str, str]
    values: dict[str, float] = field(default_factory=dict)
    #: Cumulative counts by upper bound, by our names; empty unless they were asked for.
    histograms: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Naming:
    """Whose names a page has, and the prefix that they have there: `ray_vllm_` for vLLM behind Ray Serve."""

    engine: str
    prefix: str


_STEMS: Final = {prefix[:-1]: engine for engine, prefix in ENGINES.items()}
_PREFIX: Final = rf"(?P<prefix>(?:[A-Za-z_:][\w:]*?[_:])?(?P<stem>{'|'.join(_STEMS)})[:_])"
_BEGINNING: Final = r"(?:^|(?<=\\n))"
"""Of a line, also after a line end that was written as a backslash and n."""
_PREFIXES: Final = re.compile(_BEGINNING + _PREFIX, re.MULTILINE | re.ASCII)


def naming_of(text: str) -> Naming | None:
    """The naming that most lines of a page have; None where no line has the prefix of an engine."""
    counts = Counter((match["stem"], match["prefix"]) for match in _PREFIXES.finditer(text))
    if not counts:
        return None
    ((stem, prefix),) = (pair for pair, _ in counts.most_common(1))
    return Naming(_STEMS[stem], prefix)


def is_known(text: str) -> bool:
    """Whether a line of a page begins with a known metric of a server."""
    naming = naming_of(text)
    return naming is not None and _pattern(naming, tuple(SERVER), whole=False)[0].search(text) is not None


def mentioned(text: str) -> str | None:
    """A name of an engine's metric that stands anywhere in a text."""
    match = re.search(rf"\b{_PREFIX}\w+", text, re.ASCII)
    return match[0] if match else None


def observed(
    text: str, naming: Naming, quantities: Sequence[SensorQuantity], *, whole: bool
) -> list[Observed]:
    """The values on a page, by the thing that labels name; raise `UnreadableError` for other formats."""
    by_name = _samples(text, naming, tuple(quantities), whole=whole)
    things: dict[Labels, Observed] = {}
    for quantity in quantities:
        for name in quantity.names.get(naming.engine, ()):
            if quantity.kind == "histogram":
                was_there = _add_histogram(things, quantity, name, by_name)
            else:
                parts = [_usable(by_name.get(part, ())) for part in name.split(" + ")]
                was_there = all(parts)
                for part in parts if was_there else ():
                    _add(things, quantity, part, quantity.name)
            if was_there:
                break
    return list(things.values())


def _samples(
    text: str, naming: Naming, quantities: tuple[SensorQuantity, ...], *, whole: bool
) -> Mapping[str, list[Any]]:
    from prometheus_client.parser import text_string_to_metric_families

    pattern, theirs = _pattern(naming, quantities, whole=whole)
    lines = "\n".join(theirs[match[1]] + match[2] for match in pattern.finditer(text))
    by_name: defaultdict[str, list[Any]] = defaultdict(list)
    try:
        for family in text_string_to_metric_families(lines + "\n"):
            for sample in family.samples:
                by_name[sample.name].append(sample)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise UnreadableError(str(error)) from error
    if naming.engine == "intel_exporter":
        return {
            name: [sample for sample in usable if "card" not in sample.labels]
            for name, usable in by_name.items()
        }
    if naming.engine == "dcgm":
        return {
            name: [sample for sample in usable if not _is_blank(sample.value)]
            for name, usable in by_name.items()
        }
    return by_name


@lru_cache(maxsize=16)
def _pattern(
    naming: Naming, quantities: tuple[SensorQuantity, ...], *, whole: bool
) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """The lines that have a known name, and the engine's own name by the one on the page without `_total`."""
    usual = ENGINES.get(naming.engine, "")
    theirs = {}
    for quantity in quantities:
        for name in quantity.names.get(naming.engine, ()):
            parts = ("",)
            if quantity.kind == "histogram":
                parts = ("_sum", "_count", *(("_bucket",) if whole else ()))
            for metric in name.split(" + "):
                for part in parts:
                    there = naming.prefix + (metric + part).removeprefix(usual).removesuffix("_total")
                    theirs[there] = metric + part
    names = "|".join(map(re.escape, theirs)) or "(?!)"
    # Ray and OpenTelemetry put `_total` behind a counter, or leave it out.
    return re.compile(rf"{_BEGINNING}({names})(?:_total)*([ \t{{].*)$", re.MULTILINE), theirs


def _is_blank(value: float) -> bool:
    return any(low <= value < high for low, high in _DCGM_BLANKS)


def _add(
    things: dict[Labels, Observed], quantity: SensorQuantity, usable: Sequence[tuple[Any, float]], ours: str
) -> None:
    """Add what a metric says of each thing to its value of a quantity."""
    by_thing: defaultdict[Labels, list[tuple[Mapping[str, str], float]]] = defaultdict(list)
    for sample, value in usable:
        failed = any(sample.labels.get(label) in refused for label, refused in NOT_SUCCESSES.items())
        # So that a counter that has only these is 0.
        by_thing[_identity(sample.labels)].append((sample.labels, 0.0 if failed else value))
    for identity, values in by_thing.items():
        if (thing := _thing(things, identity)) is not None:
            combined = _combined(quantity, values) * quantity.scale
            thing.values[ours] = thing.values.get(ours, 0.0) + combined


def _combined(quantity: SensorQuantity, values: Sequence[tuple[Mapping[str, str], float]]) -> float:
    """One value of several of one thing.

    Ranks of an engine have the same requests: the largest counts. SGLang's total of a gauge is `priority=""`.
    """
    if quantity.combined == "device":
        return max(value for _, value in values)
    if quantity.combined == "instances":
        parts = (labels.get("GPU_I_ID") or labels.get("sub_dev", "") for labels, _ in values)
        largest = _largest(zip(parts, (value for _, value in values), strict=True))
        return max(largest.pop("", 0.0), sum(largest.values()))
    if not quantity.name.endswith("_total"):
        values = [each for each in values if each[0].get("priority") == ""] or values
    apart = _largest((_without_ranks(labels), value) for labels, value in values)
    return math.fsum(apart.values()) / (len(apart) if quantity.combined == "mean" else 1)


def _largest(values: Iterable[tuple[_Part, float]]) -> dict[_Part, float]:
    largest: dict[_Part, float] = {}
    for part, value in values:
        largest[part] = max(value, largest.get(part, value))
    return largest


def _without_ranks(labels: Mapping[str, str]) -> Labels:
    return tuple(
        sorted(
            (name, value) for name, value in labels.items() if name == "dp_rank" or not name.endswith("_rank")
        )
    )


def _add_histogram(
    things: dict[Labels, Observed], quantity: SensorQuantity, name: str, by_name: Mapping[str, list[Any]]
) -> bool:
    usable = [_usable(by_name.get(name + suffix, ())) for suffix in ("_sum", "_count")]
    _add(things, quantity, usable[0], f"{quantity.name}_sum_s")
    _add(things, quantity, usable[1], f"{quantity.name}_{quantity.of}_total")
    apart = _largest(
        (_without_ranks(sample.labels), value) for sample, value in _usable(by_name.get(f"{name}_bucket", ()))
    )
    for labels, value in apart.items():
        if (thing := _thing(things, _identity(dict(labels)))) is not None:
            buckets = thing.histograms.setdefault(quantity.name, {})
            bound = dict(labels).get("le", "")
            buckets[bound] = buckets.get(bound, 0.0) + value
    return any(usable)


def _usable(samples: Iterable[Any]) -> list[tuple[Any, float]]:
    """Samples whose value is a number that a quantity can have: none is negative."""
    values = ((sample, float(sample.value)) for sample in samples)
    return [(sample, value) for sample, value in values if math.isfinite(value) and value >= 0]


def _identity(labels: Mapping[str, str]) -> Labels:
    """The labels that name a thing. The UUID of a MIG instance does not name its GPU."""
    return tuple(
        (name, value[:_LONGEST_LABEL])
        for name, value in sorted(labels.items())
        if name in IDENTITY and not value.startswith("MIG-")
    )


def _thing(things: dict[Labels, Observed], identity: Labels) -> Observed | None:
    if identity not in things and len(things) >= MOST_THINGS:
        return None
    return things.setdefault(identity, Observed(dict(identity)))
