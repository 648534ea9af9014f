"""Figures of drawn requests for the script of a page: a text of numbers, and the values with colors."""

from __future__ import annotations

from collections import Counter
from functools import cache
from os.path import commonprefix
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from lazy_dataclasses import dataclass
from reporter.contents.session_lanes import LaneTurn
from reporter.json_values import document, members

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.contents.session_lanes import LaneRequest

MOST_COLORS: Final = 5
OTHERS: Final = "others"
_MOST_TAGS: Final = 3
_LONG_MS: Final = 100_000.0
"""From this duration on, a drawing needs no part of a millisecond."""


@dataclass(frozen=True, slots=True)
class LaneFigures:
    """The figures of the requests of a drawing.

    Attributes:
        requests: The numbers of a request, separated by commas; requests, by semicolons.
        prefix: What the ids of all requests begin with; the rests are among the numbers.
        colors: By the name of an attribute, its values, each of which has a color; the last may be `OTHERS`.
    """

    requests: str
    prefix: str
    colors: Mapping[str, tuple[str, ...]]


def figures(requests: Sequence[LaneRequest], rows: Sequence[int], duration_ms: float) -> LaneFigures:
    """The figures of requests, with the row of every request."""
    attributes = [dict(_attributes(request)) for request in requests]
    colors = dict(_colors(attributes))
    prefix = commonprefix([request.sample_uuid for request in requests])  # noqa: RUF071 (no paths)
    places = 0 if duration_ms > _LONG_MS else 1

    def written(request: LaneRequest, row: int, values: Mapping[str, str]) -> Iterator[str]:
        for number in _of_request(request, row):
            yield "" if number is None else f"{round(number, places):.12g}"
        yield quote(request.sample_uuid.removeprefix(prefix), safe="")
        for name, shown in colors.items():
            value = values.get(name, "")
            yield str(shown.index(value) if value in shown else len(shown) - 1)

    return LaneFigures(";".join(map(",".join, map(written, requests, rows, attributes))), prefix, colors)


def _of_request(request: LaneRequest, row: int) -> Iterator[float | None]:
    """Row, turn, and begin; queue, TTFT and decoding; waits for agents and other delays; tokens; failed."""
    turn = request if isinstance(request, LaneTurn) else None
    first_ms = request.sent_ms if request.first_token_ms is None else request.first_token_ms
    yield from (
        row,
        None if turn is None else turn.turn + 1,
        request.sent_ms,
        request.sent_ms - request.due_ms,
    )
    yield None if request.first_token_ms is None else first_ms - request.sent_ms
    yield request.ended_ms - first_ms
    yield (join_ms(turn) or None) if turn else None
    yield None if turn is None or turn.ready_ms is None else max(turn.due_ms - turn.ready_ms, 0.0)
    yield from (request.input_tokens, request.cached_tokens, request.output_tokens, request.is_failed or None)


def join_ms(turn: LaneTurn) -> float:
    """The time in ms from the end of the stream's previous turn to the end of all that a turn waited for."""
    if turn.own_ready_ms is None or turn.ready_ms is None:
        return 0.0
    return max(turn.ready_ms - turn.own_ready_ms, 0.0)


def _attributes(request: LaneRequest) -> Iterator[tuple[str, str]]:
    if isinstance(request, LaneTurn):
        yield "agent", request.agent_name
    if request.endpoint is not None:
        yield "endpoint", request.endpoint
    yield from list(_tags(request.tags).items())[:_MOST_TAGS]


@cache
def _tags(text: str) -> Mapping[str, str]:
    return {name: str(value) for name, value in members(document(text)).items()}


def _colors(attributes: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The attributes that tell requests apart, with the values that most requests have."""
    for name in dict.fromkeys(name for of_request in attributes for name in of_request):
        counts = Counter(of_request.get(name, "") for of_request in attributes)
        if len(counts) > 1:
            common = tuple(value for value, _ in counts.most_common(MOST_COLORS))
            yield name, (*sorted(common), *((OTHERS,) if len(counts) > MOST_COLORS else ()))
