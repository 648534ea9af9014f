"""Answers that are wrong inside: errors in a stream, and frames that are malformed."""

from __future__ import annotations

import gzip
from functools import partial
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.timeouts import Timeouts
from loadgen.mock_endpoint.scenarios import timetable
from loadgen.mock_endpoint.scenarios.dialects import chat, completions
from loadgen.mock_endpoint.scenarios.frame_writers import ALL, OPENAI, STREAMED
from loadgen.mock_endpoint.scenarios.http import EVENTS, head, stream, unended, whole
from loadgen.mock_endpoint.scenarios.scenario import Scenario, scenario
from loadgen.mock_endpoint.scenarios.steps import Close, Flood, ScenarioScript, Send
from loadgen.mock_endpoint.scenarios.timetable import FIRST_MS, words

if TYPE_CHECKING:
    from loadgen.mock_endpoint.scenarios.dialect import Dialect

AFTER: Final = 8
"""How many tokens come before it goes wrong."""

WRONG_MS: Final = 60.0
MESSAGE: Final = "CUDA out of memory"
_LINE: Final = 17 * 2**20
_MEGABYTE: Final = 2**20
_SHORT: Final = Timeouts(timeout_s=0.4, connect_timeout_s=5.0)


def valid_beginning(dialect: Dialect) -> list[Send]:
    """A correct stream up to the fault."""
    return [*timetable.opening(dialect), *timetable.paced(dialect, words(AFTER))]


def then(data: bytes, dialect: Dialect) -> ScenarioScript:
    """Eight tokens, and then something wrong, in a response that is complete."""
    return stream([*valid_beginning(dialect), Send(WRONG_MS, data)], counted=False)


@scenario(
    "an error in mid-stream, after 8 tokens and a status of 200",
    right="a failure, with the 8 tokens kept: a status of 200 does not make it a success",
    sees=("error_frame",),
    message=MESSAGE,
)
def _error_frame(dialect: Dialect) -> ScenarioScript:
    wrong = dialect.error(MESSAGE)
    return then(wrong + chat.DONE if dialect.path in (chat.path, completions.path) else wrong, dialect)


@scenario("an error as the first frame, status 200", sees=("error_frame",), message=MESSAGE)
def _error_first(dialect: Dialect) -> ScenarioScript:
    return stream([Send(FIRST_MS, dialect.error(MESSAGE))], counted=False)


@scenario("a JSON error as the body, status 200", protocols=ALL, sees=("error_frame",), message=MESSAGE)
def _json_error(dialect: Dialect) -> ScenarioScript:
    error = dialect.error(MESSAGE)
    payload = error[error.index(b"data: ") + len(b"data: ") :].strip()
    return ScenarioScript((whole(FIRST_MS, payload),), counted=False)


@scenario(
    "a finish reason and no token",
    right="nothing was generated: no success, and no TTFT of 0",
    sees=("empty_answer",),
)
def _finish_only(dialect: Dialect) -> ScenarioScript:
    pieces = [*timetable.opening(dialect), *timetable.ending(dialect, ())]
    return stream(pieces)


@scenario("`[DONE]` and nothing else", protocols=OPENAI, sees=("empty_response",))
def _done_only(_: Dialect) -> ScenarioScript:
    return stream([Send(FIRST_MS, chat.DONE)], counted=False)


@scenario("a stream of no bytes", protocols=OPENAI, sees=("empty_response",))
def _no_body(_: Dialect) -> ScenarioScript:
    return ScenarioScript((Send(FIRST_MS, head(EVENTS, "Content-Length: 0")),), counted=False)


@scenario(
    "the body ends in order after 8 tokens, without a finish reason or `[DONE]`",
    right="a gateway whose server died ends its own body in order",
    sees=("truncated",),
)
def _ends_early(dialect: Dialect) -> ScenarioScript:
    return stream(valid_beginning(dialect), counted=False)


@scenario(
    "`[DONE]` after 8 tokens, without a finish reason",
    right="the finish reason says that an answer is complete, and not `[DONE]`",
    sees=("truncated",),
)
def _done_early(dialect: Dialect) -> ScenarioScript:
    return then(chat.DONE, dialect)


@scenario(
    "the same, and the connection closes before the body's own end",
    right="llama-cpp-python ends a stream so that another request interrupts",
    sees=("truncated",),
)
def _done_early_unended(dialect: Dialect) -> ScenarioScript:
    body = [*valid_beginning(dialect), Send(WRONG_MS, chat.DONE)]
    return ScenarioScript((*unended(body), Close(WRONG_MS)), counted=False)


@scenario(
    "a finish reason of `abort` after 8 tokens, usage and the protocol's end",
    right="an answer that the server gave up is short, and fast",
    protocols=tuple(name for name in STREAMED if name != "responses"),
    sees=("aborted",),
)
def _gives_up(dialect: Dialect) -> ScenarioScript:
    ending = b"".join(dialect.ending(words(AFTER), counted=True))
    for reason in (b'"stop"', b'"end_turn"'):
        ending = ending.replace(reason, b'"abort"')
    return then(ending, dialect)


@scenario(
    "the body is gzip, although `identity` was asked",
    right="the compressor decides when chunks of a compressed stream leave",
    sees=("decode_error",),
)
def _gzip(dialect: Dialect) -> ScenarioScript:
    packed = gzip.compress(b"".join(piece.data for piece in timetable.body(dialect)), mtime=0)
    return ScenarioScript(
        (whole(FIRST_MS, packed, "Content-Encoding: gzip", content_type=EVENTS),),
        counted=False,
    )


@scenario("a login page, status 200", protocols=ALL, sees=("malformed_frame",))
def _html(_: Dialect) -> ScenarioScript:
    page = b"<!doctype html><title>Sign in</title>"
    return ScenarioScript((whole(FIRST_MS, page, content_type="text/html"),), counted=False)


@scenario(
    "a line of 17 MiB",
    right="memory is bounded: no line is kept beyond 16 MiB",
    sees=("too_large",),
    requests=1,
    heavy=True,
)
def _huge_line(_: Dialect) -> ScenarioScript:
    pieces = [b"data: ", *(b"x" * _MEGABYTE for _ in range(_LINE // _MEGABYTE))]
    steps = [Send(0, head(EVENTS, "Connection: close")), *(Send(FIRST_MS, piece) for piece in pieces)]
    return ScenarioScript((*steps, Flood(FIRST_MS, b"x", 10)), counted=False)


@scenario(
    "comments without end, as fast as possible",
    right="memory is bounded: no body is kept beyond 64 MiB",
    protocols=OPENAI,
    sees=("too_large",),
    requests=1,
    heavy=True,
)
def _endless_body(_: Dialect) -> ScenarioScript:
    comment = b": " + b"x" * (_MEGABYTE - 4) + b"\n\n"
    return ScenarioScript(
        (Send(0, head(EVENTS, "Connection: close")), Flood(FIRST_MS, comment)), counted=False
    )


@scenario(
    "after 8 tokens nothing but comments, without end",
    right="time is bounded too",
    sees=("total_timeout",),
    timeouts=_SHORT,
)
def _endless_pings(dialect: Dialect) -> ScenarioScript:
    body = [Send(0, head(EVENTS, "Connection: close")), *valid_beginning(dialect)]
    return ScenarioScript((*body, Flood(WRONG_MS, b": ping\n\n", 20)), counted=False)


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

FAULTS: Final = (
    _error_frame,
    _error_first,
    _json_error,
    *(
        Scenario(
            name,
            f"{about}, after 8 tokens",
            partial(then, frame.replace(b"%b", MESSAGE.encode()) + chat.DONE),
            protocols=OPENAI,
            sees=(sees,),
            message=MESSAGE if sees == "error_frame" else "",
        )
        for name, (about, frame, sees) in _FRAMES.items()
    ),
    _finish_only,
    _done_only,
    _no_body,
    _ends_early,
    _done_early,
    _done_early_unended,
    _gives_up,
    _gzip,
    _html,
    _huge_line,
    _endless_body,
    _endless_pings,
)
