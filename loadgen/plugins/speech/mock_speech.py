"""The mock endpoint's speech and images: a second of audio in pieces, a transcript, and an image."""

from __future__ import annotations

import time
from base64 import b64encode
from typing import TYPE_CHECKING, Final

import orjson

from loadgen.mock_endpoint.ask import RefusedRequest
from loadgen.mock_endpoint.client_connection import NOW
from loadgen.mock_endpoint.truth import Truth
from loadgen.plugins.media.made_up import audio
from loadgen.plugins.speech.audio_length import audio_seconds
from loadgen.plugins.speech.multipart import form

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loadgen.mock_endpoint.client_connection import RawRequest, Task
    from loadgen.mock_endpoint.routes import Doorkeeper
    from loadgen.mock_endpoint.script import Script

    Answer = tuple[str, Sequence[bytes]]
    """The media type of a response, and its pieces, each for a token."""

TRANSCRIPT: Final = "a second of speech"
SPEECH_SECONDS: Final = 1.0
PIECES: Final = 4
WAV_HEADER: Final = 44
_JSON: Final = "application/json"
_HEAD: Final = "HTTP/1.1 {status} -\r\n{fields}\r\n\r\n"


def task(request: RawRequest, door: Doorkeeper, script: Script, tell: Callable[[Truth], None]) -> Task:
    """Answer a request: the first piece after `ttft`, each other one `itl` later.

    Args:
        request: The request.
        door: Checks the key.
        script: Draws the times.
        tell: Takes the record of the request.
    """
    truth = Truth(request.header(b"x-request-id"), request.path, request.received_ns)
    try:
        door.admit(request.header(b"authorization"))
        media_type, pieces = answer(request.path, request.body)
        head = _HEAD.format(status=200, fields=f"Content-Type: {media_type}\r\nTransfer-Encoding: chunked")
        for place, (due_s, piece) in enumerate(zip(script.speech_dues_s(len(pieces)), pieces, strict=True)):
            data = (b"" if place else head.encode()) + b"%x\r\n%b\r\n" % (len(piece), piece)
            end = b"0\r\n\r\n" if place == len(pieces) - 1 else b""
            truth.chunk_ns.append((yield truth.received_ns + int(due_s * 1e9), data + end))
        truth.status, truth.outcome = 200, "completed"
    except RefusedRequest as refusal:
        truth.status, truth.outcome = refusal.status, "failed"
        body = refusal.body()
        fields = f"Content-Type: {_JSON}\r\nContent-Length: {len(body)}"
        yield NOW, _HEAD.format(status=refusal.status, fields=fields).encode() + body
    finally:
        truth.done_ns = time.monotonic_ns()
        tell(truth)


def answer(path: str, body: bytes) -> Answer:
    """Answer a request for speech, a transcript or images.

    Args:
        path: The path of the request.
        body: The body.

    Raises:
        RefusedRequest: The request lacks a recording or a text.
    """
    if "/audio/speech" in path:
        return _speech(_fields(body, "input"))
    if "/images/" in path:
        fields = _fields(body, "prompt")
        image = {"b64_json": b64encode(b"an image").decode()}
        return _JSON, [orjson.dumps({"created": 0, "data": [image] * int(str(fields.get("n") or 1))})]
    texts, recording = form(body)
    seconds = audio_seconds(recording)
    if not seconds:
        raise RefusedRequest(400, "The form has no recording: give a WAV or MP3 as file", param="file")
    usage = {"type": "duration", "seconds": seconds}
    if texts.get("stream") != "true":
        return _JSON, [orjson.dumps({"text": TRANSCRIPT, "usage": usage})]
    events = [{"type": "transcript.text.delta", "delta": f"{word} "} for word in TRANSCRIPT.split()]
    end = {"type": "transcript.text.done", "text": TRANSCRIPT, "usage": usage}
    return "text/event-stream", [b"data: %b\n\n" % orjson.dumps(event) for event in (*events, end)]


def _speech(fields: dict[str, object]) -> Answer:
    sound = audio(0, SPEECH_SECONDS, "wav")
    if not fields.get("stream"):
        return "audio/wav", [sound]
    size = (len(sound) - WAV_HEADER) // PIECES
    starts = range(WAV_HEADER, len(sound), size)
    return "audio/wav", [
        sound[:WAV_HEADER] + sound[WAV_HEADER : WAV_HEADER + size],
        *(sound[place : place + size] for place in starts[1:]),
    ]


def _fields(body: bytes, needed: str) -> dict[str, object]:
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RefusedRequest(400, f"The body is not JSON: {error}") from error
    if not isinstance(fields, dict) or not fields.get(needed):
        raise RefusedRequest(400, f"{needed} must be a text", param=needed)
    return fields
