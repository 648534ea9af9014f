"""A stream in other spellings and cuts, as allowed by the standard and made by networks.

Sixteen tokens each, the first 20 ms after the request and then one every 5 ms, unless it says otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.scenarios import timetable
from loadgen.mock_endpoint.scenarios.dialects import chat
from loadgen.mock_endpoint.scenarios.http import chunked
from loadgen.mock_endpoint.scenarios.scenario import Scenario
from loadgen.mock_endpoint.scenarios.steps import EventContent, ScenarioScript, Send
from loadgen.mock_endpoint.scenarios.timetable import FIRST_MS, GAP_MS, TOKENS, words

if TYPE_CHECKING:
    from loadgen.mock_endpoint.scenarios.dialect import Dialect

_BOM: Final = b"\xef\xbb\xbf"
_LONG: Final = 256 * 1024


def comments(dialect: Dialect) -> ScenarioScript:
    """Comments before the first token and between others."""
    pings = [Send(at_ms, b": ping\n\n") for at_ms in (1, 11, 42)]
    pieces = sorted([*pings, *timetable.body(dialect)], key=lambda piece: piece.at_ms)
    return ScenarioScript(tuple(chunked(pieces)))


def empty_data(dialect: Dialect) -> ScenarioScript:
    """Empty events that keep the connection alive."""
    return ScenarioScript(
        tuple(chunked([Send(1, b"data:\n\n"), Send(11, b"data: \n\n"), *timetable.body(dialect)]))
    )


def null_data(dialect: Dialect) -> ScenarioScript:
    """Events of `null` that keep the connection alive."""
    nulls = [Send(at_ms, b"data: null\n\n") for at_ms in (1, 41)]
    pieces = sorted([*nulls, *timetable.body(dialect)], key=lambda piece: piece.at_ms)
    return ScenarioScript(tuple(chunked(pieces)))


def not_a_number(dialect: Dialect) -> ScenarioScript:
    """A number that JSON does not have in each frame, as logarithms of probabilities are."""
    change = timetable.mapped(
        timetable.body(dialect), lambda data: data.replace(b"data: {", b'data: {"logprob":-Infinity,')
    )
    return ScenarioScript(tuple(chunked(change)))


def of_media_type(media_type: str, dialect: Dialect) -> ScenarioScript:
    """A stream whose head names another media type; of none there is no field."""
    start, *body = chunked(timetable.body(dialect), content_type=media_type)
    assert isinstance(start, Send)  # noqa: S101 (the head)
    bare = replace(start, data=start.data.replace(b"Content-Type: \r\n", b""))
    return ScenarioScript((bare, *body))


def json_lines(media_type: str, dialect: Dialect) -> ScenarioScript:
    """Each payload in a line of its own, without `data:`."""

    def line(data: bytes) -> bytes:
        lines = data.replace(chat.DONE, b"").splitlines()
        return b"".join(line[len(b"data: ") :] + b"\n" for line in lines if line.startswith(b"data: "))

    pieces = [piece for piece in timetable.mapped(timetable.body(dialect), line) if piece.data]
    return ScenarioScript(tuple(chunked(pieces, content_type=media_type)))


def crlf(dialect: Dialect) -> ScenarioScript:
    """Lines end in CR LF."""
    change = timetable.mapped(timetable.body(dialect), lambda data: data.replace(b"\n", b"\r\n"))
    return ScenarioScript(tuple(chunked(change)))


def cr(dialect: Dialect) -> ScenarioScript:
    """Lines end in CR."""
    change = timetable.mapped(timetable.body(dialect), lambda data: data.replace(b"\n", b"\r"))
    return ScenarioScript(tuple(chunked(change)))


def bom(dialect: Dialect) -> ScenarioScript:
    """A byte order mark before the first event."""
    first, *rest = timetable.body(dialect)
    return ScenarioScript(tuple(chunked([*timetable.mapped([first], lambda data: _BOM + data), *rest])))


def no_space(dialect: Dialect) -> ScenarioScript:
    """No space after `data:`."""
    change = timetable.mapped(timetable.body(dialect), lambda data: data.replace(b"data: ", b"data:"))
    return ScenarioScript(tuple(chunked(change)))


def fields(dialect: Dialect) -> ScenarioScript:
    """`event`, `id`, `retry`, unknown fields and comments before the data."""
    extra = b"event: chunk\nid: 7\nretry: 100\nx-trace: 1\n: a comment\ndata: "
    change = timetable.mapped(timetable.body(dialect), lambda data: data.replace(b"data: ", extra))
    return ScenarioScript(tuple(chunked(change)))


def data_lines(dialect: Dialect) -> ScenarioScript:
    """Every JSON text in two `data` lines, cut where JSON allows white space."""

    def cut(data: bytes) -> bytes:
        return data if data == chat.DONE else data.replace(b"data: {", b"data: {\ndata: ")

    return ScenarioScript(tuple(chunked(timetable.mapped(timetable.body(dialect), cut))))


def no_blank_line(dialect: Dialect) -> ScenarioScript:
    """The last event lacks the blank line."""
    *rest, last = timetable.body(dialect)
    return ScenarioScript(tuple(chunked([*rest, *timetable.mapped([last], lambda data: data[:-2])])))


def unicode_text(dialect: Dialect, tokens: int) -> list[Send]:
    """A stream of texts with many bytes per character."""
    contents = tuple(EventContent(text) for text in (" ä", " €", " 😀", " 語") * (tokens // 4))
    return timetable.body(dialect, contents)


def bytewise(dialect: Dialect) -> ScenarioScript:
    """Every byte in a separate write, cutting characters and chunk headers."""
    steps = [step for step in chunked(unicode_text(dialect, 4)) if isinstance(step, Send)]
    return ScenarioScript(tuple(timetable.byte_by_byte(steps)))


def split_events(dialect: Dialect) -> ScenarioScript:
    """Every write in two, each time cut at another place, 2 ms apart."""
    head, *steps = (step for step in chunked(unicode_text(dialect, TOKENS)) if isinstance(step, Send))
    # A token and the end are cut apart: what completes an event must be in the half that says so.
    pieces = timetable.together(steps, lambda piece: (piece.at_ms, bool(piece.contents)))
    return ScenarioScript((head, *timetable.cut_in_two(pieces)))


def two_a_segment(dialect: Dialect) -> ScenarioScript:
    """Tokens come in pairs, in one write; the last pair with the usage and the end."""
    pairs = timetable.body(dialect)
    merged = timetable.together(pairs, lambda piece: int((piece.at_ms - FIRST_MS) // (2 * GAP_MS)))
    return ScenarioScript(tuple(chunked(merged)))


def buffered(dialect: Dialect) -> ScenarioScript:
    """A proxy buffers the response, and sends everything in one write."""
    everything = timetable.together(timetable.body(dialect), lambda _: None)
    return ScenarioScript(tuple(chunked(everything)))


def late_headers(dialect: Dialect) -> ScenarioScript:
    """The head of the response leaves with the first token."""
    return ScenarioScript(tuple(chunked(timetable.body(dialect), head_at_ms=FIRST_MS)))


def long_chunk(dialect: Dialect) -> ScenarioScript:
    """The first chunk has 256 KiB of text."""
    contents = (EventContent("x" * _LONG), *words(TOKENS - 1, start=1))
    pieces = timetable.body(dialect, contents)
    *start, first = pieces[: next(place for place, piece in enumerate(pieces) if piece.contents) + 1]
    # A chunk of this size is slow on the way: only its last byte, which completes the event, leaves when it
    # is due.
    early = Send(1, b"".join(piece.data for piece in start) + first.data[:-1])
    last = Send(FIRST_MS, first.data[-1:], first.contents)
    return ScenarioScript(tuple(chunked([early, last, *pieces[len(start) + 1 :]])))


WRITINGS: Final = (
    Scenario(
        name="comments",
        about="`: ping` before the first token and between tokens",
        right="a comment is not a token",
        script=comments,
    ),
    Scenario(
        name="empty_data",
        about="events with empty data, to keep the connection alive",
        right="no token, and no broken frame",
        script=empty_data,
    ),
    Scenario(
        name="null_data",
        about="`data: null`, to keep the connection alive",
        right="no token, and no broken frame",
        script=null_data,
    ),
    Scenario(
        name="not_a_number",
        about="`-Infinity` in every frame",
        right="Python writes it into JSON; nothing that is measured depends on it",
        script=not_a_number,
    ),
    Scenario(
        name="as_text",
        about="the stream is `text/plain`",
        right="its first bytes say what it is",
        script=partial(of_media_type, "text/plain; charset=utf-8"),
    ),
    Scenario(
        name="untyped",
        about="the stream has no `Content-Type`",
        right="likewise",
        script=partial(of_media_type, ""),
    ),
    Scenario(
        name="json_lines",
        about="JSON lines as `application/x-ndjson`, as Ollama sends them",
        right="a line is a chunk, with its own time",
        script=partial(json_lines, "application/x-ndjson"),
    ),
    Scenario(
        name="json_lines_as_events",
        about="JSON lines as `text/event-stream`",
        right="likewise",
        script=partial(json_lines, "text/event-stream"),
    ),
    Scenario(
        name="crlf",
        about="lines end in CR LF",
        right="the standard allows CR LF, LF and CR",
        script=crlf,
    ),
    Scenario(name="cr", about="lines end in CR", right="the standard allows it", script=cr),
    Scenario(name="bom", about="a byte order mark at the start", right="skipped", script=bom),
    Scenario(
        name="no_space", about="`data:` without a space", right="the space is optional", script=no_space
    ),
    Scenario(
        name="fields", about="`event`, `id`, `retry`, unknown fields, comments inside events", script=fields
    ),
    Scenario(
        name="data_lines",
        about="every JSON text in two `data` lines",
        right="joined by a line feed",
        script=data_lines,
    ),
    Scenario(
        name="no_blank_line",
        about="the last event lacks its blank line",
        right="the end of the body ends it too",
        script=no_blank_line,
    ),
    Scenario(
        name="bytewise",
        about="4 tokens, every byte in a separate write",
        right="an event is there when its last byte is",
        script=bytewise,
        requests=3,
        heavy=True,
    ),
    Scenario(
        name="split_events",
        about="every write in two, 2 ms apart, cut at another place each time",
        right="inside characters and chunk headers too; the second half's time counts",
        script=split_events,
    ),
    Scenario(
        name="two_a_segment",
        about="tokens come in pairs in one segment, the last with usage and `[DONE]`",
        right="both have the same time",
        script=two_a_segment,
    ),
    Scenario(
        name="buffered",
        about="a proxy holds all of it back for 95 ms",
        right="TTFT is 95 ms and TPOT 0: that is what a user sees",
        script=buffered,
    ),
    Scenario(name="late_headers", about="headers leave with the first token", script=late_headers),
    Scenario(
        name="long_chunk",
        about="the first chunk has 256 KiB, complete after 20 ms",
        script=long_chunk,
        requests=3,
        heavy=True,
    ),
)
