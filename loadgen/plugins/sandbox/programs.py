"""Runs the programs of graders, in the sandbox that was chosen for this process."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.sandbox import local
from loadgen.plugins.sandbox.job import Job, ProgramLimits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.plugins.sandbox.container_programs import ContainerPrograms
    from loadgen.plugins.sandbox.job import ProgramOutcome
    from workloads.sandbox_contract import SandboxSpec

_TRIAL_S: Final = 30.0
_TRIAL_WALL_S: Final = 60.0


class _Chosen:
    """The containers of this process; None where programs are run on this machine."""

    containers: ContainerPrograms | None = None
    unisolated = False


def use(spec: SandboxSpec) -> None:
    """Choose the sandbox of all programs that this process runs; `local` is the default.

    Containers are removed at the end of this process, or before the next choice.
    """
    if _Chosen.containers is not None:
        _Chosen.containers.close()
        _Chosen.containers = None
    _Chosen.unisolated = spec.kind == "none"
    if spec.kind == "docker":
        from loadgen.plugins.sandbox.container_programs import ContainerPrograms

        _Chosen.containers = ContainerPrograms(spec)
        atexit.register(_Chosen.containers.close)


def isolation(spec: SandboxSpec) -> Mapping[str, Any]:
    """The isolation of programs, for the log, determined by a trial; old leftovers are removed first.

    Returns:
        `sandbox` as in `ProgramOutcome.isolation`, and of containers their image and its id.

    Raises:
        SandboxError: No program can be run: the message says what to do.
        ExtraError: The client of Docker is not installed.
        SourceError: The file of the image does not exist.
    """
    if spec.kind != "docker":
        local.remove_leftovers()
        require(spec)
        return {"sandbox": local.isolation()}
    from loadgen.plugins.sandbox.container import remove_leftovers
    from loadgen.plugins.sandbox.container_programs import ContainerPrograms
    from loadgen.plugins.sandbox.docker_daemon import image_facts

    remove_leftovers()
    containers = ContainerPrograms(spec)
    try:
        outcome = containers.run(Job("program", "", _TRIAL_S), ProgramLimits(wall_s=_TRIAL_WALL_S))
    finally:
        containers.close()
    return {"sandbox": outcome.isolation, "sandbox_image": dict(image_facts(spec.image))}


def require(spec: SandboxSpec) -> None:
    """Raise `SandboxError` unless programs of this machine are isolated where they must be."""
    if spec.kind == "local":
        local.require_isolation()


def run(job: Job, limits: ProgramLimits) -> ProgramOutcome:
    """Run a job to the end, in a sandbox, or raise `SandboxError`."""
    if _Chosen.containers is not None:
        return _Chosen.containers.run(job, limits)
    return local.run(job, limits, unisolated=_Chosen.unisolated)
