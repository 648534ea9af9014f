"""One question of a dataset."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """One question.

    Attributes:
        index: Its position in the dataset, from 0.
        prompt: The user's text.
        system: The system prompt, if there is one.
    """

    index: int
    prompt: str
    system: str | None = None

    def messages(self) -> list[dict[str, str]]:
        """The question as chat messages."""
        said = [] if self.system is None else [{"role": "system", "content": self.system}]
        return [*said, {"role": "user", "content": self.prompt}]
