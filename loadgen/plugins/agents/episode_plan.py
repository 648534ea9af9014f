"""How the episodes of a session are played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass, field, replace
from loadgen.plugins.agents.episode import LimitReachedError
from workloads.episode_program import EpisodeProgram, EpisodeSample

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.driver.client.endpoint import Endpoint
    from workloads.sample import Sample
    from workloads.sandbox_contract import SandboxSpec

_MILLION: Final = 1e6


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    """Limits of one episode; None for none. A limit is checked before each turn.

    Attributes:
        turns: The most turns of the model under test.
        tokens: The most input and output tokens of these turns together.
        seconds: The longest time since the episode began.
        cost: The most that its tokens may cost, in the currency of the prices.
        input_price: Of a million input tokens.
        output_price: Of a million output tokens.
    """

    turns: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None
    input_price: float = 0.0
    output_price: float = 0.0

    def require_room(self, turns: int, input_tokens: int, output_tokens: int, seconds: float) -> None:
        """Raise `LimitReachedError`, which names the limit, unless another turn is within the limits."""
        if self.turns is not None and turns >= self.turns:
            raise LimitReachedError("turns", f"the limit of {self.turns} turns is reached")
        tokens = input_tokens + output_tokens
        if self.tokens is not None and tokens >= self.tokens:
            raise LimitReachedError("tokens", f"{tokens} tokens are used, of {self.tokens}")
        if self.seconds is not None and seconds >= self.seconds:
            raise LimitReachedError("time", f"{seconds:.1f} s have passed, of {self.seconds:g} s")
        cost = (input_tokens * self.input_price + output_tokens * self.output_price) / _MILLION
        if self.cost is not None and cost >= self.cost:
            raise LimitReachedError("cost", f"{cost:.4f} is spent, of {self.cost:g}")


@dataclass(frozen=True, slots=True)
class UserEndpoint:
    """The endpoint that plays simulated users.

    Attributes:
        target: Where it is; its headers have the key.
        temperature: Its sampling temperature; None leaves it to the server.
        timeout_s: The limit of one request.
    """

    target: Endpoint
    model: str
    temperature: float | None = None
    timeout_s: float = 120.0

    def facts(self) -> dict[str, Any]:
        """The user for the log, without the key."""
        return {"url": self.target.url, "model": self.model, "temperature": self.temperature}


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """A program that is run for each episode.

    Attributes:
        words: The program and its arguments, in which `{task}`, `{url}`, `{host}`, `{model}` and `{folder}`
            are replaced; `{host}` is the URL without its `/v1`.
        task: How it gets the task: on `stdin`, or as a `file` whose name is in LOADGEN_TASK_FILE.
        environment: Further variables, with the same replacements.
        files: What is written into its folder first, as above, by path.
        reward: A glob of a file that it leaves in its folder, with a number: the reward of the episode.
        reward_member: Of JSON, the member that is the number.
        preset: The name of the preset; empty for none.
    """

    words: tuple[str, ...]
    task: str = "stdin"
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    reward: str = ""
    reward_member: str = ""
    preset: str = ""


@dataclass(frozen=True, slots=True)
class EpisodePlan:
    """How the episodes of a session are played.

    Attributes:
        agent: `module:attribute` of an agent that plays every sample; None for the code of each sample.
        command: A program that plays every sample; None for none.
        tools: The tools of an agent of this program that plays every sample; empty for none.
        sandbox: Where commands of episodes run, but for those of a benchmark with its own image; None
            where no command of a model may run.
        sequential: Whether one agent plays all samples, one after the other, and keeps its state.
        paths: Folders in which modules are looked for first.
        debug_dir: The folder of the traces; None until the folder of the run exists.
    """

    agent: str | None = None
    command: AgentCommand | None = None
    tools: tuple[str, ...] = ()
    limits: EpisodeLimits = field(default_factory=EpisodeLimits)
    user: UserEndpoint | None = None
    sandbox: SandboxSpec | None = None
    sequential: bool = False
    paths: tuple[str, ...] = ()
    debug: bool = False
    debug_dir: str | None = None

    def in_folder(self, run: Path) -> EpisodePlan:
        """The plan in the folder of a run."""
        return replace(self, debug_dir=str(run / "debug")) if self.debug else self

    @property
    def has_agent(self) -> bool:
        """Whether an agent plays every sample."""
        return self.agent is not None or self.command is not None or bool(self.tools)

    def played(self, sample: Sample) -> EpisodeSample | None:
        """A sample with the code that plays the sample; None where no code plays."""
        own = sample.episode if isinstance(sample, EpisodeSample) else None
        if self.has_agent:
            code = self.agent or "@tools" if self.command is None else self.command.words[0]
            return EpisodeSample.of(sample, EpisodeProgram(code) if own is None else replace(own, code=code))
        return sample if isinstance(sample, EpisodeSample) else None

    def sandbox_of(self, program: EpisodeProgram) -> SandboxSpec | None:
        """Where commands of an episode run; None where none may."""
        wanted = program.sandbox
        if self.sandbox is None or wanted is None:
            return self.sandbox if self.has_agent else None
        if wanted.kind == "docker":
            return wanted
        return replace(wanted, kind=self.sandbox.kind, image=self.sandbox.image)

    def opens_first(self, program: EpisodeProgram) -> bool:
        """Whether the sandbox of an episode is always needed, and so opens before the agent starts."""
        is_container = program.sandbox is not None and program.sandbox.kind == "docker"
        return self.sandbox_of(program) is not None and (
            is_container or (self.command is not None and self.runs_inside(program))
        )

    def runs_inside(self, program: EpisodeProgram) -> bool:
        """Whether a command that plays an episode runs in the sandbox: in a container, or with the task."""
        spec = self.sandbox_of(program)
        return spec is not None and (program.sandbox is not None or spec.kind == "docker")

    def settings(self) -> dict[str, Any]:
        """The plan for the log, without secrets."""
        command = self.command
        return {
            "agent": self.agent,
            "command": None if command is None else {"words": list(command.words), "preset": command.preset},
            **({"tools": list(self.tools)} if self.tools else {}),
            "limits": asdict(self.limits),
            "user": None if self.user is None else self.user.facts(),
            "sandbox": None if self.sandbox is None else self.sandbox.to_dict(),
            "sequential": self.sequential,
        }
