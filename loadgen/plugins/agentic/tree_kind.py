"""Session trees as a kind of sessions."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field, replace
from loadgen.plugins.agentic.idle_cap import IdleCap
from loadgen.plugins.agentic.salting import salting_of
from loadgen.plugins.agentic.tree_sample import TreeSample
from loadgen.plugins.agentic.tree_session import Playing, TreeSession
from loadgen.plugins.agentic.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

    from loadgen.driver.requests.session_turns import SessionTurns
    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from loadgen.driver.session_kind import HostingWorker
    from loadgen.plugins.agentic.mid_start import StartWindow
    from loadgen.plugins.agentic.warm_up import Pressing, Priming
    from loadgen.sessions.settings.load_options import SaltPlace
    from workloads.sample import Sample

_SECOND: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class MidStart:
    """The start of each user's first session in mid-trajectory.

    Attributes:
        window: The part of the recorded time in which sessions begin.
        users: How many first sessions there are.
        seed: The seed of the moments.
        lead_ns: How long before its position the first request of the warm-up began, of all users.
        pressure: How many further requests of each user fill the cache.
        drain_s: How long the warm-up awaits requests in flight; None for as long as they take.
    """

    window: StartWindow
    users: int
    seed: int
    lead_ns: int
    pressure: int = 0
    drain_s: float | None = None


@dataclass(frozen=True, slots=True)
class TreeKind:
    """Session trees as a kind of sessions; see `loadgen.driver.session_kind.SessionKind`.

    Attributes:
        speed: How many times as fast as recorded the delays pass.
        salt: Whether each session begins every prompt with a unique text.
        models: The models that are asked for those of the record; empty asks the model of the run.
        salt_at: The place of that text.
        idle_cap_s: The cap on the idle time of all sessions together; None for no cap.
        tree_idle_cap_s: The cap on the idle time of each session; None for no cap.
        mid_start: How the first sessions begin; None for their first turns.
        run: What distinguishes the salts of this run from those of others.
    """

    speed: float = 1.0
    salt: bool = False
    models: tuple[str, ...] = ()
    salt_at: SaltPlace = "prompt"
    idle_cap_s: float | None = None
    tree_idle_cap_s: float | None = None
    mid_start: MidStart | None = None
    run: str = field(default_factory=lambda: token_hex(8))

    def settings(self) -> dict[str, Any]:
        """Members for the settings in the log."""
        start = self.mid_start
        members = {
            "speed": self.speed,
            "models": list(self.models) or None,
            "salt_at": self.salt_at if self.salt else None,
            "idle_cap_s": self.idle_cap_s,
            "tree_idle_cap_s": self.tree_idle_cap_s,
            "start_window": None if start is None else list(start.window),
            "cache_pressure": None if start is None else start.pressure,
        }
        return {"session_trees": {name: value for name, value in members.items() if value is not None}}

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
        worker: The worker.
    """

    worker: HostingWorker

    def __init__(self, kind: TreeKind) -> None:
        self.bench = Workbench()
        self._kind = kind
        self._rows = 1
        self._cap = () if kind.idle_cap_s is None else (IdleCap(round(kind.idle_cap_s * _SECOND)),)
        self._firsts: dict[int, FirstSession] = {}
        self._sooner_ns: int | None = None

    async def begin(self, worker: HostingWorker) -> None:
        """Get ready, before the first phase."""
        self.worker = worker
        self._rows = max(1, len(worker.samples))

    def session(self, number: int, sample: Sample) -> TreeSession | FirstSession | None:
        """The tree that a sample is; None for another sample."""
        if not isinstance(sample, TreeSample):
            return None
        start = self._kind.mid_start
        if start is None or number >= start.users:
            return TreeSession(number, sample, self._playing(number), self.worker, self.bench)
        if number not in self._firsts:
            self._firsts[number] = FirstSession(number, sample, self._playing(number), start, self)
        return self._firsts[number]

    def sooner_ns(self) -> int:
        """How long after the positions of all first sessions the first request is due."""
        if self._sooner_ns is None:
            self._sooner_ns = min(each.first_due_ns for each in self._firsts.values())
        return self._sooner_ns

    async def close(self) -> None:
        """End the making of sessions that never began."""
        self.bench.close()

    def _playing(self, number: int) -> Playing:
        kind, caps = self._kind, self._cap
        if kind.tree_idle_cap_s is not None:
            caps = (*caps, IdleCap(round(kind.tree_idle_cap_s * _SECOND)))
        salting = salting_of(kind.salt_at, kind.run, number, self._rows) if kind.salt else None
        return Playing(kind.speed, salting, kind.models, caps)


class FirstSession:
    """A user's first session, which a warm-up brings to its position; see `UserSession`.

    Args:
        number: The number of the session in the run.
        sample: The tree.
        playing: How the session is played.
        start: How it begins.
        host: Knows the other users' first sessions.
    """

    last_turn = 0

    def __init__(
        self, number: int, sample: TreeSample, playing: Playing, start: MidStart, host: TreeHost
    ) -> None:
        from loadgen.plugins.agentic.mid_start import position_at, start_ns

        self.number = number
        self._sample = sample
        self._tree = sample.corpus.tree(sample.number)
        self._position = position_at(self._tree, start_ns(self._tree, start.window, start.seed, number))
        self._playing = replace(playing, position=self._position, sooner_ns=host.sooner_ns)
        self._start = start
        self._host = host
        self._rounds = 0
        self._ready: TreeSession | None = None

    @property
    def first_due_ns(self) -> int:
        """How long after the position the first request is due."""
        return self._position.first_due_ns(self._tree)

    def begin(self, turns: SessionTurns) -> Coroutine[Any, Any, TurnOutcome]:
        """Begin the part of the session that is in the phase."""
        if turns.phase == "warmup":
            return self._warm_up(turns)
        ready, self._ready = self._ready, None
        return (ready or self._session()).begin(turns)

    async def _warm_up(self, turns: SessionTurns) -> TurnOutcome:
        from loadgen.plugins.agentic.warm_up import Pressing, Priming

        start, host, playing = self._start, self._host, self._playing
        drain_ns = None if start.drain_s is None else round(start.drain_s * _SECOND)
        self._rounds += 1
        warming: Priming | Pressing
        if self._rounds == 1:
            warming = Priming(self._sample, self._tree, playing, host.worker, start.lead_ns, drain_ns)
        else:
            pressed = self.number, self._sample, playing, host.worker, host.bench
            warming = Pressing(*pressed, start.pressure, drain_ns)
        outcome = await warming.begin(turns)
        if self._rounds == 1 + bool(start.pressure):
            self._ready = self._session()
        return outcome

    def _session(self) -> TreeSession:
        """The measured part, whose requests are made from now on."""
        return TreeSession(self.number, self._sample, self._playing, self._host.worker, self._host.bench)
