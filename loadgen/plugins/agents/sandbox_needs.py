"""The sandboxes for a session and for scoring, checked on the machines that open them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workloads.sample import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.plugins.agents.episode_kind import EpisodeKind
    from loadgen.sessions.settings.benchmark_options import TaskSettings
    from workloads.dataset import Dataset
    from workloads.sandbox_contract import SandboxSpec


@dataclass(frozen=True, slots=True)
class SandboxNeeds:
    """The required sandboxes.

    Attributes:
        daemon: Whether Docker must answer. Images of benchmarks are fetched when they are used.
        image: The image that must be had; None for none.
        opened: What must open; None for nothing.
        programs: Where programs of answers run; None for nowhere.
    """

    daemon: bool = False
    image: str | None = None
    opened: SandboxSpec | None = None
    programs: SandboxSpec | None = None

    def require(self) -> None:
        """Check the requirements.

        Raises:
            SandboxError: It is not: the message says what to do.
            ExtraError: The client of Docker is not installed.
        """
        if self.daemon:
            from loadgen.plugins.sandbox.docker_daemon import connect

            connect().close()
        if self.image is not None:
            from loadgen.plugins.sandbox.docker_daemon import image_facts

            image_facts(self.image)
        if self.opened is not None:
            from loadgen.plugins.sandbox.opening import open_sandbox

            open_sandbox(self.opened).close()
        if self.programs is not None:
            from loadgen.plugins.sandbox.programs import require

            require(self.programs)


def sandbox_needs(tasks: TaskSettings, episodes: EpisodeKind | None, dataset: Dataset) -> SandboxNeeds:
    """The requirements of a session, and of its benchmarks' program-running scorers.

    Raises:
        TaskError, EvalError, ExtraError: A scorer cannot be used.
    """
    from loadgen.sessions.run.scoring_at_end import running_scorers

    spec, running = tasks.scoring.place, running_scorers(tasks)
    of_options = not all(scorer.own_containers for scorer in running)
    kinds, has_agent = set(), False
    if episodes is not None and episodes.plan.sandbox is not None:
        kinds, has_agent = set(_kinds(dataset)), episodes.plan.has_agent
    return SandboxNeeds(
        daemon=any(scorer.own_containers for scorer in running) or "docker" in kinds,
        image=spec.image if spec.kind == "docker" and of_options else None,
        opened=spec if "local" in kinds or (has_agent and spec.kind == "docker") else None,
        programs=spec if running and of_options else None,
    )


def _kinds(dataset: Dataset) -> Iterator[str]:
    """The kinds of sandboxes that questions name."""
    from workloads.episode_program import programs_of

    for program in programs_of(examples(dataset.samples)):
        if program.sandbox is not None:
            yield program.sandbox.kind
