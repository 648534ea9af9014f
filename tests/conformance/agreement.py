"""How far a scorer agrees with what was recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Agreement:
    """One line of the table.

    Attributes:
        scorer: `task/scorer`, and the reference it is compared with: `ifeval/official strict, gpt-4`.
        outputs: How many recorded outputs were scored.
        agree: How many scores are what was recorded.
        exceptions: How many of the others have no settled verdict, by the reason why.
        wrong: A sample of the differences that are not exceptions, to read: id, ours, theirs.
        shortcut: For a canary: a simplified rule, which must NOT agree everywhere.
    """

    scorer: str
    outputs: int
    agree: int
    exceptions: Mapping[str, int] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()
    shortcut: bool = False

    @property
    def passes(self) -> bool:
        """Whether everything agrees outside of the exceptions; of a shortcut, whether something does not."""
        if self.shortcut:
            return self.agree < self.outputs
        return self.outputs > 0 and self.agree + sum(self.exceptions.values()) == self.outputs
