"""The place of graders, and the requirements there: this machine, or the nodes of a cluster."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any, Final, Protocol

from loadgen.driver.client.redaction import VARIABLES
from loadgen.driver.workers.launcher import usable_cpus
from loadgen.sessions.environment import package_version
from loadgen.sessions.errors import SetupError
from loadgen.sessions.scoring.grader import GraderConfig, ProcessGrader
from loadgen.sessions.scoring.scorer_requirements import require_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadgen.sessions.scoring.choice import Chosen
    from loadgen.sessions.scoring.grader_pool import Grader
    from loadgen.sessions.settings.scoring_choices import ScoringChoices
    from workloads.sandbox_contract import SandboxSpec

GRADINGS_A_PROCESS: Final = 16
"""The number of gradings that justify a further process."""

_PACKAGES: Final = (
    "llm-loadgen",
    "nltk",
    "langdetect",
    "math-verify",
    "sympy",
    "latex2sympy2_extended",
    "tree-sitter",
    "tree-sitter-java",
    "tree-sitter-javascript",
)
"""Packages whose versions scores may depend on, if installed."""


class Site(Protocol):
    """Where graders run."""

    def check(
        self, chosen: Sequence[Chosen], references: Iterable[tuple[str, Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        """Check the requirements of scorers, before the first answer is graded.

        Returns:
            What scores depend on: `versions` of packages, and the `sandbox` of programs.
        """

    def graders(self, chosen: Sequence[Chosen], pass_number: int, gradings: int) -> Sequence[Grader]:
        """The graders of a pass, after the check."""


class Here:
    """This machine; see `Site`."""

    def __init__(self, options: ScoringChoices) -> None:
        self._options = options
        if options.data is not None:
            from workloads.nltk_data import offer

            offer(options.data)

    def check(
        self, chosen: Sequence[Chosen], references: Iterable[tuple[str, Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        """Check the requirements of scorers on this machine."""
        require_all(chosen, references)
        return {"versions": _versions(), "sandbox": _sandbox(self._options.sandbox, chosen)}

    def graders(self, chosen: Sequence[Chosen], pass_number: int, gradings: int) -> Sequence[Grader]:
        """As many processes as there are cores, or as the options say, but none without work."""
        options = self._options
        config = GraderConfig(
            scorers=[(chosen_scorer.task, chosen_scorer.scorer) for chosen_scorer in chosen],
            pass_number=pass_number,
            judge=(options.model, options.sampling),
            seconds=options.grader_timeout_s,
            memory=options.grader_memory,
            without=_secrets(chosen),
            sandbox=options.sandbox,
        )
        wanted = options.processes or usable_cpus()
        return [ProcessGrader(config) for _ in range(min(wanted, most_graders(gradings)))]


def most_graders(gradings: int) -> int:
    """How many graders have enough to do, one at least."""
    return max(1, -(-gradings // GRADINGS_A_PROCESS))


def _versions() -> dict[str, str]:
    versions = {name: package_version(name) for name in _PACKAGES}
    installed = {name: version for name, version in versions.items() if version is not None}
    return {"python": platform.python_version(), **installed}


def _sandbox(spec: SandboxSpec, chosen: Sequence[Chosen]) -> dict[str, Any]:
    """The isolation of programs, for the log; leftovers of earlier ones are removed first."""
    from workloads.registry import service
    from workloads.sandbox_contract import SandboxError

    running = [entry.scorer for entry in chosen if entry.scorer.runs_code]
    facts: dict[str, Any] = {}
    try:
        if any(scorer.own_containers for scorer in running):
            service("remove_leftover_containers")()
            facts["sandbox"] = "docker"
        if not all(scorer.own_containers for scorer in running):
            facts.update(service("program_isolation")(spec))
    except SandboxError as error:
        raise SetupError(f"code that the model wrote cannot be run on this machine: {error}") from error
    return facts


def _secrets(chosen: Sequence[Chosen]) -> frozenset[str]:
    """The variables that grading processes do not inherit: every key, if one runs a model's programs."""
    runs_code = any(chosen_scorer.scorer.runs_code for chosen_scorer in chosen)
    return frozenset(VARIABLES) if runs_code else frozenset()
