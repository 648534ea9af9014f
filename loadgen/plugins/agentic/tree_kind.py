"""Session trees as a kind of sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.driver.requests.cache_buster import new_salt
from loadgen.plugins.agentic.tree_sample import TreeSample
from loadgen.plugins.agentic.tree_session import TreeSession
from loadgen.plugins.agentic.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.driver.session_kind import HostingWorker
    from workloads.sample import Sample


@dataclass(frozen=True, slots=True)
class TreeKind:
    """Session trees as a kind of sessions; see `loadgen.driver.session_kind.SessionKind`.

    Attributes:
        speed: How many times as fast as recorded the delays pass.
        salt: Whether each session begins every prompt with a unique text.
        models: The models that are asked for those of the record; empty asks the model of the run.
    """

    speed: float = 1.0
    salt: bool = False
    models: tuple[str, ...] = ()

    def settings(self) -> dict[str, Any]:
        """Members for the settings in the log."""
        models = {"models": list(self.models)} if self.models else {}
        return {"session_trees": {"speed": self.speed, **models}}

    def in_folder(self, run: Path) -> TreeKind:  # noqa: ARG002 (trees write no file)
        """The kind for a run in a folder."""
        return self

    def require(self) -> None:
        """Return: every machine can host trees."""

    def host(self) -> TreeHost:
        """The host of this worker."""
        return TreeHost(self)


class TreeHost:
    """Makes the trees of one worker; see `loadgen.driver.session_kind.SessionHost`.

    Args:
        kind: How trees are played.

    Attributes:
        bench: Where sessions and prompts are made.
    """

    def __init__(self, kind: TreeKind) -> None:
        self._kind = kind
        self.bench = Workbench()

    async def begin(self, worker: HostingWorker) -> None:
        """Get ready, before the first phase."""
        self._worker = worker

    def session(self, number: int, sample: Sample) -> TreeSession | None:
        """The tree that a sample is; None for another sample."""
        if not isinstance(sample, TreeSample):
            return None
        salt = new_salt() if self._kind.salt else ""
        return TreeSession(
            number, sample, self._kind.speed, salt, self._worker, self.bench, self._kind.models
        )

    async def close(self) -> None:
        """End the making of sessions that never began."""
        self.bench.close()
