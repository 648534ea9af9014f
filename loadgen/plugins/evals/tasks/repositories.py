"""The common part of SWE-bench and SWE-bench Pro: an agent in a repository makes the patch."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents import terminal
from loadgen.plugins.evals.prompts import prompt
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.errors import ColumnError, TaskError, did_you_mean
from workloads.sample import Sample
from workloads.sandbox_contract import MIB, SandboxLimits, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.plugins.agents.episode import Ask, EpisodeResult
    from loadgen.plugins.sandbox.opening import SandboxOnDemand
    from workloads.sources import FileRow


_MODES: Final = ("agent", "patch")
_LOG_BYTES: Final = 16 * MIB
_MOST_LOG_BYTES: Final = 64 * MIB
_PROCESSES: Final = 1024
_GIT_S: Final = 120.0
_BASE: Final = "refs/loadgen/base"
_AGENT: Final = prompt("repositories", "agent")
_PATCH: Final = (
    "Resolve the issue in the repository {repository}. Answer with one patch in the format of `git diff`, "
    "between lines of ```diff and ```, that `git apply` can apply in its root."
)


def container(image: str, options: Mapping[str, Any]) -> SandboxSpec:
    """The container of an instance: the image's own user, and a writable root."""
    limits = SandboxLimits(
        memory_bytes=int(options["memory_gb"] * 1024 * MIB),
        processes=_PROCESSES,
        output_bytes=_LOG_BYTES,
        most_output_bytes=_MOST_LOG_BYTES,
    )
    network = options["network"]
    return SandboxSpec(
        "docker", image=image, read_only=False, network=network, user="", folder="", limits=limits
    )


def sample_of(
    index: int, repository: str, issue: str, folder: str, spec: SandboxSpec, options: Mapping[str, Any]
) -> Sample:
    """The sample: the work of an agent in the repository, or a patch."""
    mode = options["mode"]
    if mode not in _MODES:
        raise TaskError(f"mode={mode}: must be one of {', '.join(_MODES)}{did_you_mean(mode, _MODES)}")
    tags = {"repository": repository}
    if mode == "patch":
        return Sample(index, issue, _PATCH.format(repository=repository), tags=tags)
    episode = EpisodeProgram(
        f"{__name__}:play",
        {"folder": folder},
        sandbox=spec,
        setup=f"{__name__}:setup",
        finish=f"{__name__}:finish",
        seconds=options["agent_s"],
    )
    return EpisodeSample(index, issue, _AGENT.format(folder=folder), tags=tags, episode=episode)


async def setup(sample: EpisodeSample, sandbox: SandboxOnDemand) -> None:
    """Record the base commit of the patch; an agent may commit changes."""
    await sandbox.exec(f"cd {_folder(sample)} && git update-ref {_BASE} HEAD", _GIT_S)


async def play(sample: EpisodeSample, ask: Ask, sandbox: SandboxOnDemand) -> EpisodeResult:
    """Let the model work in the repository."""
    return await terminal.work(ask, sandbox, sample.messages())


async def finish(sample: EpisodeSample, sandbox: SandboxOnDemand, result: EpisodeResult) -> EpisodeResult:
    """Take the patch: all that differs from the commit at the beginning."""
    diff = f"cd {_folder(sample)} && git add -A && git -c core.fileMode=false diff --cached {_BASE}"
    changes = await sandbox.exec(diff, _GIT_S)
    details = {"patch": changes.stdout} if changes.ok else {"no_patch": changes.stderr.strip()}
    return replace(result, details={**result.details, **details})


def _folder(sample: EpisodeSample) -> str:
    return str(sample.episode.data["folder"])


def listed(row: FileRow, column: str) -> list[str]:
    """A list of texts: as such, or as text in JSON or Python, both of which are in the data."""
    value = row[column]
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            try:
                value = ast.literal_eval(value)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                value = None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ColumnError(f"{row.place}, column {column!r}: no list of texts")
    return value


def image_of(template: str, instance: str, published: str) -> str:
    """The image of an instance: of a template, in which `{instance}` is replaced, else the published one."""
    return template.replace("{instance}", instance) if template else published
