"""The share of requests whose client leaves, and the moment: `5%:after=first-token`, `tokens:50` or `2s`."""

from __future__ import annotations

from random import Random
from typing import Final, Literal

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.kinds import seconds
from loadgen.sessions.settings.option import OptionValueError

_FORM: Final = "write SHARE:after=WHEN, WHEN is first-token, tokens:N or a time: 5%:after=tokens:50"


@dataclass(frozen=True, slots=True)
class Abandonment:
    """The share of requests whose client leaves, and the moment.

    Attributes:
        share: Of the measured requests, from 0 to 1.
        after: The kind of moment.
        amount: Chunks with tokens, or seconds since the request was sent.
    """

    share: float
    after: Literal["first-token", "tokens", "time"]
    amount: float = 1

    @classmethod
    def read(cls, text: str) -> Abandonment:
        """Read the option.

        Raises:
            UsageError: The text is of another form, or out of range.
        """
        share_text, _, when = text.partition(":after=")
        kind, _, count = when.partition(":")
        try:
            share = float(share_text.removesuffix("%")) / (100 if share_text.endswith("%") else 1)
            amount = 1.0 if when == "first-token" else int(count) if kind == "tokens" else seconds(when)
        except (ValueError, OptionValueError):
            share = amount = 0.0
        if not 0 < share <= 1 or amount <= 0:
            raise UsageError(f"--abandon {text!r}: {_FORM}")
        return cls(share, "first-token" if when == "first-token" else "tokens" if count else "time", amount)

    def chooses(self, seed: int, prompt: int, turn: int, time: int) -> bool:
        """Whether the client leaves a request: decided by prompt, turn, and how often it was asked before."""
        return Random(f"{seed}/{prompt}/{turn}/{time}").random() < self.share  # noqa: S311 (no secret)
