"""What the server says of each request in the response: times by its clock, and the fate of draft tokens."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass
from loadgen.mock_endpoint.errors import MockOptionsError

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMS: Final = ("vllm", "trtllm", "sglang", "llama.cpp", "openai", "groq", "server-timing", "tgi", "envoy")
"""How servers and gateways state it."""

IN_HEADERS: Final = frozenset({"server-timing", "tgi", "envoy"})
_MS: Final = 1e6
_SECOND: Final = 1e9


@dataclass(frozen=True, slots=True)
class Drafting:
    """Speculative decoding with known outcomes.

    Attributes:
        tokens: Draft tokens of a step.
        accepted: How many of them each step accepts, in turn.
    """

    tokens: int
    accepted: tuple[int, ...]

    @classmethod
    def read(cls, text: str) -> Drafting:
        """Read `4:3,1,0,2`: the draft tokens of a step, and how many the steps accept, in turn.

        Raises:
            MockOptionsError: The text is of another form, or more is accepted than drafted.
        """
        try:
            drafted, _, outcomes = text.partition(":")
            drafting = cls(int(drafted), tuple(map(int, outcomes.split(","))))
        except ValueError:
            raise MockOptionsError(
                f"speculate: {text!r} is not DRAFTED:ACCEPTED,…: write 4:3,1,0,2"
            ) from None
        if not all(0 <= count <= drafting.tokens for count in drafting.accepted) or drafting.tokens < 1:
            raise MockOptionsError(
                f"speculate: {text!r}: each step accepts from 0 to its {drafting.tokens} draft tokens"
            )
        return drafting

    def pieces(self, length: int) -> list[int]:
        """The tokens of the chunks of an answer: one of the prefill, then those of each step."""
        pieces = [min(1, length)]
        for accepted in cycle(self.accepted):
            left = length - sum(pieces)
            if left <= 0:
                return pieces
            pieces.append(min(accepted + 1, left))
        return pieces


@dataclass(frozen=True, slots=True)
class Drafts:
    """The fate of the draft tokens of a request: element i of the histogram counts steps that accepted i."""

    steps: int
    drafted: int
    accepted: int
    histogram: list[int]

    @classmethod
    def of(cls, drafting: Drafting, pieces: Sequence[int]) -> Drafts:
        """The drafts of an answer with chunks of these numbers of tokens, the first by the prefill."""
        accepted = [size - 1 for size in pieces[1:]]
        histogram = [accepted.count(count) for count in range(drafting.tokens + 1)]
        return cls(len(accepted), drafting.tokens * len(accepted), sum(accepted), histogram)


@dataclass(frozen=True, slots=True)
class Served:
    """The times of a request so far, in ns, and the drafts."""

    queue_ns: int
    first_token_ns: int
    decode_ns: int
    input_tokens: int
    output_tokens: int
    drafts: Drafts | None = None

    def record(self) -> dict[str, Any]:
        """The record for the truth."""
        return asdict(self)

    def usage(self, forms: Sequence[str]) -> dict[str, Any]:
        """The members of `usage` in these forms."""
        members: dict[str, Any] = {}
        if "groq" in forms:
            members |= {
                "queue_time": self.queue_ns / _SECOND,
                "prompt_time": self.first_token_ns / _SECOND,
                "completion_time": self.decode_ns / _SECOND,
                "total_time": (self.queue_ns + self.first_token_ns + self.decode_ns) / _SECOND,
            }
        if "openai" in forms and self.drafts is not None:
            rejected = self.drafts.drafted - self.drafts.accepted
            members["completion_tokens_details"] = {
                "accepted_prediction_tokens": self.drafts.accepted,
                "rejected_prediction_tokens": rejected,
            }
        return members

    def root(self, forms: Sequence[str]) -> dict[str, Any]:
        """The members of the last chunk in these forms."""
        drafts, members = self.drafts, dict[str, Any]()
        if "vllm" in forms:
            gaps = max(self.output_tokens - 1, 1)
            members["metrics"] = {
                "time_to_first_token_ms": (self.queue_ns + self.first_token_ns) / _MS,
                "generation_time_ms": self.decode_ns / _MS,
                "queue_time_ms": self.queue_ns / _MS,
                "mean_itl_ms": self.decode_ns / gaps / _MS,
                "speculative_decoding": None if drafts is None else _summary(drafts),
            }
        if "llama.cpp" in forms:
            members["timings"] = {
                "prompt_n": self.input_tokens,
                "prompt_ms": self.first_token_ns / _MS,
                "predicted_n": self.output_tokens - (drafts is not None),
                "predicted_ms": self.decode_ns / _MS,
            }
            if drafts is not None:
                members["timings"] |= {"draft_n": drafts.drafted, "draft_n_accepted": drafts.accepted}
        if "sglang" in forms and drafts is not None:
            members["sglext"] = {
                "spec_tokens_details": {
                    "spec_verify_ct": drafts.steps,
                    "spec_num_proposed_drafts": drafts.drafted,
                    "spec_num_correct_drafts": drafts.accepted,
                    "spec_correct_drafts_histogram": drafts.histogram,
                    "spec_accept_length": _length(drafts),
                }
            }
        return members

    def choice(self, forms: Sequence[str]) -> dict[str, Any]:
        """The members of the finishing choice in these forms."""
        if "trtllm" not in forms or self.drafts is None:
            return {}
        drafts = self.drafts
        return {
            "speculative_decoding": {
                "total_accepted_draft_tokens": drafts.accepted,
                "total_draft_tokens": drafts.drafted,
                "acceptance_rate": drafts.accepted / max(drafts.drafted, 1),
                "acceptance_histogram": drafts.histogram,
                "num_spec_steps": drafts.steps,
                "num_spec_tokens": len(drafts.histogram) - 1,
            }
        }

    def headers(self, forms: Sequence[str], whole_ns: int) -> bytes:
        """The headers in these forms, of which a stream's leave before the first token.

        Args:
            forms: The forms.
            whole_ns: How long the request has taken until now.
        """
        lines = []
        if "server-timing" in forms:
            times = {"queue": self.queue_ns, "total": whole_ns}
            if self.first_token_ns:
                times |= {"prefill": self.first_token_ns, "decode": self.decode_ns}
            stated = ", ".join(f"{name};dur={time_ns / _MS:.3f}" for name, time_ns in times.items())
            lines.append(f"Server-Timing: {stated}")
        if "tgi" in forms and self.first_token_ns:
            inference_ns = self.first_token_ns + self.decode_ns
            lines += [
                f"x-queue-time: {self.queue_ns // 1_000_000}",
                f"x-inference-time: {inference_ns // 1_000_000}",
                f"x-total-time: {(self.queue_ns + inference_ns) // 1_000_000}",
            ]
        if "envoy" in forms:
            lines.append(f"x-envoy-upstream-service-time: {whole_ns // 1_000_000}")
        return "".join(f"{line}\r\n" for line in lines).encode()


def _summary(drafts: Drafts) -> dict[str, Any]:
    return {
        "mean_acceptance_length": round(_length(drafts), 4),
        "draft_acceptance_rate": drafts.accepted / max(drafts.drafted, 1),
        "acceptance_histogram": drafts.histogram,
        "num_spec_steps": drafts.steps,
        "num_accepted_draft_tokens": drafts.accepted,
        "num_draft_tokens": drafts.drafted,
        "num_spec_tokens": len(drafts.histogram) - 1,
    }


def _length(drafts: Drafts) -> float:
    return 1 + drafts.accepted / max(drafts.steps, 1)
