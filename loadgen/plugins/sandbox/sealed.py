"""The messages of a harness in a process' output: lines that begin with the job's seal."""

from __future__ import annotations

import json
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.sandbox.job import ProgramOutcome
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class SealedOutput:
    """The output of a harness, or a part of the output.

    Attributes:
        last: The end of it; may be the same bytes.
    """

    seal: str
    first: bytes
    last: bytes

    @property
    def isolation(self) -> str:
        """The isolation of the program, as reported by the harness at the start."""
        return str(next(self._lines(self.first), {}).get("isolation", ""))

    @property
    def unclean(self) -> str:
        """The leftovers of an earlier program; empty without any."""
        return str(next(self._lines(self.first), {}).get("unclean", ""))

    @property
    def has_verdict(self) -> bool:
        """Whether the harness has said how the program ended."""
        return any("ending" in message for message in self._lines(self.last))

    def outcome(self, code: int) -> ProgramOutcome:
        """The outcome of the program; without a verdict the program ended the whole process.

        Args:
            code: The exit code of the process; negative for a signal.

        Raises:
            SandboxError: It has never begun.
        """
        begun = next(self._lines(self.first), None)
        if begun is None:
            raise SandboxError(f"the program could not be started (its process ended with {code})")
        verdict = next(reversed([message for message in self._lines(self.last) if "ending" in message]), None)
        if verdict is not None:
            if verdict["ending"] == "broken":
                raise SandboxError(verdict["reason"])
            reason, passed = str(verdict["reason"])[:_LONGEST], verdict["passed"]
            return ProgramOutcome(verdict["ending"], reason, passed, self.isolation)
        if code == -signal.SIGXCPU:
            return ProgramOutcome("timed_out", "used up its CPU time", isolation=self.isolation)
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        reason = f"the process ended {how} before the tests did"
        return ProgramOutcome("exited", reason, isolation=self.isolation)

    def _lines(self, data: bytes) -> Iterator[dict[str, Any]]:
        for line in data.decode(errors="replace").splitlines():
            if line.startswith(self.seal):
                with suppress(ValueError):
                    message = json.loads(line.removeprefix(self.seal))
                    if isinstance(message, dict):
                        yield message
