"""Transcription and translation of speech: `POST /v1/audio/transcriptions`, `/v1/audio/translations`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from lazy_dataclasses import dataclass, replace
from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Delta, Usage, bearer, read_error
from loadgen.driver.client.server_json import members, text
from loadgen.plugins.media.made_up import audio
from loadgen.plugins.speech.multipart import CONTENT_TYPE, multipart
from loadgen.plugins.speech.spoken_sample import SpokenSample

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Generation
    from workloads.sample import Sample

_CHECK_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcription:
    """A protocol for recordings, of OpenAI, vLLM and others.

    Attributes:
        path: The path below the base URL.
        title: The name for lists.
        seconds: The length of the recording that a response answers; None for unknown.
    """

    path: str
    title: str
    seconds: float | None = None

    models: ClassVar[str | None] = "/models"
    dataset: ClassVar[str] = "spoken_dataset"
    content_type: ClassVar[str] = CONTENT_TYPE
    announces_end: ClassVar[bool] = False
    cumulative: ClassVar[bool] = False

    def headers(self, api_key: str | None) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(api_key)

    def request(self, sample: Sample, generation: Generation) -> bytes:
        """The form with the recording of a sample; of a sample without one, a second of made-up speech."""
        mime, content = "audio/wav", b""
        if isinstance(sample, SpokenSample):
            mime, content = sample.recording.mime, sample.audio()
        content = content or audio(0, _CHECK_SECONDS, "wav")
        temperature = generation.sampled_at(sample)
        fields = {
            "model": generation.model,
            "stream": "true" if generation.stream else None,
            "temperature": temperature,
        }
        members_of_form = generation.extended(fields)
        texts = {name: _text(value) for name, value in members_of_form.items() if value is not None}
        return multipart(texts, f"speech.{mime.partition('/')[2]}", content, mime)

    def asked(self, sample: Sample) -> dict[str, Any]:
        """A reference to the recording, for the log."""
        return {"prompt": sample.recording.reference if isinstance(sample, SpokenSample) else sample.prompt}

    def reader(self, sample: Sample) -> Transcription:
        """The protocol for the response to a sample."""
        return replace(self, seconds=sample.seconds if isinstance(sample, SpokenSample) else _CHECK_SECONDS)

    def chunk(self, payload: Any) -> Delta:
        """Read an event of a stream: OpenAI's `transcript.text.delta`, or a chunk of vLLM's."""
        frame = members(payload)
        if "choices" in frame:
            return chat_completions.chunk(payload)._replace(facts=self._facts())
        error, kind = read_error(frame), text(frame.get("type"))
        if kind == "transcript.text.done":
            return Delta(usage=_usage(frame), error=error, done=True, facts=self._facts())
        return Delta(content=text(frame.get("delta")), error=error, facts=self._facts())

    def whole(self, payload: Any) -> Delta:
        """Read a whole response."""
        response = members(payload)
        error = read_error(response)
        return Delta(text(response.get("text")), usage=_usage(response), error=error, facts=self._facts())

    def _facts(self) -> dict[str, Any] | None:
        return None if self.seconds is None else {"audio_in_s": self.seconds}


def _usage(response: Any) -> Usage | None:
    """The token counts; None where usage is the length of the recording."""
    return chat_completions.token_counts(response.get("usage"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


TRANSCRIPTION: Final = Transcription(path="/audio/transcriptions", title="OpenAI transcription of speech")
TRANSLATION: Final = Transcription(
    path="/audio/translations", title="OpenAI translation of speech into English"
)
