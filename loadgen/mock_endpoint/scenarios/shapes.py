"""Streams of real servers, gateways and proxies: all of these are successes.

Sixteen tokens each, the first 20 ms after the request and then one every 5 ms, unless it says otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from loadgen.mock_endpoint.scenarios import timetable
from loadgen.mock_endpoint.scenarios.dialects import chat, completions
from loadgen.mock_endpoint.scenarios.frame_writers import FIXED, OPENAI, STARTED
from loadgen.mock_endpoint.scenarios.http import stream
from loadgen.mock_endpoint.scenarios.scenario import scenario
from loadgen.mock_endpoint.scenarios.steps import EventContent, ScenarioScript, Send
from loadgen.mock_endpoint.scenarios.timetable import END_MS, FIRST_MS, GAP_MS, TOKENS, words

if TYPE_CHECKING:
    from loadgen.mock_endpoint.scenarios.dialect import Dialect

_LATER_MS: Final = 3 * FIRST_MS
LATE_MS: Final = END_MS + 50
_NO_CHARACTER: Final = "\ufffd".encode()


@scenario("a stream as it should be")
def _plain(dialect: Dialect) -> ScenarioScript:
    return stream(timetable.body(dialect))


@scenario(
    "a role-only chunk (or the protocol's own start) at 0 ms",
    right="not a token: TTFT is 20 ms",
    protocols=STARTED,
)
def _role_early(dialect: Dialect) -> ScenarioScript:
    contents = words()
    later = timetable.paced(dialect, contents) + timetable.ending(dialect, contents)
    return stream([*timetable.opening(dialect, 0), *later])


def _thinking(kind: str) -> tuple[EventContent, ...]:
    return (*words(8, kind), *words(8, start=8))  # type: ignore[arg-type]  # ours are Kinds


@scenario(
    "the first 8 tokens are `reasoning`",
    right="TTFT is 20 ms, the first output comes after 60 ms, TPOT is over all 16",
    protocols=STARTED,
)
def _reasoning(dialect: Dialect) -> ScenarioScript:
    return stream(timetable.body(dialect, _thinking("reasoning")))


@scenario(
    "the first 8 tokens are `reasoning_content`",
    right="the same under the name that DeepSeek, SGLang and older vLLM give it",
    protocols=("chat",),
)
def _reasoning_content(dialect: Dialect) -> ScenarioScript:
    return stream(timetable.body(dialect, _thinking("reasoning_content")))


@scenario("nothing but parts of a tool call", right="tokens, and the first output", protocols=STARTED)
def _tool_calls(dialect: Dialect) -> ScenarioScript:
    parts = ("", '{"q": "', *(f"w{number} " for number in range(2, TOKENS - 1)), '"}')
    return stream(timetable.body(dialect, [EventContent(part, "tool") for part in parts]))


@scenario(
    'the first 4 tokens decode to ""; usage counts 16',
    right="tokens: TTFT is 20 ms; the first visible one comes after 40 ms",
    protocols=OPENAI,
)
def _silent_tokens(dialect: Dialect) -> ScenarioScript:
    contents = (EventContent(""),) * 4 + words(TOKENS - 4, start=4)
    return stream(timetable.body(dialect, contents))


@scenario(
    "1,000 chunks with empty text, the first token after 60 ms; usage counts 16",
    right="the count says that they are not tokens: TTFT is 60 ms",
    requests=3,
    heavy=True,
    protocols=OPENAI,
)
def _empty_chunks(dialect: Dialect) -> ScenarioScript:
    nothings = timetable.paced(dialect, [EventContent("", tokens=0)] * 1000, first_ms=1, gap_ms=0)
    pieces = [*timetable.together(nothings), *timetable.body(dialect, first_ms=_LATER_MS)]
    return stream(pieces)


@scenario(
    "4 tokens a chunk, one chunk every 20 ms",
    right="16 tokens, not 4: TPOT divides by the server's count",
    protocols=FIXED,
)
def _four_tokens_a_chunk(dialect: Dialect) -> ScenarioScript:
    contents = [EventContent(f" a{number} b c d", tokens=4) for number in range(TOKENS // 4)]
    pieces = timetable.paced(dialect, contents, gap_ms=4 * GAP_MS)
    end_ms = FIRST_MS + 3 * 4 * GAP_MS
    end = timetable.ending(dialect, contents, finish_ms=end_ms, usage_ms=end_ms, done_ms=end_ms)
    return stream([*timetable.opening(dialect), *pieces, *end])


@scenario(
    "usage 50 ms after the last token", right="the latency ends with it, TPOT does not", protocols=FIXED
)
def _usage_late(dialect: Dialect) -> ScenarioScript:
    contents = words()
    end = timetable.ending(dialect, contents, usage_ms=LATE_MS, done_ms=LATE_MS)
    return stream([*timetable.opening(dialect), *timetable.paced(dialect, contents), *end])


@scenario(
    "`[DONE]` 50 ms after the last token", right="the latency ends with it, TPOT does not", protocols=FIXED
)
def _done_late(dialect: Dialect) -> ScenarioScript:
    contents = words()
    end = timetable.ending(dialect, contents, done_ms=LATE_MS)
    return stream([*timetable.opening(dialect), *timetable.paced(dialect, contents), *end])


@scenario("no usage in the stream", right="16 chunks, and chunks as the source of the count", protocols=FIXED)
def _no_usage(dialect: Dialect) -> ScenarioScript:
    return stream(timetable.body(dialect, usage=False), counted=False)


@scenario(
    "no `[DONE]`: the body just ends after the finish reason",
    right="a success: the finish reason is an end",
    protocols=OPENAI,
)
def _no_done(dialect: Dialect) -> ScenarioScript:
    contents = words()
    end = timetable.ending(dialect, contents)
    without_done = [piece for piece in end if piece.data != chat.DONE]
    return stream([*timetable.opening(dialect), *timetable.paced(dialect, contents), *without_done])


def _openai(dialect: Dialect, reason: str | None, content: EventContent | None, **more: Any) -> bytes:
    """A chunk of either OpenAI protocol, with further members."""
    if dialect.path == completions.path:
        return completions.chunk(content.text if content else "", reason, **more)
    return chat.delta({"content": content.text} if content else {}, reason, **more)


@scenario("usage is in the chunk with the finish reason", protocols=OPENAI)
def _usage_on_finish(dialect: Dialect) -> ScenarioScript:
    contents = words()
    finish = Send(END_MS, _openai(dialect, "stop", None, usage=chat.usage(contents)))
    pieces = [*timetable.paced(dialect, contents), finish, Send(END_MS, chat.DONE)]
    return stream([*timetable.opening(dialect), *pieces])


@scenario("`usage: null` on every chunk but the last", right="null is not 0", protocols=OPENAI)
def _usage_null(dialect: Dialect) -> ScenarioScript:
    contents = words()
    pieces = [
        Send(FIRST_MS + GAP_MS * place, _openai(dialect, None, content, usage=None), (content,))
        for place, content in enumerate(contents)
    ]
    return stream([*pieces, *timetable.ending(dialect, contents)])


@scenario(
    "every chunk has the usage so far", right="the last one counts, they are not added up", protocols=OPENAI
)
def _usage_growing(dialect: Dialect) -> ScenarioScript:
    contents = words()
    pieces = [
        Send(
            FIRST_MS + GAP_MS * place,
            _openai(dialect, None, content, usage=chat.usage(contents[: place + 1])),
            (content,),
        )
        for place, content in enumerate(contents)
    ]
    return stream([*pieces, *timetable.ending(dialect, contents)])


@scenario(
    "terminal escapes, `<script>`, a formula and a NUL in the output",
    right="kept as they are, and escaped where they are shown",
)
def _unsafe_text(dialect: Dialect) -> ScenarioScript:
    texts = ("\x1b[2J\x1b]0;owned\x07", "<script>alert(1)</script>", "=cmd|' /C calc'!A0", '\u202e\x00\r\n,"')
    contents = tuple(EventContent(text) for text in texts * (TOKENS // 4))
    return stream(timetable.body(dialect, contents))


@scenario(
    "a character in two tokens, each half an escaped lone surrogate",
    right="two tokens, and U+FFFD for what is not a character",
)
def _half_characters(dialect: Dialect) -> ScenarioScript:
    contents = (*words(8), EventContent("\ufffd"), EventContent("\ufffd"), *words(6, start=10))
    halves = iter((b"\\ud83d", b"\\ude00"))
    pieces = [
        replace(piece, data=piece.data.replace(_NO_CHARACTER, next(halves)))
        if piece.contents and piece.contents[0].text == "\ufffd"
        else piece
        for piece in timetable.body(dialect, contents)
    ]
    return stream(pieces)


@scenario(
    "two choices, a token of each in turn (`n`: 2)",
    right="the answer is the first choice, and not a mix of the two",
    protocols=OPENAI,
)
def _two_choices(dialect: Dialect) -> ScenarioScript:
    contents = [EventContent(content.text, choice=number % 2) for number, content in enumerate(words())]
    return stream(timetable.body(dialect, contents))


SHAPES: Final = (
    _plain,
    _role_early,
    _reasoning,
    _reasoning_content,
    _four_tokens_a_chunk,
    _usage_late,
    _done_late,
    _tool_calls,
    _silent_tokens,
    _no_usage,
    _no_done,
    _usage_on_finish,
    _usage_null,
    _usage_growing,
    _empty_chunks,
    _unsafe_text,
    _half_characters,
    _two_choices,
)
