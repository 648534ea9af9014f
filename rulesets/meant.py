"""What a short form that cannot be read was meant to be: the ways in which other tools write requirements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from rulesets.metric_table import quantity_of
from rulesets.quantity import METRIC_ALIASES
from rulesets.target import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAMES: Final[Mapping[str, str]] = {
    "": "latency",
    "duration": "latency",
    "response_time": "latency",
    "http_req_duration": "latency",
    "request_latency": "latency",
    "e2el": "latency",
    "e2e_latency": "latency",
    "end_to_end_latency": "latency",
    "http_req_waiting": "ttfb",
    "time_to_first_token": "ttft",
    "first_token": "ttft",
    "time_per_output_token": "tpot",
    "inter_token_latency": "itl",
    "throughput": "qps",
    "request_throughput": "qps",
    "requests_per_second": "qps",
    "req_per_s": "qps",
    "request_rate": "qps",
    "http_reqs": "qps",
    "output_throughput": "output_tps",
    "output_token_throughput": "output_tps",
    "output_tokens_per_second": "output_tps",
    "tokens_per_second": "output_tps",
    "tok_per_s": "output_tps",
    "token_throughput": "total_tps",
    "total_token_throughput": "total_tps",
    "error_rate": "error",
    "errors": "error",
    "failure": "error",
    "failures": "error",
    "failure_rate": "error",
    "fail_ratio": "error",
    "http_req_failed": "error",
    "accuracy": "accuracy.NAME",
    "score": "accuracy.NAME",
}
"""Names of other tools and of everyday speech."""

_SUCCESS: Final = frozenset(
    {"success", "success_rate", "success_ratio", "successes", "availability", "checks"}
)
_GOODPUT: Final = frozenset({"goodput", "slo", "slo_attainment", "good"})
_OPS: Final = {
    "=<": "<=",
    "=>": ">=",
    "≤": "<=",
    "≥": ">=",
    "<": "<",
    ">": ">",
    "<=": "<=",
    ">=": ">=",
    ":": "<=",
}
_FLIPPED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_UNITS: Final[Mapping[str, str]] = {
    "msec": "ms",
    "milliseconds": "ms",
    "sec": "s",
    "secs": "s",
    "seconds": "s",
    "min": "m",
    "tokens/s": "tok/s",
    "requests/s": "req/s",
    "rps": "req/s",
}
_TOKENS: Final = frozenset({"tok/s", "tokens/s", "tps", "token/s"})
_SHAPE: Final = re.compile(
    r"(?P<left>[^<>=!≤≥]*?)\s*(?P<op>[<>=≤≥]{1,2}|:)\s*(?P<value>\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>%|[a-zA-Zµ]\S*?)?"
    r"(?P<rest>\s*[@!].*)?"
)
_STAT: Final = re.compile(
    r"(?:(?<![a-z0-9])p[\s_(]*|[:\[(]\s*p?[\s_(]*)(\d+(?:\.\d+)?)\s*%?(?:th)?\s*[)\]]?(?![a-z0-9])"
    r"|(?<![a-z])(mean|avg|average|median|min|max)(?![a-z])"
)
_SECONDS: Final = 10
"""A smaller bound of a whole response is in seconds, a larger one in milliseconds."""


class _Read(NamedTuple):
    """The parts of a text.

    Attributes:
        name: The metric's name, as typed, in lower case and with underscores.
        where: The tags in braces.
        stat: The statistic, as a short form has it; empty for none.
    """

    name: str
    where: str
    stat: str
    op: str
    value: float
    unit: str
    rest: str


def meant(text: str) -> Iterator[str]:
    """The short forms that a text may have been meant to be, the likeliest first; some may be wrong, too."""
    read = _read(text)
    if read is None:
        return
    if read.name in _GOODPUT:
        yield f"good(ttft<500ms,tpot<50ms):fraction{read.op}{_share(read)}{read.rest}"
        return
    if read.name in _SUCCESS:
        yield f"error{read.where}{_FLIPPED[read.op]}{_complement(read)}{read.rest}"
        return
    metric = _metric(read)
    written = None if metric is None else _written(metric, read)
    if written is not None:
        yield written


def _read(text: str) -> _Read | None:
    braces = re.search(r"\{[^{}]*\}", text)
    where = braces[0] if braces else ""
    plain = text.replace(where, "").strip().strip("'\"")
    shape = _SHAPE.fullmatch(plain)
    if shape is None or shape["op"] not in _OPS:
        return None
    left = shape["left"].strip().lower()
    stat, name = _stat_and_name(left)
    name, unit = _unit_of(name, shape["unit"] or "")
    rest = (shape["rest"] or "").replace(" ", "")
    return _Read(name, where, stat, _OPS[shape["op"]], float(shape["value"]), unit, rest)


def _stat_and_name(left: str) -> tuple[str, str]:
    match = _STAT.search(left)
    stat = ""
    if match is not None:
        left = f"{left[: match.start()]} {left[match.end() :]}"
        stat = (
            _percentile(match[1]) if match[1] else {"average": "mean", "avg": "mean"}.get(match[2], match[2])
        )
        stat = "p(50)" if stat == "median" else stat
    return stat, re.sub(r"\W+", "_", left).strip("_")


def _percentile(number: str) -> str:
    """`p(99)` of 99, of 0.99, and of 999 as in `p999`."""
    value = float(number)
    if value < 1:
        value *= 100
    elif number.isdigit() and len(number) > 2 and number[0] == "9":  # noqa: PLR2004 (digits of a percentile)
        value = float(f"{number[:2]}.{number[2:]}")
    return f"p({value:g})"


def _unit_of(name: str, unit: str) -> tuple[str, str]:
    """The name without a unit at its end, as in `ttft_ms`, and the unit: that one where there is none."""
    for ending in ("ms", "s", "us", "seconds", "pct", "percent"):
        if name.endswith(f"_{ending}") and name not in _NAMES and name not in METRICS:
            named = {"seconds": "s", "pct": "%", "percent": "%"}.get(ending, ending)
            return name.removesuffix(f"_{ending}"), unit or named
    return name, unit


def _metric(read: _Read) -> str | None:
    if read.name in {"throughput", "tps"} and read.unit.lower() in _TOKENS:
        return "output_tps"
    name = _NAMES.get(read.name, read.name)
    return name if name in METRICS or name in METRIC_ALIASES or name.startswith("accuracy.") else None


def _written(metric: str, read: _Read) -> str | None:
    if metric == "error":
        return f"error{read.where}{read.op}{_share(read)}{read.rest}"
    quantity = quantity_of(METRIC_ALIASES.get(metric, metric))
    value, unit = f"{read.value:g}", _UNITS.get(read.unit, read.unit)
    if unit and unit not in quantity.units:
        return None
    if quantity.kind != "latency":
        stat = f":{read.stat}" if read.stat and quantity.percentiles else ""
        return f"{metric}{read.where}{stat}{read.op}{value}{unit}{read.rest}"
    is_whole = metric in {"latency", "e2e"} and read.value < _SECONDS
    unit = unit or ("s" if is_whole else "ms")
    return f"{metric}{read.where}:{read.stat or 'p(99)'}{read.op}{value}{unit}{read.rest}"


def _share(read: _Read) -> str:
    """A share in percent: a number below 1 without a percent sign is a fraction."""
    is_percent = read.unit == "%" or read.value >= 1
    return f"{read.value:g}%" if is_percent else f"{100 * read.value:g}%"


def _complement(read: _Read) -> str:
    is_percent = read.unit == "%" or read.value > 1
    return f"{round(100 - (read.value if is_percent else 100 * read.value), 9):g}%"
