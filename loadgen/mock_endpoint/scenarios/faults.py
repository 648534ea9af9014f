"""Answers that are wrong inside: errors in a stream, and frames that are malformed."""

from __future__ import annotations

import gzip
from functools import partial
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.timeouts import Timeouts
from loadgen.mock_endpoint.scenarios import timetable
from loadgen.mock_endpoint.scenarios.dialects import chat, completions
from loadgen.mock_endpoint.scenarios.frame_writers import ALL, OPENAI, STREAMED
from loadgen.mock_endpoint.scenarios.http import EVENTS, chunked, head, unended, whole
from loadgen.mock_endpoint.scenarios.scenario import Scenario
from loadgen.mock_endpoint.scenarios.steps import Close, Flood, ScenarioScript, Send
from loadgen.mock_endpoint.scenarios.timetable import FIRST_MS, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.mock_endpoint.scenarios.dialect import Dialect

AFTER: Final = 8
"""How many tokens come before it goes wrong."""

WRONG_MS: Final = 60.0
MESSAGE: Final = "CUDA out of memory"
_LINE: Final = 17 * 2**20
_MEGABYTE: Final = 2**20


def valid_beginning(dialect: Dialect) -> list[Send]:
    """A correct stream up to the fault."""
    return [*timetable.opening(dialect), *timetable.paced(dialect, words(AFTER))]


def then(data: bytes, dialect: Dialect) -> ScenarioScript:
    """Eight tokens, and then something wrong, in a response that is complete."""
    return ScenarioScript(tuple(chunked([*valid_beginning(dialect), Send(WRONG_MS, data)])), counted=False)


def error_frame(dialect: Dialect) -> ScenarioScript:
    """The protocol's error frame, then the end of the stream."""
    wrong = dialect.error(MESSAGE)
    return then(wrong + chat.DONE if dialect.path in (chat.path, completions.path) else wrong, dialect)


def error_first(dialect: Dialect) -> ScenarioScript:
    """An error before any token."""
    return ScenarioScript(tuple(chunked([Send(FIRST_MS, dialect.error(MESSAGE))])), counted=False)


def json_error(dialect: Dialect) -> ScenarioScript:
    """A status of 200, and an error as the body."""
    error = dialect.error(MESSAGE)
    payload = error[error.index(b"data: ") + len(b"data: ") :].strip()
    return ScenarioScript((whole(FIRST_MS, payload),), counted=False)


def no_token(dialect: Dialect) -> ScenarioScript:
    """A stream that ends in order without a token."""
    pieces = [*timetable.opening(dialect), *timetable.ending(dialect, ())]
    return ScenarioScript(tuple(chunked(pieces)))


def only_done(_: Dialect) -> ScenarioScript:
    """A stream of `[DONE]`."""
    return ScenarioScript(tuple(chunked([Send(FIRST_MS, chat.DONE)])), counted=False)


def no_body(_: Dialect) -> ScenarioScript:
    """A stream of nothing."""
    return ScenarioScript((Send(FIRST_MS, head(EVENTS, "Content-Length: 0")),), counted=False)


def ends_early(dialect: Dialect) -> ScenarioScript:
    """The body is complete, the answer is not: no finish reason, no end."""
    return ScenarioScript(tuple(chunked(valid_beginning(dialect))), counted=False)


def done_early(dialect: Dialect) -> ScenarioScript:
    """`[DONE]` in the middle of the answer."""
    return then(chat.DONE, dialect)


def done_early_unended(dialect: Dialect) -> ScenarioScript:
    """The same, and the body has no end."""
    body = [*valid_beginning(dialect), Send(WRONG_MS, chat.DONE)]
    return ScenarioScript((*unended(body), Close(WRONG_MS)), counted=False)


def gives_up(dialect: Dialect) -> ScenarioScript:
    """Half of the answer, and an end in order whose finish reason is `abort`."""
    ending = b"".join(dialect.ending(words(AFTER), counted=True))
    for reason in (b'"stop"', b'"end_turn"'):
        ending = ending.replace(reason, b'"abort"')
    return then(ending, dialect)


def compressed(dialect: Dialect) -> ScenarioScript:
    """A stream in gzip, which the client did not ask for."""
    packed = gzip.compress(b"".join(piece.data for piece in timetable.body(dialect)), mtime=0)
    return ScenarioScript(
        (whole(FIRST_MS, packed, "Content-Encoding: gzip", content_type=EVENTS),),
        counted=False,
    )


def html(_: Dialect) -> ScenarioScript:
    """A page, with a status of 200."""
    page = b"<!doctype html><title>Sign in</title>"
    return ScenarioScript((whole(FIRST_MS, page, content_type="text/html"),), counted=False)


def huge_line(_: Dialect) -> ScenarioScript:
    """A line of 17 MiB."""
    pieces = [b"data: ", *(b"x" * _MEGABYTE for _ in range(_LINE // _MEGABYTE))]
    steps = [Send(0, head(EVENTS, "Connection: close")), *(Send(FIRST_MS, piece) for piece in pieces)]
    return ScenarioScript((*steps, Flood(FIRST_MS, b"x", 10)), counted=False)


def endless_body(_: Dialect) -> ScenarioScript:
    """Comments without end, as fast as possible."""
    comment = b": " + b"x" * (_MEGABYTE - 4) + b"\n\n"
    return ScenarioScript(
        (Send(0, head(EVENTS, "Connection: close")), Flood(FIRST_MS, comment)), counted=False
    )


def endless_pings(dialect: Dialect) -> ScenarioScript:
    """Comments without end, one every 20 ms, after eight tokens."""
    body = [Send(0, head(EVENTS, "Connection: close")), *valid_beginning(dialect)]
    return ScenarioScript((*body, Flood(WRONG_MS, b": ping\n\n", 20)), counted=False)


def _wrong(
    name: str,
    about: str,
    sees: str,
    script: Callable[[Dialect], ScenarioScript],
    protocols: tuple[str, ...] = STREAMED,
    right: str = "",
    message: str = "",
) -> Scenario:
    return Scenario(
        name=name,
        about=about,
        right=right,
        script=script,
        protocols=protocols,
        sees=(sees,),
        requests=2,
        message=message,
    )


_FRAMES: Final = {
    "error_string": ("an error that is a text", b'data: {"error": "%b"}\n\n', "error_frame"),
    "error_object": (
        "`object: error`",
        b'data: {"object": "error", "message": "%b"}\n\n',
        "error_frame",
    ),
    "error_event": ("`event: error` with plain text", b"event: error\ndata: %b\n\n", "error_frame"),
    "error_comment": (
        "`event: error` without data, with the text in a comment",
        b"event: error\n: %b\n\n",
        "error_frame",
    ),
    "error_field": (
        "an error in a separate field, as sent by llama.cpp",
        b'error: {"code": 500, "message": "%b"}\n\n',
        "error_frame",
    ),
    "error_line": ("an error as JSON without `data:`", b'{"error": {"message": "%b"}}\n\n', "error_frame"),
    "error_status": (
        "a status of 503 in the place of a chunk",
        b'data: {"status_code": 503, "detail": "%b"}\n\n',
        "error_frame",
    ),
    "error_beside": (
        "an error with choices, whose finish reason is `error`",
        b'data: {"error": {"message": "%b"}, "choices": [{"delta": {}, "finish_reason": "error"}]}\n\n',
        "error_frame",
    ),
    "abort_object": (
        "a finish reason that is an object with a message, as SGLang sends it",
        b'data: {"choices": [{"finish_reason": {"type": "abort", "status_code": 503, "message": "%b"}}]}\n\n',
        "error_frame",
    ),
    "cut_json": ("JSON that breaks off", b'data: {"choices": [{"del\n\n', "malformed_frame"),
    "wrong_type": (
        "a number where a text belongs",
        b'data: {"choices": [{"delta": {"content": 5}, "text": 5}]}\n\n',
        "malformed_frame",
    ),
    "not_an_object": ("a list where an object belongs", b"data: [1, 2]\n\n", "malformed_frame"),
    "not_utf8": (
        "bytes that are not UTF-8",
        b'data: {"choices": [{"delta": {"content": "\xff"}, "text": "\xff"}]}\n\n',
        "malformed_frame",
    ),
}
"""Frames of the OpenAI protocols that are wrong, what each is, and what a client must call it."""

_SHORT: Final = Timeouts(timeout_s=0.4, connect_timeout_s=5.0)

FAULTS: Final = (
    _wrong(
        "error_frame",
        "an error in mid-stream, after 8 tokens and a status of 200",
        "error_frame",
        error_frame,
        right="a failure, with the 8 tokens kept: a status of 200 does not make it a success",
        message=MESSAGE,
    ),
    _wrong(
        "error_first",
        "an error as the first frame, status 200",
        "error_frame",
        error_first,
        message=MESSAGE,
    ),
    _wrong(
        "json_error",
        "a JSON error as the body, status 200",
        "error_frame",
        json_error,
        protocols=ALL,
        message=MESSAGE,
    ),
    *(
        _wrong(
            name,
            f"{about}, after 8 tokens",
            sees,
            partial(then, frame.replace(b"%b", MESSAGE.encode()) + chat.DONE),
            OPENAI,
            message=MESSAGE if sees == "error_frame" else "",
        )
        for name, (about, frame, sees) in _FRAMES.items()
    ),
    _wrong(
        "finish_only",
        "a finish reason and no token",
        "empty_answer",
        no_token,
        right="nothing was generated: no success, and no TTFT of 0",
    ),
    _wrong("done_only", "`[DONE]` and nothing else", "empty_response", only_done, OPENAI),
    _wrong("no_body", "a stream of no bytes", "empty_response", no_body, OPENAI),
    _wrong(
        "ends_early",
        "the body ends in order after 8 tokens, without a finish reason or `[DONE]`",
        "truncated",
        ends_early,
        right="a gateway whose server died ends its own body in order",
    ),
    _wrong(
        "done_early",
        "`[DONE]` after 8 tokens, without a finish reason",
        "truncated",
        done_early,
        right="the finish reason says that an answer is complete, and not `[DONE]`",
    ),
    _wrong(
        "done_early_unended",
        "the same, and the connection closes before the body's own end",
        "truncated",
        done_early_unended,
        right="llama-cpp-python ends a stream so that another request interrupts",
    ),
    _wrong(
        "gives_up",
        "a finish reason of `abort` after 8 tokens, usage and the protocol's end",
        "aborted",
        gives_up,
        tuple(name for name in STREAMED if name != "responses"),
        right="an answer that the server gave up is short, and fast",
    ),
    _wrong(
        "gzip",
        "the body is gzip, although `identity` was asked",
        "decode_error",
        compressed,
        right="the compressor decides when chunks of a compressed stream leave",
    ),
    _wrong("html", "a login page, status 200", "malformed_frame", html, ALL),
    Scenario(
        name="huge_line",
        about="a line of 17 MiB",
        right="memory is bounded: no line is kept beyond 16 MiB",
        script=huge_line,
        sees=("too_large",),
        requests=1,
        heavy=True,
        fast=False,
    ),
    Scenario(
        name="endless_body",
        about="comments without end, as fast as possible",
        right="memory is bounded: no body is kept beyond 64 MiB",
        script=endless_body,
        protocols=OPENAI,
        sees=("too_large",),
        requests=1,
        heavy=True,
        fast=False,
    ),
    Scenario(
        name="endless_pings",
        about="after 8 tokens nothing but comments, without end",
        right="time is bounded too",
        script=endless_pings,
        sees=("total_timeout",),
        timeouts=_SHORT,
        requests=2,
        fast=False,
    ),
)
