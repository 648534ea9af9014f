"""A stream in other spellings and cuts, as allowed by the standard and made by networks.

Sixteen tokens each, the first 20 ms after the request and then one every 5 ms, unless it says otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.scenarios import timetable
from loadgen.mock_endpoint.scenarios.dialects import chat
from loadgen.mock_endpoint.scenarios.http import chunked, stream
from loadgen.mock_endpoint.scenarios.scenario import Scenario, scenario
from loadgen.mock_endpoint.scenarios.steps import EventContent, ScenarioScript, Send
from loadgen.mock_endpoint.scenarios.timetable import FIRST_MS, GAP_MS, TOKENS, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.mock_endpoint.scenarios.dialect import Dialect

_BOM: Final = b"\xef\xbb\xbf"
_LONG: Final = 256 * 1024
_FIELDS: Final = b"event: chunk\nid: 7\nretry: 100\nx-trace: 1\n: a comment\ndata: "


def _replaced(old: bytes, new: bytes) -> Callable[[Dialect], ScenarioScript]:
    """A stream with other bytes in every frame."""
    return lambda dialect: stream(
        timetable.mapped(timetable.body(dialect), lambda data: data.replace(old, new))
    )


@scenario("`: ping` before the first token and between tokens", right="a comment is not a token")
def _comments(dialect: Dialect) -> ScenarioScript:
    pings = [Send(at_ms, b": ping\n\n") for at_ms in (1, 11, 42)]
    pieces = sorted([*pings, *timetable.body(dialect)], key=lambda piece: piece.at_ms)
    return stream(pieces)


@scenario("events with empty data, to keep the connection alive", right="no token, and no broken frame")
def _empty_data(dialect: Dialect) -> ScenarioScript:
    return stream([Send(1, b"data:\n\n"), Send(11, b"data: \n\n"), *timetable.body(dialect)])


@scenario("`data: null`, to keep the connection alive", right="no token, and no broken frame")
def _null_data(dialect: Dialect) -> ScenarioScript:
    nulls = [Send(at_ms, b"data: null\n\n") for at_ms in (1, 41)]
    pieces = sorted([*nulls, *timetable.body(dialect)], key=lambda piece: piece.at_ms)
    return stream(pieces)


def of_media_type(media_type: str, dialect: Dialect) -> ScenarioScript:
    """A stream whose head names another media type; of none there is no field."""
    start, *body = chunked(timetable.body(dialect), content_type=media_type)
    assert isinstance(start, Send)  # noqa: S101 (the head)
    bare = replace(start, data=start.data.replace(b"Content-Type: \r\n", b""))
    return ScenarioScript((bare, *body))


def json_lines(media_type: str, dialect: Dialect) -> ScenarioScript:
    """Each payload in a separate line, without `data:`."""

    def line(data: bytes) -> bytes:
        lines = data.replace(chat.DONE, b"").splitlines()
        return b"".join(line[len(b"data: ") :] + b"\n" for line in lines if line.startswith(b"data: "))

    pieces = [piece for piece in timetable.mapped(timetable.body(dialect), line) if piece.data]
    return stream(pieces, content_type=media_type)


@scenario("a byte order mark at the start", right="skipped")
def _bom(dialect: Dialect) -> ScenarioScript:
    first, *rest = timetable.body(dialect)
    return stream([*timetable.mapped([first], lambda data: _BOM + data), *rest])


@scenario("every JSON text in two `data` lines", right="joined by a line feed")
def _data_lines(dialect: Dialect) -> ScenarioScript:
    def cut(data: bytes) -> bytes:
        return data if data == chat.DONE else data.replace(b"data: {", b"data: {\ndata: ")

    return stream(timetable.mapped(timetable.body(dialect), cut))


@scenario("the last event lacks its blank line", right="the end of the body ends it too")
def _no_blank_line(dialect: Dialect) -> ScenarioScript:
    *rest, last = timetable.body(dialect)
    return stream([*rest, *timetable.mapped([last], lambda data: data[:-2])])


def unicode_text(dialect: Dialect, tokens: int) -> list[Send]:
    """A stream of texts with many bytes per character."""
    contents = tuple(EventContent(text) for text in (" ä", " €", " 😀", " 語") * (tokens // 4))
    return timetable.body(dialect, contents)


@scenario(
    "4 tokens, every byte in a separate write",
    right="an event is there when its last byte is",
    requests=3,
    heavy=True,
)
def _bytewise(dialect: Dialect) -> ScenarioScript:
    steps = [step for step in chunked(unicode_text(dialect, 4)) if isinstance(step, Send)]
    return ScenarioScript(tuple(timetable.byte_by_byte(steps)))


@scenario(
    "every write in two, 2 ms apart, cut at another place each time",
    right="inside characters and chunk headers too; the second half's time counts",
)
def _split_events(dialect: Dialect) -> ScenarioScript:
    head, *steps = (step for step in chunked(unicode_text(dialect, TOKENS)) if isinstance(step, Send))
    # A token and the end are cut apart: what completes an event must be in the half that says so.
    pieces = timetable.together(steps, lambda piece: (piece.at_ms, bool(piece.contents)))
    return ScenarioScript((head, *timetable.cut_in_two(pieces)))


@scenario(
    "tokens come in pairs in one segment, the last with usage and `[DONE]`", right="both have the same time"
)
def _two_a_segment(dialect: Dialect) -> ScenarioScript:
    pairs = timetable.body(dialect)
    merged = timetable.together(pairs, lambda piece: int((piece.at_ms - FIRST_MS) // (2 * GAP_MS)))
    return stream(merged)


@scenario(
    "a proxy holds all of it back for 95 ms", right="TTFT is 95 ms and TPOT 0: that is what a user sees"
)
def _buffered(dialect: Dialect) -> ScenarioScript:
    everything = timetable.together(timetable.body(dialect), lambda _: None)
    return stream(everything)


@scenario("headers leave with the first token")
def _late_headers(dialect: Dialect) -> ScenarioScript:
    return stream(timetable.body(dialect), head_at_ms=FIRST_MS)


@scenario("the first chunk has 256 KiB, complete after 20 ms", requests=3, heavy=True)
def _long_chunk(dialect: Dialect) -> ScenarioScript:
    contents = (EventContent("x" * _LONG), *words(TOKENS - 1, start=1))
    pieces = timetable.body(dialect, contents)
    *start, first = pieces[: next(place for place, piece in enumerate(pieces) if piece.contents) + 1]
    # A chunk of this size is slow on the way: only its last byte, which completes the event, leaves when it
    # is due.
    early = Send(1, b"".join(piece.data for piece in start) + first.data[:-1])
    last = Send(FIRST_MS, first.data[-1:], first.contents)
    return stream([early, last, *pieces[len(start) + 1 :]])


WRITINGS: Final = (
    _comments,
    _empty_data,
    _null_data,
    Scenario(
        "not_a_number",
        "`-Infinity` in every frame",
        _replaced(b"data: {", b'data: {"logprob":-Infinity,'),
        right="Python writes it into JSON; nothing that is measured depends on it",
    ),
    Scenario(
        "as_text",
        "the stream is `text/plain`",
        partial(of_media_type, "text/plain; charset=utf-8"),
        right="its first bytes say what it is",
    ),
    Scenario(
        "untyped",
        "the stream has no `Content-Type`",
        partial(of_media_type, ""),
        right="its first bytes say what it is",
    ),
    Scenario(
        "json_lines",
        "JSON lines as `application/x-ndjson`, as Ollama sends them",
        partial(json_lines, "application/x-ndjson"),
        right="a line is a chunk, with its own time",
    ),
    Scenario(
        "json_lines_as_events",
        "JSON lines as `text/event-stream`",
        partial(json_lines, "text/event-stream"),
        right="same",
    ),
    Scenario(
        "crlf", "lines end in CR LF", _replaced(b"\n", b"\r\n"), right="the standard allows CR LF, LF and CR"
    ),
    Scenario("cr", "lines end in CR", _replaced(b"\n", b"\r"), right="the standard allows it"),
    _bom,
    Scenario(
        "no_space", "`data:` without a space", _replaced(b"data: ", b"data:"), right="the space is optional"
    ),
    Scenario(
        "fields",
        "`event`, `id`, `retry`, unknown fields, comments inside events",
        _replaced(b"data: ", _FIELDS),
    ),
    _data_lines,
    _no_blank_line,
    _bytewise,
    _split_events,
    _two_a_segment,
    _buffered,
    _late_headers,
    _long_chunk,
)
