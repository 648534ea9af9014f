"""Sessions drawn over time: a lane a stream of requests, as inline SVG of bounded size."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.number_text import NOTHING, counted, figure, seconds, whole
from reporter.render.html.lane_figures import figures, join_ms
from reporter.render.html.page import ROW, SessionLanes, SwimLane
from reporter.render.table import Mark, Table, headed, tone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reporter.contents.session_lanes import LaneRequest, LaneTurn

WIDTH: Final = 5000
"""Units of the drawing from the first issue to the last end of a session."""
LEAST: Final = 3
"""The width of the shortest part of a request."""
ZOOM: Final = "Drag, or press + and -, to zoom; click a request for its figures."
_INDENT: Final = "\u00a0\u00a0"
_MOST_ROWS: Final = 32
_MOST_FIGURES: Final = 300
"""The most requests whose figures a session has in the page."""

KINDS: Final = {
    "link": "starts and joins",
    "join": "waits for other agents",
    "tool": "tools",
    "pause": "other delays",
    "wait": "queue of the client",
    "prefill": "to the first token",
    "decode": "to the last token",
    "failed": "failed",
}
"""What a drawing shows, in the order in which it is drawn."""


def section(sessions: Iterable[Sequence[LaneTurn]], of: int, noun: str = "session") -> SessionLanes:
    """The drawings of sessions or episodes.

    Args:
        sessions: The requests of each, the slowest first.
        of: The number of measured sessions.
        noun: What they are called, which names the SQL too.
    """
    drawn = tuple(map(_session, sessions))
    chosen = f"The slowest of {counted(of, noun)}, and one of median duration" if of > len(drawn) else "All"
    used = {kind for session in drawn for kind, _ in session.paths}
    return SessionLanes(
        f"{noun}-lanes",
        f"{noun.capitalize()}s over time",
        drawn,
        tuple((kind, words) for kind, words in KINDS.items() if kind in used),
        f"{chosen}; times from the first issue. {ZOOM}",
        statements.figures(f"{noun}_lanes"),
    )


def _session(turns: Sequence[LaneTurn]) -> SwimLane:
    first = turns[0]
    rows = _rows(turns)
    shown = [turn for turn in turns if turn.stream in rows]
    longest = _longest(shown, rows)
    streams = len({turn.stream for turn in turns})
    left_out = streams - len(rows)
    facts = [
        seconds(first.duration_ms / 1e3),
        counted(len(turns), "request"),
        *([counted(streams, "agent")] if streams > 1 else []),
        *([f"{whole(left_out)} of them not drawn"] if left_out else []),
    ]
    return SwimLane(
        mark=Mark(first.ending, "good" if first.ending == "completed" else tone(first.ending)),
        title=first.session_id,
        facts=", ".join(facts),
        names=_names(shown, rows),
        from_ms=0.0,
        ms=first.duration_ms,
        rows=max(rows.values()) + 1,
        paths=tuple(_paths(shown, rows)),
        figures=figures(longest, [rows[turn.stream] for turn in longest], first.duration_ms),
        table=_table(turns),
    )


def _rows(turns: Sequence[LaneTurn]) -> dict[int, int]:
    """The row of each stream, in the order of the tree.

    A stream that began after another one of the same agent had ended takes the row of that one.
    """
    spans: dict[int, tuple[float, float]] = {}
    for turn in turns:
        begin, end = spans.get(turn.stream, (_begin(turn), turn.ended_ms))
        spans[turn.stream] = min(begin, _begin(turn)), max(end, turn.ended_ms)
    parents = _parents(turns)
    places: dict[int, tuple[int, ...]] = {}
    free_ms: dict[tuple[int, ...], float] = {}
    for stream, (begin, end) in sorted(
        spans.items(), key=lambda item: (len(_path(item[0], parents)), item[1])
    ):
        parent = places.get(parents[stream], ()) if stream in parents else ()
        number = next(number for number in count() if free_ms.get((*parent, number), begin) <= begin)
        places[stream] = (*parent, number)
        free_ms[places[stream]] = end
    drawn = sorted(free_ms)[:_MOST_ROWS]
    return {stream: drawn.index(place) for stream, place in places.items() if place in drawn}


def _parents(turns: Iterable[LaneTurn]) -> dict[int, int]:
    """The stream that started each stream but the main ones."""
    return {turn.stream: turn.parent for turn in turns if turn.parent is not None}


def _path(stream: int, parents: Mapping[int, int]) -> tuple[int, ...]:
    """The streams from the main agent to a stream, without repetition where a log's parents form a circle."""
    path = [stream]
    while (parent := parents.get(path[0])) is not None and parent not in path:
        path.insert(0, parent)
    return tuple(path)


def _begin(turn: LaneTurn) -> float:
    return turn.sent_ms if turn.ready_ms is None else min(turn.ready_ms, turn.sent_ms)


def _names(turns: Sequence[LaneTurn], rows: Mapping[int, int]) -> tuple[str, ...]:
    """A name for each row: the main agent's, that of a subagent, or how many subagents share it."""
    agents: dict[int, dict[int, str]] = defaultdict(dict)
    parents = _parents(turns)
    for turn in turns:
        agents[rows[turn.stream]][turn.stream] = _name(turn, parents)
    return tuple(
        f"{next(iter(names.values()))} ×{len(names)}" if len(names) > 1 else next(iter(names.values()))  # noqa: RUF001
        for _, names in sorted(agents.items())
    )


def _name(turn: LaneTurn, parents: Mapping[int, int]) -> str:
    """The name of an agent, indented by the depth in the tree."""
    depth = len(_path(turn.stream, parents)) - 1
    return f"{_INDENT * (depth - 1)}└ {turn.agent_name}" if depth else turn.agent_name


def _paths(turns: Sequence[LaneTurn], rows: Mapping[int, int]) -> Iterator[tuple[str, str]]:
    """The kinds of lines, each with a path."""
    scale = WIDTH / turns[0].duration_ms
    lines: dict[str, list[str]] = defaultdict(list)
    pens: dict[str, tuple[int, int]] = {}

    def draw(kind: str, row: int, begin: float | None, end: float | None, least: int = 0) -> None:
        if begin is None or end is None:
            return
        x, y = round(begin * scale), row * ROW + ROW // 2
        width = max(round(end * scale) - x, least)
        if width > 0:
            from_x, from_y = pens.get(kind, (0, 0))
            lines[kind].append(f"m{x - from_x} {y - from_y}h{width}")
            pens[kind] = x + width, y

    by_number = {turn.turn: turn for turn in turns}
    for turn in sorted(turns, key=lambda turn: (rows[turn.stream], turn.sent_ms)):
        row = rows[turn.stream]
        due_ms = turn.due_ms
        tools_ms = min((turn.ready_ms or 0.0) + (turn.tool_ms or 0.0), due_ms)
        draw("join", row, turn.own_ready_ms, turn.ready_ms)
        draw("tool", row, turn.ready_ms, tools_ms)
        draw("pause", row, None if turn.ready_ms is None else tools_ms, due_ms)
        draw("wait", row, due_ms, turn.sent_ms)
        if turn.is_failed:
            draw("failed", row, turn.sent_ms, turn.ended_ms, LEAST)
        else:
            first_ms = turn.ended_ms if turn.first_token_ms is None else turn.first_token_ms
            draw("prefill", row, turn.sent_ms, first_ms, LEAST)
            draw("decode", row, first_ms, turn.ended_ms)
        before = by_number.get(-1 if turn.waited_for is None else turn.waited_for)
        if before is not None and rows[before.stream] != row and turn.ready_ms is not None:
            x, y = round(turn.ready_ms * scale), rows[before.stream] * ROW + ROW // 2
            from_x, from_y = pens.get("link", (0, 0))
            lines["link"].append(f"m{x - from_x} {y - from_y}v{(row - rows[before.stream]) * ROW}")
            pens["link"] = x, row * ROW + ROW // 2
    for kind in KINDS:
        if kind in lines:
            yield kind, "".join(lines[kind])


def _longest(turns: Sequence[LaneTurn], rows: Mapping[int, int]) -> list[LaneTurn]:
    """The requests with figures in the page, in the order of the rows."""
    longest = sorted(turns, key=lambda turn: turn.sent_ms - turn.ended_ms)[:_MOST_FIGURES]
    return sorted(longest, key=lambda turn: (rows[turn.stream], turn.sent_ms))


def requests(drawn: Sequence[LaneRequest], of: int) -> SessionLanes:
    """The drawing of requests, which overlap in no row.

    Args:
        drawn: In the order in which they were due.
        of: The number of measured requests that ended.
    """
    begin_ms, end_ms = min(it.due_ms for it in drawn), max(it.ended_ms for it in drawn)
    free_ms: list[float] = []
    rows = []
    for request in drawn:
        row = next((row for row, free in enumerate(free_ms) if free <= request.due_ms), len(free_ms))
        free_ms[row : row + 1] = [request.ended_ms]
        rows.append(row)
    chosen = f"{whole(len(drawn))} of {counted(of, 'request')}: the slowest, and others at random. "
    kinds = ("wait", "prefill", "decode", *(("failed",) if any(it.is_failed for it in drawn) else ()))
    duration_ms = max(end_ms - begin_ms, 1e-3)
    lane = SwimLane(
        mark=None,
        title="Requests over time",
        facts=counted(len(drawn), "request"),
        names=(),
        from_ms=begin_ms,
        ms=duration_ms,
        rows=len(free_ms),
        paths=(),
        figures=figures(drawn, rows, duration_ms),
        table=None,
    )
    return SessionLanes(
        "request-lanes",
        "Requests over time",
        (lane,),
        tuple((kind, KINDS[kind]) for kind in kinds),
        f"{chosen if of > len(drawn) else ''}{_REQUESTS}",
        statements.figures("request_lanes"),
    )


_REQUESTS: Final = (
    "Each bar is a request from the moment when it was due; a row has requests that do not overlap. "
    f"Times are from the start of the measured window. {ZOOM}"
)


def _table(turns: Sequence[LaneTurn]) -> Table:
    """The agents of a session."""
    streams: dict[int, list[LaneTurn]] = defaultdict(list)
    for turn in turns:
        streams[turn.stream].append(turn)
    parents = _parents(turns)
    titles = ("Agent", "requests", "from", "to", "TTFT mean (ms)", "joins (s)", "tokens in", "cached", "out")
    tree = sorted(streams, key=lambda stream: _path(stream, parents))
    rows = tuple(_agent(_name(streams[stream][0], parents), streams[stream]) for stream in tree[:_MOST_ROWS])
    return Table(headed(*titles), rows)


def _agent(name: str, turns: Sequence[LaneTurn]) -> tuple[str, ...]:
    times = [turn.first_token_ms - turn.sent_ms for turn in turns if turn.first_token_ms is not None]
    return (
        name,
        whole(len(turns)),
        *(seconds(moment_ms / 1e3) for moment_ms in (turns[0].sent_ms, turns[-1].ended_ms)),
        figure(sum(times) / len(times)) if times else NOTHING,
        figure(sum(map(join_ms, turns)) / 1e3),
        *(
            whole(sum(count for turn in turns if (count := getattr(turn, column)) is not None))
            for column in ("input_tokens", "cached_tokens", "output_tokens")
        ),
    )
