"""Streams of real servers, gateways and proxies: all of these are successes.

Sixteen tokens each, the first 20 ms after the request and then one every 5 ms, unless it says otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from loadgen.mock_endpoint.scenarios import timetable
from loadgen.mock_endpoint.scenarios.dialects import chat, completions
from loadgen.mock_endpoint.scenarios.frame_writers import FIXED, OPENAI, STARTED
from loadgen.mock_endpoint.scenarios.http import chunked
from loadgen.mock_endpoint.scenarios.scenario import Scenario
from loadgen.mock_endpoint.scenarios.steps import EventContent, ScenarioScript, Send
from loadgen.mock_endpoint.scenarios.timetable import END_MS, FIRST_MS, GAP_MS, TOKENS, words

if TYPE_CHECKING:
    from loadgen.mock_endpoint.scenarios.dialect import Dialect

_LATER_MS: Final = 3 * FIRST_MS
LATE_MS: Final = END_MS + 50
_NO_CHARACTER: Final = "\ufffd".encode()


def plain(dialect: Dialect) -> ScenarioScript:
    """A plain stream."""
    return ScenarioScript(tuple(chunked(timetable.body(dialect))))


def role_early(dialect: Dialect) -> ScenarioScript:
    """The stream begins at once, and the first token follows later."""
    contents = words()
    later = timetable.paced(dialect, contents) + timetable.ending(dialect, contents)
    return ScenarioScript(tuple(chunked([*timetable.opening(dialect, 0), *later])))


def _thinking(kind: str) -> tuple[EventContent, ...]:
    return (*words(8, kind), *words(8, start=8))  # type: ignore[arg-type]  # ours are Kinds


def reasoning(dialect: Dialect) -> ScenarioScript:
    """The first eight tokens are reasoning."""
    return ScenarioScript(tuple(chunked(timetable.body(dialect, _thinking("reasoning")))))


def reasoning_content(dialect: Dialect) -> ScenarioScript:
    """As `reasoning`, under the other name."""
    return ScenarioScript(tuple(chunked(timetable.body(dialect, _thinking("reasoning_content")))))


def tool_calls(dialect: Dialect) -> ScenarioScript:
    """Nothing but parts of one tool call."""
    parts = ("", '{"q": "', *(f"w{number} " for number in range(2, TOKENS - 1)), '"}')
    return ScenarioScript(
        tuple(chunked(timetable.body(dialect, [EventContent(part, "tool") for part in parts])))
    )


def silent_tokens(dialect: Dialect) -> ScenarioScript:
    """The first four tokens have no text yet, but are in the server's usage."""
    contents = (EventContent(""),) * 4 + words(TOKENS - 4, start=4)
    return ScenarioScript(tuple(chunked(timetable.body(dialect, contents))))


def empty_chunks(dialect: Dialect) -> ScenarioScript:
    """A thousand chunks with an empty text, which the server does not count, and then a stream."""
    nothings = timetable.paced(dialect, [EventContent("", tokens=0)] * 1000, first_ms=1, gap_ms=0)
    pieces = [*timetable.together(nothings), *timetable.body(dialect, first_ms=_LATER_MS)]
    return ScenarioScript(tuple(chunked(pieces)))


def four_tokens_a_chunk(dialect: Dialect) -> ScenarioScript:
    """Four events of four tokens, each sent when the first token is due."""
    contents = [EventContent(f" a{number} b c d", tokens=4) for number in range(TOKENS // 4)]
    pieces = timetable.paced(dialect, contents, gap_ms=4 * GAP_MS)
    end_ms = FIRST_MS + 3 * 4 * GAP_MS
    end = timetable.ending(dialect, contents, finish_ms=end_ms, usage_ms=end_ms, done_ms=end_ms)
    return ScenarioScript(tuple(chunked([*timetable.opening(dialect), *pieces, *end])))


def usage_late(dialect: Dialect) -> ScenarioScript:
    """Usage, and the rest of the stream, 50 ms after the last token."""
    contents = words()
    end = timetable.ending(dialect, contents, usage_ms=LATE_MS, done_ms=LATE_MS)
    return ScenarioScript(
        tuple(chunked([*timetable.opening(dialect), *timetable.paced(dialect, contents), *end]))
    )


def done_late(dialect: Dialect) -> ScenarioScript:
    """The end of the protocol 50 ms after the last token."""
    contents = words()
    end = timetable.ending(dialect, contents, done_ms=LATE_MS)
    return ScenarioScript(
        tuple(chunked([*timetable.opening(dialect), *timetable.paced(dialect, contents), *end]))
    )


def no_usage(dialect: Dialect) -> ScenarioScript:
    """No token counts at all."""
    return ScenarioScript(tuple(chunked(timetable.body(dialect, usage=False))), counted=False)


def no_done(dialect: Dialect) -> ScenarioScript:
    """The stream is over after the finish reason and the usage."""
    contents = words()
    end = timetable.ending(dialect, contents)
    without_done = [piece for piece in end if piece.data != chat.DONE]
    return ScenarioScript(
        tuple(chunked([*timetable.opening(dialect), *timetable.paced(dialect, contents), *without_done]))
    )


def _openai(dialect: Dialect, reason: str | None, content: EventContent | None, **more: Any) -> bytes:
    """A chunk of either OpenAI protocol, with further members."""
    if dialect.path == completions.path:
        return completions.chunk(content.text if content else "", reason, **more)
    return chat.delta({"content": content.text} if content else {}, reason, **more)


def usage_on_finish(dialect: Dialect) -> ScenarioScript:
    """The usage is in the chunk with the finish reason."""
    contents = words()
    finish = Send(END_MS, _openai(dialect, "stop", None, usage=chat.usage(contents)))
    pieces = [*timetable.paced(dialect, contents), finish, Send(END_MS, chat.DONE)]
    return ScenarioScript(tuple(chunked([*timetable.opening(dialect), *pieces])))


def usage_null(dialect: Dialect) -> ScenarioScript:
    """`usage: null` on every chunk but the last."""
    contents = words()
    pieces = [
        Send(FIRST_MS + GAP_MS * place, _openai(dialect, None, content, usage=None), (content,))
        for place, content in enumerate(contents)
    ]
    return ScenarioScript(tuple(chunked([*pieces, *timetable.ending(dialect, contents)])))


def usage_growing(dialect: Dialect) -> ScenarioScript:
    """Every chunk says how many tokens there were so far."""
    contents = words()
    pieces = [
        Send(
            FIRST_MS + GAP_MS * place,
            _openai(dialect, None, content, usage=chat.usage(contents[: place + 1])),
            (content,),
        )
        for place, content in enumerate(contents)
    ]
    return ScenarioScript(tuple(chunked([*pieces, *timetable.ending(dialect, contents)])))


def unsafe_text(dialect: Dialect) -> ScenarioScript:
    """The output contains terminal escapes, HTML, a formula and a NUL."""
    texts = ("\x1b[2J\x1b]0;owned\x07", "<script>alert(1)</script>", "=cmd|' /C calc'!A0", '\u202e\x00\r\n,"')
    contents = tuple(EventContent(text) for text in texts * (TOKENS // 4))
    return ScenarioScript(tuple(chunked(timetable.body(dialect, contents))))


def half_characters(dialect: Dialect) -> ScenarioScript:
    """One character in two tokens, split as in UTF-16: each half is a lone surrogate."""
    contents = (*words(8), EventContent("\ufffd"), EventContent("\ufffd"), *words(6, start=10))
    halves = iter((b"\\ud83d", b"\\ude00"))
    pieces = [
        replace(piece, data=piece.data.replace(_NO_CHARACTER, next(halves)))
        if piece.contents and piece.contents[0].text == "\ufffd"
        else piece
        for piece in timetable.body(dialect, contents)
    ]
    return ScenarioScript(tuple(chunked(pieces)))


def two_choices(dialect: Dialect) -> ScenarioScript:
    """Two answers to one question, a token of each in turn."""
    contents = [EventContent(content.text, choice=number % 2) for number, content in enumerate(words())]
    return ScenarioScript(tuple(chunked(timetable.body(dialect, contents))))


_CHAT: Final = ("chat",)

SHAPES: Final = (
    Scenario(name="plain", about="a stream as it should be", script=plain),
    Scenario(
        name="role_early",
        about="a role-only chunk (or the protocol's own start) at 0 ms",
        right="not a token: TTFT is 20 ms",
        script=role_early,
        protocols=STARTED,
    ),
    Scenario(
        name="reasoning",
        about="the first 8 tokens are `reasoning`",
        right="TTFT is 20 ms, the first output comes after 60 ms, TPOT is over all 16",
        script=reasoning,
        protocols=STARTED,
    ),
    Scenario(
        name="reasoning_content",
        about="the first 8 tokens are `reasoning_content`",
        right="the same under the name that DeepSeek, SGLang and older vLLM give it",
        script=reasoning_content,
        protocols=_CHAT,
    ),
    Scenario(
        name="four_tokens_a_chunk",
        about="4 tokens a chunk, one chunk every 20 ms",
        right="16 tokens, not 4: TPOT divides by the server's count",
        script=four_tokens_a_chunk,
        protocols=FIXED,
    ),
    Scenario(
        name="usage_late",
        about="usage 50 ms after the last token",
        right="the latency ends with it, TPOT does not",
        script=usage_late,
        protocols=FIXED,
    ),
    Scenario(
        name="done_late",
        about="`[DONE]` 50 ms after the last token",
        right="the latency ends with it, TPOT does not",
        script=done_late,
        protocols=FIXED,
    ),
    Scenario(
        name="tool_calls",
        about="nothing but parts of a tool call",
        right="tokens, and the first output",
        script=tool_calls,
        protocols=STARTED,
    ),
    Scenario(
        name="silent_tokens",
        about='the first 4 tokens decode to ""; usage counts 16',
        right="tokens: TTFT is 20 ms; the first visible one comes after 40 ms",
        script=silent_tokens,
        protocols=OPENAI,
    ),
    Scenario(
        name="no_usage",
        about="no usage in the stream",
        right="16 chunks, and chunks as the source of the count",
        script=no_usage,
        protocols=FIXED,
    ),
    Scenario(
        name="no_done",
        about="no `[DONE]`: the body just ends after the finish reason",
        right="a success: the finish reason is an end",
        script=no_done,
        protocols=OPENAI,
    ),
    Scenario(
        name="usage_on_finish",
        about="usage is in the chunk with the finish reason",
        script=usage_on_finish,
        protocols=OPENAI,
    ),
    Scenario(
        name="usage_null",
        about="`usage: null` on every chunk but the last",
        right="null is not 0",
        script=usage_null,
        protocols=OPENAI,
    ),
    Scenario(
        name="usage_growing",
        about="every chunk has the usage so far",
        right="the last one counts, they are not added up",
        script=usage_growing,
        protocols=OPENAI,
    ),
    Scenario(
        name="empty_chunks",
        about="1,000 chunks with empty text, the first token after 60 ms; usage counts 16",
        right="the count says that they are not tokens: TTFT is 60 ms",
        script=empty_chunks,
        requests=3,
        heavy=True,
        protocols=OPENAI,
    ),
    Scenario(
        name="unsafe_text",
        about="terminal escapes, `<script>`, a formula and a NUL in the output",
        right="kept as they are, and escaped where they are shown",
        script=unsafe_text,
    ),
    Scenario(
        name="half_characters",
        about="a character in two tokens, each half an escaped lone surrogate",
        right="two tokens, and U+FFFD for what is not a character",
        script=half_characters,
    ),
    Scenario(
        name="two_choices",
        about="two choices, a token of each in turn (`n`: 2)",
        right="the answer is the first choice, and not a mix of the two",
        script=two_choices,
        protocols=OPENAI,
    ),
)
