"""The outcome of a turn, and the use of the answer by a session."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.client.codec import Codec
    from loadgen.driver.client.plain_request import PlainEnd
    from workloads.answer_details import AnswerDetails, Rejection
    from workloads.sample import Message, Sample


LEFT: Final = "abandoned"
"""The failure, and the reason in the log, of a request whose client left on purpose (`--abandon`)."""


class AnswerUse(Enum):
    """The use of the answer to a turn by a session."""

    MEASURED = auto()
    """Nothing more: the outcome has figures only."""
    FOLLOWED = auto()
    """A later turn has the answer in the context: the outcome has the answer as a message."""
    READ = auto()
    """Code reads the answer with details, or the rejection; code wrote the question, always logged."""


class TurnOutcome(NamedTuple):
    """How a turn ended."""

    failure: str | None  #: None for a success
    ttft_ms: float | None  #: from `sent` to the first token
    output_tokens: int  #: by the server's count, else chunks
    answer: Message | None = None
    finish_reason: str | None = None
    input_tokens: int | None = None
    message: str = ""
    rejection: Rejection | None = None
    details: AnswerDetails | None = None
    ended_ns: int = 0  #: when the request ended, as the log has it


def outcome_of(end: PlainEnd) -> TurnOutcome:
    """The outcome of a request that compiled code followed to the end."""
    _, ttft_ns, tokens, ended_ns, answer = end
    content, reason, input_tokens = (None, None, None) if answer is None else orjson.loads(answer)
    message = None if content is None else {"role": "assistant", "content": content}
    return TurnOutcome(None, ttft_ns / 1e6, tokens, message, reason, input_tokens, ended_ns=ended_ns)


def reader_of(codec: Codec, sample: Sample, read_body: bytes) -> Codec:
    """The reader of a sample's response: the protocol, or one that keeps or demands more.

    `read_body` is the body of a request whose answer code reads; empty for others.
    """
    # Quotes inside texts are escaped.
    if b'"logprobs":true' in read_body:
        from loadgen.driver.requests.turn_details import LogprobsReader

        return LogprobsReader(codec)
    make: Callable[[Sample], Codec] | None = getattr(codec, "reader", None)
    return codec if make is None else make(sample)
