"""Connections that break, close, reset, stall or are never made; HTTP that is unusual or broken."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.failure import Failure
from loadgen.driver.client.timeouts import Timeouts
from loadgen.mock_endpoint.scenarios import http, timetable
from loadgen.mock_endpoint.scenarios.faults import valid_beginning
from loadgen.mock_endpoint.scenarios.frame_writers import ALL, FIXED, OPENAI
from loadgen.mock_endpoint.scenarios.http import EVENTS, chunked, head, unended
from loadgen.mock_endpoint.scenarios.scenario import COMPLETED, Scenario, scenario
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


@scenario("HTTP/1.0")
def _http10(dialect: Dialect) -> ScenarioScript:
    return ScenarioScript(tuple(http.until_close(timetable.body(dialect), version="1.0")))


@scenario("a body without a length ends after 8 tokens", sees=("truncated",))
def _until_close_early(dialect: Dialect) -> ScenarioScript:
    return ScenarioScript(tuple(http.until_close(valid_beginning(dialect))), counted=False)


@scenario(
    "a stream in chunks, with a `Content-Length` as well",
    right="the chunks count (RFC 9112, 6.3); to refuse both lengths is right as well",
    sees=(COMPLETED, "malformed_frame"),
)
def _length_and_chunks(dialect: Dialect) -> ScenarioScript:
    start, *body = chunked(timetable.body(dialect))
    assert isinstance(start, Send)  # noqa: S101 (the head)
    wrong = start.data.replace(b"Transfer", b"Content-Length: 99999\r\nTransfer")
    return ScenarioScript((replace(start, data=wrong), *body))


@scenario("a stream with a `Content-Length`")
def _sized(dialect: Dialect) -> ScenarioScript:
    pieces = timetable.body(dialect)
    length = sum(len(piece.data) for piece in pieces)
    return ScenarioScript((Send(0, head(EVENTS, f"Content-Length: {length}")), *pieces))


@scenario("`Content-Length` is more than what comes", sees=("truncated",))
def _length_too_long(dialect: Dialect) -> ScenarioScript:
    pieces = valid_beginning(dialect)
    return ScenarioScript(
        (Send(0, head(EVENTS, "Content-Length: 99999")), *pieces, Close(pieces[-1].at_ms)),
        counted=False,
    )


@scenario(
    "`Content-Length` ends the body after 8 tokens, and more follows",
    right="complete for HTTP, not for the protocol; the rest is not the next answer",
    sees=("truncated", "malformed_frame"),
)
def _length_too_short(dialect: Dialect) -> ScenarioScript:
    *pieces, last = valid_beginning(dialect)
    announced, more = _announced([*pieces, last]), _rest(dialect)
    return ScenarioScript(
        (announced, *pieces, replace(last, data=last.data + more), Close(_CUT_MS)),
        counted=False,
    )


@scenario(
    "the same, and what follows comes 20 ms later",
    right="the connection is not used again: the next request on it would get the rest; a client that is "
    "20 ms late reads everything at once, as above",
    sees=("truncated", "malformed_frame"),
)
def _length_too_short_late(dialect: Dialect) -> ScenarioScript:
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


@scenario(
    "bytes that belong to nothing follow in the last segment of the answer",
    right="the answer was complete; to call all of it broken is right as well",
    protocols=OPENAI,
    sees=(COMPLETED, "malformed_frame"),
)
def _garbage_after(dialect: Dialect) -> ScenarioScript:
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


_CONNECT: Final = Timeouts(timeout_s=20.0, connect_timeout_s=0.3)
_VERIFIED: Final = "verified unless --insecure"


def _no_request(_: Dialect) -> ScenarioScript:
    """No request ever comes."""
    return ScenarioScript((), counted=False)


_unmet: Final = partial(Scenario, script=_no_request, protocols=OPENAI)

CONNECTIONS: Final = (
    Scenario(
        "cut_unanswered",
        "the connection closes without a byte",
        _never(Close(5)),
        protocols=ALL,
        sees=("reset",),
    ),
    Scenario(
        "reset_unanswered", "a RST instead of an answer", _never(Reset(5)), protocols=ALL, sees=("reset",)
    ),
    Scenario(
        "cut_in_head",
        "the connection closes in the middle of the headers",
        _never(Send(0, b"HTTP/1.1 200 OK\r\nContent-"), Close(5)),
        right="the response had begun",
        protocols=ALL,
        sees=("truncated",),
    ),
    Scenario(
        "cut",
        "the connection closes after 8 tokens",
        _cut(Close(_CUT_MS)),
        right="a failure, with the 8 tokens kept",
        sees=("truncated",),
    ),
    Scenario(
        "reset",
        "a RST after 8 tokens",
        _cut(Reset(_CUT_MS)),
        right="a failure, with the 8 tokens kept",
        sees=("truncated",),
    ),
    Scenario(
        "broken_chunk",
        "a chunk's length is not a number, after 8 tokens",
        _cut(_BROKEN_CHUNK, Close(_CUT_MS)),
        sees=("malformed_frame",),
        spoils=True,
    ),
    _length_too_long,
    _length_too_short,
    _length_too_short_late,
    _until_close_early,
    Scenario(
        "endless_head",
        "header fields without end",
        _never(Send(0, b"HTTP/1.1 200 OK\r\n"), Flood(0, b"X-More: " + b"x" * 4096 + b"\r\n")),
        protocols=ALL,
        sees=("too_large",),
    ),
    Scenario(
        "no_answer",
        "no byte of a response",
        _never(StallStep()),
        right="ends after --first-byte-timeout",
        protocols=ALL,
        sees=("first_byte_timeout",),
        timeouts=_NO_FIRST_BYTE,
    ),
    Scenario(
        "no_answer_total",
        "no byte of a response, and the client has --timeout only",
        _never(StallStep()),
        protocols=ALL,
        sees=("total_timeout",),
        timeouts=_TOTAL,
    ),
    Scenario(
        "stall_first",
        "headers, and then nothing more",
        _never(_HEAD, StallStep()),
        right="ends after --idle-timeout",
        sees=("idle_timeout",),
        timeouts=_IDLE,
    ),
    Scenario(
        "stall",
        "8 tokens, and then nothing more",
        _cut(StallStep()),
        right="ends after --idle-timeout, with the 8 tokens kept",
        sees=("idle_timeout",),
        timeouts=_IDLE,
    ),
    Scenario(
        "stall_total",
        "8 tokens, and then nothing more; the client has --timeout only",
        _cut(StallStep()),
        sees=("total_timeout",),
        timeouts=_TOTAL,
    ),
    Scenario(
        "stall_after_done",
        "all of it, `[DONE]` included, but the body never ends",
        _answered(StallStep()),
        right="a success that was complete with its last byte",
        protocols=OPENAI,
        requests=2,
        timeouts=_A_WHILE,
    ),
    Scenario(
        "cut_after_done",
        "the connection closes after `[DONE]`, before the body's own end",
        _answered(Close(END_MS)),
        right="a success: the protocol's end is an end",
        protocols=FIXED,
    ),
    Scenario(
        "reset_after_done",
        "a RST 10 ms after `[DONE]`, before the body's own end",
        _answered(Reset(END_MS + 10)),
        right="same",
        protocols=OPENAI,
    ),
    Scenario(
        "until_close",
        "`Connection: close` and no length: the end of the connection ends the body",
        until_close,
    ),
    _http10,
    _length_and_chunks,
    _sized,
    Scenario(
        "closes_when_idle",
        "the kept connection is closed 5 ms after each answer",
        _complete(Close(END_MS + 5)),
        right="the next request goes over a new one",
        protocols=OPENAI,
        pause_ms=60,
    ),
    Scenario(
        "resets_when_idle",
        "the kept connection is reset 5 ms after each answer",
        _complete(Reset(END_MS + 5)),
        right="the next request goes over a new one",
        protocols=OPENAI,
        pause_ms=60,
    ),
    Scenario(
        "garbage_when_idle",
        "bytes that belong to nothing come 5 ms after each answer",
        _complete(Send(END_MS + 5, _GARBAGE, after=True)),
        right="the connection is not used again",
        protocols=OPENAI,
        pause_ms=60,
    ),
    *(
        Scenario(
            name,
            f"a second response that no request asked for, {when} the first",
            partial(answered_twice, after_ms=after_ms),
            right="the connection is not used again; a client that sent a request before the second "
            "response came cannot distinguish it from the right one",
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
    _garbage_after,
    Scenario(
        "continue_100",
        "`100 Continue` before the answer",
        _before(b"HTTP/1.1 100 Continue\r\n\r\n"),
        right="not the answer, nor its first byte",
        protocols=OPENAI,
    ),
    Scenario(
        "early_hints",
        "`103 Early Hints` before the answer",
        _before(_EARLY),
        right="not the answer",
        protocols=OPENAI,
    ),
    _unmet(
        name="refused",
        about="no process listens on the port",
        protocols=ALL,
        sees=("refused",),
        place="closed_port",
    ),
    _unmet(
        name="no_host",
        about="the host's name has no address",
        # A resolver that gets no answer itself may take longer than connecting may.
        sees=("dns", "connect_timeout"),
        place="no_host",
    ),
    _unmet(
        name="no_connection",
        about="the server's queue is full: no answer to a SYN",
        right="ends after --connect-timeout",
        sees=("connect_timeout",),
        timeouts=_CONNECT,
        place="full_queue",
    ),
    _unmet(
        name="tls_self_signed",
        about="a certificate that no authority has signed",
        right=_VERIFIED,
        sees=("tls",),
        place="tls_self_signed",
    ),
    _unmet(
        name="tls_expired",
        about="a certificate that has expired",
        right=_VERIFIED,
        sees=("tls",),
        place="tls_expired",
    ),
    _unmet(
        name="tls_plain",
        about="plain HTTP where TLS was asked for",
        sees=("tls",),
        place="plain_for_tls",
    ),
)
