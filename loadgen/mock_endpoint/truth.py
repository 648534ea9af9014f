"""The server's own record of each request, and the file of records."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import orjson

from lazy_dataclasses import dataclass, field
from loadgen.mock_endpoint.errors import MockOptionsError

if TYPE_CHECKING:
    from io import BufferedWriter

    from loadgen.mock_endpoint.ask import MockRequest

CLIENT_CLOSED_REQUEST = 499
"""The status of a request whose client went away before it was answered (nginx's convention; never sent)."""


@dataclass(slots=True, eq=False)
class Truth:
    """The server's record of one request; filled in while serving, written as a line at the end.

    Every time is in ns of CLOCK_MONOTONIC, which all processes of a machine share.

    Attributes:
        request_id: The request's X-Request-Id header; None without one.
        path: What was asked for, e.g. `/v1/chat/completions`.
        received_ns: When the last segment of the request arrived; without kernel stamps, when its read
            returned.
        queued_ns: How long it waited for a slot; a span, not a time. 0 when one was free.
        chunk_ns: For each event that carried tokens, the time right before it was written. Empty for an
            answer in one piece.
        silent_ns: For each token that no event shows, the time at which it was over.
        late_ns: How long after it was due the latest of its chunks (or its answer in one piece) left.
        done_ns: Right after the last byte was written; for an aborted request, when the server noticed.
        input_tokens: The prompt's tokens, as in `usage`; 0 for a request that was refused.
        tokens: The tokens so far, shown or not.
        finish_reason: `stop`, or `length` for an answer that was cut at the client's limit; None for one
            that did not end.
        status: The HTTP status that was sent, or 499 when none was.
        outcome: `completed`; `failed` (answered with an error); or `aborted`: the client went away, or the
            server was stopped.
        cached: Whether the answer came from the cache of answers (`MockOptions.cache`).
        cached_tokens: The prompt's tokens that came from a cache, as in `usage`.
        hit_blocks: The prompt's leading blocks that were in the prefix cache (`MockOptions.cache_blocks`).
        overrun_tokens: Tokens that were generated after the client had left (`MockOptions.overrun`).
        stated: The server's times and drafts, as the response stated them (`MockOptions.statements`).
        session: The request's headers that name a session or its parent, by lower-case name.
        model: The model that was asked for; here and below None for a request that was refused unread.
        messages: How many messages were sent; None for a prompt as well.
        asked_sha256: SHA-256, in hexadecimal, of the messages or the prompt as `digest` takes it.
    """

    request_id: str | None
    path: str
    received_ns: int
    queued_ns: int = 0
    chunk_ns: list[int] = field(default_factory=list)
    silent_ns: list[int] = field(default_factory=list)
    late_ns: int = 0
    done_ns: int = 0
    input_tokens: int = 0
    tokens: int = 0
    finish_reason: str | None = None
    status: int = CLIENT_CLOSED_REQUEST
    outcome: Literal["completed", "aborted", "failed"] = "aborted"
    cached: bool = False
    cached_tokens: int = 0
    hit_blocks: int = 0
    overrun_tokens: int = 0
    stated: dict[str, Any] = field(default_factory=dict)
    session: dict[str, str] = field(default_factory=dict)
    model: str | None = None
    messages: int | None = None
    asked_sha256: str | None = None

    def learn(self, ask: MockRequest, *, in_detail: bool) -> None:
        """Record a request's parameters; expensive ones only `in_detail`."""
        self.input_tokens = ask.input_tokens
        if in_detail:
            self.model = ask.model
            self.messages = len(ask.prompt) if self.path.endswith("/chat/completions") else None
            self.asked_sha256 = digest(ask.prompt)


@dataclass(slots=True, eq=False)
class PlayedTruth(Truth):
    """The server's record of a request with a scenario.

    The times before a write are those of the write that completed an event.

    Attributes:
        scenario: Its name.
        expect: What the client must have seen: `completed`, or the name of a failure; several where either
            is right.
        unasked_ns: By when a response that no request asked for had left on the connection, before a request
            that gets no other; 0 for any other request.
    """

    scenario: str = ""
    expect: list[str] = field(default_factory=list)
    unasked_ns: int = 0


def digest(prompt: Any) -> str:
    """A digest that identifies messages or a prompt.

    Args:
        prompt: The request's `messages` or `prompt`, as JSON has it.

    Returns:
        SHA-256, in hexadecimal, of its JSON in UTF-8 without white space, the keys of objects in order.
    """
    return sha256(orjson.dumps(prompt, option=orjson.OPT_SORT_KEYS)).hexdigest()


class TruthFile:
    """The file of truths, one JSON object a line, flushed after every write."""

    def __init__(self, path: str | Path) -> None:
        """Begin the file again.

        Raises:
            MockOptionsError: It cannot be written.
        """
        try:
            self._file: BufferedWriter = Path(path).open("wb")  # noqa: SIM115 (`close` closes it)
        except OSError as error:
            raise MockOptionsError(f"the truth cannot be written to {path}: {error.strerror}") from error

    def write(self, *truths: Truth) -> None:
        """Append the truths of requests."""
        self._file.write(b"".join(orjson.dumps(truth, option=orjson.OPT_APPEND_NEWLINE) for truth in truths))
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read(path: Path) -> list[Truth]:
    """Read a truth file that may still be growing; an incomplete last line is left out."""
    return [
        _truth_from(orjson.loads(line))
        for line in path.read_bytes().splitlines(keepends=True)
        if line.endswith(b"\n")
    ]


def _truth_from(fields: dict[str, Any]) -> Truth:
    if "scenario" not in fields:
        return Truth(**fields)
    return PlayedTruth(**fields)
