"""From settings and samples to the plan of a session's episodes, and to the sandboxes that it needs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass
from loadgen.driver.client import chat_completions
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.errors import CannotAskError, EndpointError
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.episode_options import DEFAULT_MAX_TURNS
from workloads.sample import Sample, examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.driver.client.codec import Codec, Generation
    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.plugins.agents.agent_process import EpisodeKind
    from loadgen.plugins.agents.episode_plan import EpisodeLimits, UserEndpoint
    from loadgen.sessions.settings.benchmark_options import TaskSettings
    from loadgen.sessions.settings.episode_options import EpisodeSettings
    from workloads.dataset import Dataset
    from workloads.episode_program import EpisodeProgram
    from workloads.sandbox_contract import SandboxSpec


def episode_kind(
    settings: EpisodeSettings,
    tasks: TaskSettings,
    dataset: Dataset,
    codec: Codec,
    generation: Generation,
    target: Endpoint,
) -> EpisodeKind | None:
    """How the episodes of a run are played; None without episodes.

    A user that no endpoint is named for is played by the model under test, at its own endpoint.

    Raises:
        UsageError: An option cannot be used, or one that the samples need is missing.
        EpisodeCodeError: The agent cannot be imported.
    """
    programs = _programs(dataset)
    if not programs and not settings.has_agent:
        return None
    from loadgen.plugins.agents.agent_process import EpisodeKind, import_players
    from loadgen.plugins.agents.episode_plan import EpisodePlan, UserEndpoint

    try:
        codec.request(Sample(0, chat=({"role": "user", "content": ""},)), generation)
    except CannotAskError as error:
        raise UsageError(f"episodes are conversations: {error}") from error
    paths = (os.getcwd(),)  # noqa: PTH109 (as sys.path has it)
    if settings.agent_command is None:
        codes = {program.code for program in programs}
        import_players(codes if settings.agent is None else {settings.agent}, paths)
    user = _user(settings)
    if user is None and any(program.user for program in programs) and not settings.has_agent:
        if codec is not chat_completions:
            raise UsageError(
                f"{dataset.name} needs a simulated user, which only chat completions can play: say which "
                "model plays it, with --user-url and --user-model"
            )
        user = UserEndpoint(target, generation.model, settings.user_temperature)
    sandbox = tasks.scoring.place if tasks.scoring.allow_code_execution else None
    if sandbox is None and any(program.sandbox is not None for program in programs):
        raise UsageError(
            f"{dataset.name}: episodes run commands of the model; allow that with --allow-code-execution"
        )
    command = None
    tools: tuple[str, ...] = ()
    if settings.agent_command is not None:
        inside = sandbox is not None and (
            sandbox.kind == "docker" or any(program.sandbox is not None for program in programs)
        )
        from loadgen.plugins.agents.presets import agent_command, agent_tools

        tools = agent_tools(settings.agent_command, may_run_commands=sandbox is not None)
        command = None if tools else agent_command(settings.agent_command, inside=inside)
    plan = EpisodePlan(
        agent=settings.agent,
        command=command,
        tools=tools,
        limits=_limits(settings),
        user=user,
        sandbox=sandbox,
        sequential=settings.sequential,
        paths=paths,
        debug=settings.debug,
    )
    return EpisodeKind(plan)


def _programs(dataset: Dataset) -> list[EpisodeProgram]:
    """The code of the samples that open episodes; most runs have none, and import none."""
    samples = examples(dataset.samples)
    if not any(sample.has_several_turns for sample in samples):
        return []
    from workloads.episode_program import programs_of

    return programs_of(samples)


def _limits(settings: EpisodeSettings) -> EpisodeLimits:
    from loadgen.plugins.agents.episode_plan import EpisodeLimits

    input_price, output_price = _prices(settings.episode_prices)
    return EpisodeLimits(
        turns=settings.max_turns or (DEFAULT_MAX_TURNS if settings.has_agent else None),
        tokens=settings.max_episode_tokens,
        seconds=settings.max_episode_time,
        cost=settings.max_episode_cost,
        input_price=input_price,
        output_price=output_price,
    )


def _prices(text: str | None) -> tuple[float, float]:
    if text is None:
        return 0.0, 0.0
    try:
        input_price, output_price = map(float, text.split(","))
    except ValueError as error:
        raise UsageError(f"--episode-prices {text}: write two numbers, as in 0.5,1.5") from error
    return input_price, output_price


def _user(settings: EpisodeSettings) -> UserEndpoint | None:
    if settings.user_url is None or settings.user_model is None:
        return None
    from loadgen.plugins.agents.episode_plan import UserEndpoint
    from loadgen.sessions.secrets import lines

    key = settings.user_api_key
    try:
        headers = chat_completions.headers(lines("--user-api-key", key)[0] if key else None)
        target = endpoint(settings.user_url, headers)
    except EndpointError as error:
        message = str(error).replace("--url", "--user-url")
        raise UsageError(message.replace("--api-key or --header", "--user-api-key")) from error
    return UserEndpoint(target, settings.user_model, settings.user_temperature)


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
        """Raise `SandboxError`, or `ExtraError` without Docker's client, unless the sandboxes can open."""
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
    """The sandboxes for a session, and for the scorers of its benchmarks that run programs."""
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
