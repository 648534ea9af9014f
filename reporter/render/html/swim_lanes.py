"""Sessions drawn over time: a lane a stream of requests, as inline SVG of bounded size."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.number_text import NOTHING, counted, figure, seconds, whole
from reporter.render.html.page import SessionLanes, SwimLane
from reporter.render.table import Mark, Table, headed, tone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reporter.contents.session_lanes import LaneTurn

WIDTH: Final = 2000
"""Units of the drawing from the first issue to the last end of a session."""
ROW: Final = 20
"""The height of a lane."""
_MOST_ROWS: Final = 32
_MOST_FIGURES: Final = 400
"""The most requests whose figures a session has in the page."""
_TICKS: Final = 4

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


def section(sessions: Iterable[Sequence[LaneTurn]], of: int) -> SessionLanes:
    """The drawings of sessions.

    Args:
        sessions: The requests of each, the slowest first.
        of: The number of measured sessions.
    """
    drawn = tuple(map(_session, sessions))
    chosen = (
        f"The slowest of {counted(of, 'session')}, and one of median duration" if of > len(drawn) else "All"
    )
    used = {kind for session in drawn for kind, _ in session.paths}
    return SessionLanes(
        "session-lanes",
        "Sessions over time",
        drawn,
        tuple((kind, words) for kind, words in KINDS.items() if kind in used),
        f"{chosen}; times from the first issue.",
        statements.figures("session_lanes"),
    )


def _session(turns: Sequence[LaneTurn]) -> SwimLane:
    first = turns[0]
    rows = _rows(turns)
    shown = [turn for turn in turns if turn.stream in rows]
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
        ms=first.duration_ms,
        height=ROW * (max(rows.values()) + 1),
        paths=tuple(_paths(shown, rows)),
        figures=_figures(shown, rows),
        axis=tuple(seconds(first.duration_ms * tick / _TICKS / 1e3) for tick in range(_TICKS + 1)),
        table=_table(turns),
    )


def _rows(turns: Sequence[LaneTurn]) -> dict[int, int]:
    """The row of each stream: one that began after another had ended takes the place of that one."""
    spans: dict[int, tuple[float, float]] = {}
    for turn in turns:
        begin, end = spans.get(turn.stream, (_begin(turn), turn.ended_ms))
        spans[turn.stream] = min(begin, _begin(turn)), max(end, turn.ended_ms)
    rows: dict[int, int] = {}
    free_ms: list[float] = []
    for stream, (begin, end) in sorted(spans.items(), key=lambda item: (item[0] > 0, item[1])):
        # The main agent has its row alone.
        row = next((row for row, free in enumerate(free_ms) if row and free <= begin), len(free_ms))
        if row < _MOST_ROWS:
            free_ms[row : row + 1] = [end]
            rows[stream] = row
    return rows


def _begin(turn: LaneTurn) -> float:
    return turn.sent_ms if turn.ready_ms is None else min(turn.ready_ms, turn.sent_ms)


def _names(turns: Sequence[LaneTurn], rows: Mapping[int, int]) -> tuple[str, ...]:
    """A name for each row: the main agent's, that of a subagent, or how many subagents share it."""
    agents: dict[int, dict[int, str]] = defaultdict(dict)
    for turn in turns:
        agents[rows[turn.stream]][turn.stream] = turn.agent or ("main" if not turn.stream else "subagent")
    return tuple(
        f"{next(iter(names.values()))} ×{len(names)}" if len(names) > 1 else next(iter(names.values()))  # noqa: RUF001
        for _, names in sorted(agents.items())
    )


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
        due_ms = turn.sent_ms if turn.scheduled_ms is None else min(turn.scheduled_ms, turn.sent_ms)
        tools_ms = min((turn.ready_ms or 0.0) + (turn.tool_ms or 0.0), due_ms)
        draw("join", row, turn.own_ready_ms, turn.ready_ms)
        draw("tool", row, turn.ready_ms, tools_ms)
        draw("pause", row, None if turn.ready_ms is None else tools_ms, due_ms)
        draw("wait", row, due_ms, turn.sent_ms)
        if turn.is_failed:
            draw("failed", row, turn.sent_ms, turn.ended_ms, 1)
        else:
            first_ms = turn.ended_ms if turn.first_token_ms is None else turn.first_token_ms
            draw("prefill", row, turn.sent_ms, first_ms, 1)
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


def _figures(turns: Sequence[LaneTurn], rows: Mapping[int, int]) -> str:
    """The figures of the longest requests, in ms and tokens: what page.js shows of a request."""
    longest = sorted(turns, key=lambda turn: turn.sent_ms - turn.ended_ms)[:_MOST_FIGURES]
    return ";".join(
        ",".join("" if value is None else f"{value:.0f}" for value in _of_request(turn, rows[turn.stream]))
        for turn in sorted(longest, key=lambda turn: (rows[turn.stream], turn.sent_ms))
    )


def _of_request(turn: LaneTurn, row: int) -> Iterator[float | None]:
    """Row, turn, and begin; queue, TTFT and decoding; waits for agents and other delays; tokens; failed."""
    due_ms = turn.sent_ms if turn.scheduled_ms is None else turn.scheduled_ms
    yield from (row, turn.turn + 1, turn.sent_ms, max(turn.sent_ms - due_ms, 0.0))
    yield None if turn.first_token_ms is None else turn.first_token_ms - turn.sent_ms
    yield turn.ended_ms - (turn.sent_ms if turn.first_token_ms is None else turn.first_token_ms)
    yield _join_ms(turn) or None
    yield None if turn.ready_ms is None else max(due_ms - turn.ready_ms, 0.0)
    yield from (turn.input_tokens, turn.cached_tokens, turn.output_tokens, turn.is_failed or None)


def _join_ms(turn: LaneTurn) -> float:
    if turn.own_ready_ms is None or turn.ready_ms is None:
        return 0.0
    return max(turn.ready_ms - turn.own_ready_ms, 0.0)


def _table(turns: Sequence[LaneTurn]) -> Table:
    """The agents of a session."""
    streams: dict[int, list[LaneTurn]] = defaultdict(list)
    for turn in turns:
        streams[turn.stream].append(turn)
    titles = ("Agent", "requests", "from", "to", "TTFT mean (ms)", "joins (s)", "tokens in", "cached", "out")
    rows = tuple(_agent(turns) for _, turns in sorted(streams.items())[:_MOST_ROWS])
    return Table(headed(*titles), rows)


def _agent(turns: Sequence[LaneTurn]) -> tuple[str, ...]:
    name = turns[0].agent or (f"subagent {turns[0].stream}" if turns[0].stream else "main")
    times = [turn.first_token_ms - turn.sent_ms for turn in turns if turn.first_token_ms is not None]
    return (
        name,
        whole(len(turns)),
        *(seconds(moment_ms / 1e3) for moment_ms in (turns[0].sent_ms, turns[-1].ended_ms)),
        figure(sum(times) / len(times)) if times else NOTHING,
        figure(sum(map(_join_ms, turns)) / 1e3),
        *(
            whole(sum(count for turn in turns if (count := getattr(turn, column)) is not None))
            for column in ("input_tokens", "cached_tokens", "output_tokens")
        ),
    )
