"""Connections that break, close, reset and stall; HTTP that is unusual, and HTTP that is broken."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.failure import Failure
from loadgen.driver.client.timeouts import Timeouts
from loadgen.mock_endpoint.scenarios import http, timetable
from loadgen.mock_endpoint.scenarios.faults import valid_beginning
from loadgen.mock_endpoint.scenarios.frame_writers import ALL, FIXED, OPENAI, STREAMED
from loadgen.mock_endpoint.scenarios.http import EVENTS, chunked, head, unended
from loadgen.mock_endpoint.scenarios.scenario import COMPLETED, PATIENT, Scenario
from loadgen.mock_endpoint.scenarios.steps import Close, Flood, Reset, ScenarioScript, Send, StallStep
from loadgen.mock_endpoint.scenarios.timetable import END_MS, TOKENS, words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loadgen.mock_endpoint.scenarios.dialect import Dialect
    from loadgen.mock_endpoint.scenarios.steps import Step

_CUT_MS: Final = 75.0
_GARBAGE: Final = b"\x00garbage\r\n\r\n"
_EARLY: Final = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"


def _cut(*end: Step) -> Callable[[Dialect], ScenarioScript]:
    """Eight tokens, and then an invalid end."""
    return lambda dialect: ScenarioScript((*unended(valid_beginning(dialect)), *end), counted=False)


def _answered(*end: Step) -> Callable[[Dialect], ScenarioScript]:
    """The whole answer, `[DONE]` included, and then something else than the end of the body."""
    return lambda dialect: ScenarioScript((*unended(timetable.body(dialect)), *end))


def _complete(*end: Step) -> Callable[[Dialect], ScenarioScript]:
    """A complete response, and then something."""
    return lambda dialect: ScenarioScript((*chunked(timetable.body(dialect)), *end))


def _never(*steps: Step) -> Callable[[Dialect], ScenarioScript]:
    """No answer at all."""
    return lambda _: ScenarioScript(steps, counted=False)


def _before(data: bytes) -> Callable[[Dialect], ScenarioScript]:
    """Something before the response."""
    return lambda dialect: ScenarioScript((Send(0, data), *chunked(timetable.body(dialect))))


def until_close(dialect: Dialect) -> ScenarioScript:
    """A body without a length: the end of the connection ends the body."""
    return ScenarioScript(tuple(http.until_close(timetable.body(dialect))))


def http10(dialect: Dialect) -> ScenarioScript:
    """HTTP/1.0."""
    return ScenarioScript(tuple(http.until_close(timetable.body(dialect), version="1.0")))


def until_close_early(dialect: Dialect) -> ScenarioScript:
    """A body without a length that ends in the middle of the answer."""
    return ScenarioScript(tuple(http.until_close(valid_beginning(dialect))), counted=False)


def length_and_chunks(dialect: Dialect) -> ScenarioScript:
    """A stream in chunks whose head names a length, too."""
    start, *body = chunked(timetable.body(dialect))
    assert isinstance(start, Send)  # noqa: S101 (the head)
    wrong = start.data.replace(b"Transfer", b"Content-Length: 99999\r\nTransfer")
    return ScenarioScript((replace(start, data=wrong), *body))


def sized(dialect: Dialect) -> ScenarioScript:
    """A stream with a Content-Length."""
    pieces = timetable.body(dialect)
    length = sum(len(piece.data) for piece in pieces)
    return ScenarioScript((Send(0, head(EVENTS, f"Content-Length: {length}")), *pieces))


def length_too_long(dialect: Dialect) -> ScenarioScript:
    """More bytes are announced than come."""
    pieces = valid_beginning(dialect)
    return ScenarioScript(
        (Send(0, head(EVENTS, "Content-Length: 99999")), *pieces, Close(pieces[-1].at_ms)),
        counted=False,
    )


def length_too_short(dialect: Dialect) -> ScenarioScript:
    """Fewer bytes are announced than come."""
    *pieces, last = valid_beginning(dialect)
    announced, more = _announced([*pieces, last]), _rest(dialect)
    return ScenarioScript(
        (announced, *pieces, replace(last, data=last.data + more), Close(_CUT_MS)),
        counted=False,
    )


def length_too_short_late(dialect: Dialect) -> ScenarioScript:
    """As `length_too_short`, but the rest arrives after the connection may have been reused."""
    pieces = valid_beginning(dialect)
    return ScenarioScript(
        (_announced(pieces), *pieces, Send(_CUT_MS, _rest(dialect)), Close(_CUT_MS)),
        counted=False,
    )


def _announced(pieces: Sequence[Send]) -> Send:
    """A response head with the length of these pieces."""
    length = sum(len(piece.data) for piece in pieces)
    return Send(0, head(EVENTS, f"Content-Length: {length}"))


def _rest(dialect: Dialect) -> bytes:
    """The end of an answer."""
    return b"".join(piece.data for piece in timetable.ending(dialect, words(1)))


def garbage_after(dialect: Dialect) -> ScenarioScript:
    """Bytes that belong to nothing, in the segment in which the response ends."""
    *rest, last, end = (step for step in chunked(timetable.body(dialect)) if isinstance(step, Send))
    return ScenarioScript((*rest, Send(END_MS, last.data + end.data + _GARBAGE), Close(END_MS)))


def answered_twice(dialect: Dialect, after_ms: float) -> ScenarioScript:
    """A complete response, followed by an unsolicited one. The head announces `Connection: close`."""
    pieces = timetable.body(dialect, words(2, start=TOKENS))
    _, *rest = chunked(pieces)
    second = head(EVENTS, "Transfer-Encoding: chunked", "Connection: close")
    unasked = second + b"".join(step.data for step in rest if isinstance(step, Send))
    return ScenarioScript((*chunked(timetable.body(dialect)), Send(END_MS + after_ms, unasked, after=True)))


_NO_FIRST_BYTE: Final = Timeouts(timeout_s=20.0, connect_timeout_s=5.0, first_byte_timeout_s=0.3)
_IDLE: Final = Timeouts(timeout_s=20.0, connect_timeout_s=5.0, idle_timeout_s=0.3)
_TOTAL: Final = Timeouts(timeout_s=0.3, connect_timeout_s=5.0)
_A_WHILE: Final = Timeouts(timeout_s=0.6, connect_timeout_s=5.0)
_HEAD: Final = Send(0, head(EVENTS, "Transfer-Encoding: chunked"))
_BROKEN_CHUNK: Final = Send(_CUT_MS, b"zz\r\ndata: {}\r\n")


def _broken(
    name: str,
    about: str,
    sees: str | tuple[str, ...],
    script: Callable[[Dialect], ScenarioScript],
    *,
    right: str = "",
    protocols: tuple[str, ...] = STREAMED,
    timeouts: Timeouts | None = None,
    spoils: bool = False,
) -> Scenario:
    return Scenario(
        name=name,
        about=about,
        right=right,
        script=script,
        protocols=protocols,
        sees=(sees,) if isinstance(sees, str) else sees,
        requests=2,
        fast=timeouts is None,
        timeouts=timeouts or PATIENT,
        spoils=spoils,
    )


CONNECTIONS: Final = (
    _broken(
        "cut_unanswered", "the connection closes without a byte", "reset", _never(Close(5)), protocols=ALL
    ),
    _broken("reset_unanswered", "a RST instead of an answer", "reset", _never(Reset(5)), protocols=ALL),
    _broken(
        "cut_in_head",
        "the connection closes in the middle of the headers",
        "truncated",
        _never(Send(0, b"HTTP/1.1 200 OK\r\nContent-"), Close(5)),
        right="the response had begun",
        protocols=ALL,
    ),
    _broken(
        "cut",
        "the connection closes after 8 tokens",
        "truncated",
        _cut(Close(_CUT_MS)),
        right="a failure, with the 8 tokens kept",
    ),
    _broken(
        "reset",
        "a RST after 8 tokens",
        "truncated",
        _cut(Reset(_CUT_MS)),
        right="a failure, with the 8 tokens kept",
    ),
    _broken(
        "broken_chunk",
        "a chunk's length is not a number, after 8 tokens",
        "malformed_frame",
        _cut(_BROKEN_CHUNK, Close(_CUT_MS)),
        spoils=True,
    ),
    _broken(
        "length_too_long",
        "`Content-Length` is more than what comes",
        "truncated",
        length_too_long,
    ),
    _broken(
        "length_too_short",
        "`Content-Length` ends the body after 8 tokens, and more follows",
        ("truncated", "malformed_frame"),
        length_too_short,
        right="complete for HTTP, not for the protocol; the rest is not the next answer",
    ),
    _broken(
        "length_too_short_late",
        "the same, and what follows comes 20 ms later",
        ("truncated", "malformed_frame"),
        length_too_short_late,
        right="the connection is not used again: the next request on it would get the rest; a client that is "
        "20 ms late reads everything at once, as above",
    ),
    _broken(
        "until_close_early",
        "a body without a length ends after 8 tokens",
        "truncated",
        until_close_early,
    ),
    _broken(
        "endless_head",
        "header fields without end",
        "too_large",
        _never(Send(0, b"HTTP/1.1 200 OK\r\n"), Flood(0, b"X-More: " + b"x" * 4096 + b"\r\n")),
        protocols=ALL,
    ),
    _broken(
        "no_answer",
        "no byte of a response",
        "first_byte_timeout",
        _never(StallStep()),
        right="ends after --first-byte-timeout",
        protocols=ALL,
        timeouts=_NO_FIRST_BYTE,
    ),
    _broken(
        "no_answer_total",
        "no byte of a response, and the client has --timeout only",
        "total_timeout",
        _never(StallStep()),
        protocols=ALL,
        timeouts=_TOTAL,
    ),
    _broken(
        "stall_first",
        "headers, and then nothing more",
        "idle_timeout",
        _never(_HEAD, StallStep()),
        right="ends after --idle-timeout",
        timeouts=_IDLE,
    ),
    _broken(
        "stall",
        "8 tokens, and then nothing more",
        "idle_timeout",
        _cut(StallStep()),
        right="ends after --idle-timeout, with the 8 tokens kept",
        timeouts=_IDLE,
    ),
    _broken(
        "stall_total",
        "8 tokens, and then nothing more; the client has --timeout only",
        "total_timeout",
        _cut(StallStep()),
        timeouts=_TOTAL,
    ),
    Scenario(
        name="stall_after_done",
        about="all of it, `[DONE]` included, but the body never ends",
        right="a success that was complete with its last byte",
        script=_answered(StallStep()),
        protocols=OPENAI,
        timeouts=_A_WHILE,
        requests=2,
        fast=False,
    ),
    Scenario(
        name="cut_after_done",
        about="the connection closes after `[DONE]`, before the body's own end",
        right="a success: the protocol's end is an end",
        script=_answered(Close(END_MS)),
        protocols=FIXED,
    ),
    Scenario(
        name="reset_after_done",
        about="a RST 10 ms after `[DONE]`, before the body's own end",
        right="likewise",
        script=_answered(Reset(END_MS + 10)),
        protocols=OPENAI,
    ),
    Scenario(
        name="until_close",
        about="`Connection: close` and no length: the end of the connection ends the body",
        script=until_close,
    ),
    Scenario(name="http10", about="HTTP/1.0", script=http10),
    Scenario(
        name="length_and_chunks",
        about="a stream in chunks, with a `Content-Length` as well",
        right="the chunks count (RFC 9112, 6.3); to refuse both lengths is right as well",
        script=length_and_chunks,
        sees=(COMPLETED, "malformed_frame"),
    ),
    Scenario(name="sized", about="a stream with a `Content-Length`", script=sized),
    Scenario(
        name="closes_when_idle",
        about="the kept connection is closed 5 ms after each answer",
        right="the next request goes over a new one",
        script=_complete(Close(END_MS + 5)),
        protocols=OPENAI,
        pause_ms=60,
    ),
    Scenario(
        name="resets_when_idle",
        about="the kept connection is reset 5 ms after each answer",
        right="the next request goes over a new one",
        script=_complete(Reset(END_MS + 5)),
        protocols=OPENAI,
        pause_ms=60,
    ),
    Scenario(
        name="garbage_when_idle",
        about="bytes that belong to nothing come 5 ms after each answer",
        right="the connection is not used again",
        script=_complete(Send(END_MS + 5, _GARBAGE, after=True)),
        protocols=OPENAI,
        pause_ms=60,
    ),
    *(
        Scenario(
            name=name,
            about=f"a second response that no request asked for, {when} the first",
            right="the connection is not used again; a client that sent a request before the second "
            "response came cannot distinguish it from the right one",
            script=partial(answered_twice, after_ms=after_ms),
            protocols=OPENAI,
            sees=(COMPLETED, Failure.UNASKED_RESPONSE),
            pause_ms=60,
            unasked=True,
        )
        for name, after_ms, when in (
            ("answered_twice", 0.0, "right after"),
            ("answered_twice_late", 0.3, "0.3 ms after"),
        )
    ),
    Scenario(
        name="garbage_after",
        about="bytes that belong to nothing follow in the last segment of the answer",
        right="the answer was complete; to call all of it broken is right as well",
        script=garbage_after,
        protocols=OPENAI,
        sees=(COMPLETED, "malformed_frame"),
    ),
    Scenario(
        name="continue_100",
        about="`100 Continue` before the answer",
        right="not the answer, nor its first byte",
        script=_before(b"HTTP/1.1 100 Continue\r\n\r\n"),
        protocols=OPENAI,
    ),
    Scenario(
        name="early_hints",
        about="`103 Early Hints` before the answer",
        right="not the answer",
        script=_before(_EARLY),
        protocols=OPENAI,
    ),
)
