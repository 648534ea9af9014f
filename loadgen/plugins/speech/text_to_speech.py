"""Text to speech: `POST /v1/audio/speech`, whose response is audio, sent whole or as it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import orjson

from loadgen.driver.client.body_format import excerpt
from loadgen.driver.client.codec import Delta, bearer, joined_prompt, read_error
from loadgen.driver.errors import CannotAskError, MalformedResponseError
from loadgen.plugins.speech.audio_length import audio_start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.driver.client.codec import Generation
    from workloads.sample import Sample

_HEADER: Final = 4096


class TextToSpeech:
    """The protocol of OpenAI, vLLM-Omni and others."""

    path: ClassVar[str] = "/audio/speech"
    title: ClassVar[str] = "OpenAI text to speech"
    models: ClassVar[str | None] = "/models"
    announces_end: ClassVar[bool] = False
    cumulative: ClassVar[bool] = False
    dataset: ClassVar[str] = "texts_without_tokens"
    stream: ClassVar[str] = "never"

    def headers(self, api_key: str | None) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(api_key)

    def request(self, sample: Sample, generation: Generation) -> dict[str, Any]:
        """The request body; `--extra-body` chooses the voice, the format, and with vLLM-Omni `stream`."""
        if sample.chat is not None or sample.token_ids is not None:
            raise CannotAskError("conversations and tokens cannot be spoken: give texts")
        body = {
            "model": generation.model,
            "input": joined_prompt(sample),
            "voice": "alloy",
            "response_format": "wav",
        }
        return generation.extended(body)

    def asked(self, sample: Sample) -> dict[str, Any]:
        """The text for the log."""
        return {"prompt": joined_prompt(sample)}

    def chunk(self, payload: Any) -> Delta:
        """Refuse a stream of events: raise `MalformedResponseError`."""
        del payload
        raise MalformedResponseError("a stream of events, where audio belongs: leave stream_format out")

    def whole(self, payload: Any) -> Delta:
        """Read a response that is JSON: an error."""
        return Delta(error=read_error(payload) or "a JSON text, where audio belongs")

    def timed(self, pieces: Sequence[bytes], moments: Sequence[int]) -> Delta:
        """Read audio with the arrival of each piece, in ns of CLOCK_MONOTONIC.

        Raises:
            MalformedResponseError: The response is text.
        """
        head = b"".join(pieces[:_HEADER])[:_HEADER]
        if head[:1] in (b"{", b"<"):
            body = b"".join(pieces)
            try:
                return self.whole(orjson.loads(body))
            except orjson.JSONDecodeError as error:
                raise MalformedResponseError(f"text, where audio belongs: {excerpt(body)!r}") from error
        start, rate = audio_start(b"".join(pieces) if rate_is_far(head) else head)
        return Delta(facts=_facts(pieces, moments, start, rate))


def rate_is_far(head: bytes) -> bool:
    """Whether the start of a response does not tell how many bytes a second of audio takes."""
    return audio_start(head)[1] is None


def _facts(
    pieces: Sequence[bytes], moments: Sequence[int], start: int, rate: float | None
) -> dict[str, Any] | None:
    """Payload keys: the audio's length, when it began to arrive, and how long a player waits for the rest.

    A player begins with the first audio, and waits whenever it has played everything that has arrived.
    """
    received, first_ns, played_ns, waited_ns = 0, 0, 0.0, 0.0
    for piece, moment_ns in zip(pieces, moments, strict=True):
        before, received = max(0, received - start), received + len(piece)
        if received <= start:
            continue
        if not first_ns:
            first_ns, played_ns = moment_ns, float(moment_ns)
        elif rate and moment_ns > played_ns:
            waited_ns, played_ns = waited_ns + moment_ns - played_ns, float(moment_ns)
        if rate:
            played_ns += (max(0, received - start) - before) / rate * 1e9
    if not first_ns:
        return None
    facts: dict[str, Any] = {"first_audio_ns": first_ns}
    if rate:
        facts |= {"audio_out_s": (received - start) / rate, "playout_gap_ms": waited_ns / 1e6}
    return facts


SPEECH: Final = TextToSpeech()
