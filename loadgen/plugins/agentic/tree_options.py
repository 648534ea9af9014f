"""The options of sessions of agents, checked together with the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import set_flags

if TYPE_CHECKING:
    from loadgen.sessions.settings.perf import PerfSettings


def require_trees(settings: PerfSettings) -> None:
    """Refuse options of sessions of agents that contradict each other, or other options.

    Raises:
        UsageError: What contradicts what, and what to type.
    """
    trees, load = settings.trees, settings.load
    if load.trace is None and settings.prompts.agentic is None:
        raise UsageError(f"{' and '.join(trees.flags)}: for sessions of agents: give --trace or --agentic")
    if trees.salt_at != "prompt" and not settings.prompts.salt:
        raise UsageError(f"--salt-at {trees.salt_at}: the place of --salt: give --salt too")
    of_start = set_flags(trees, "cache_pressure", "warmup_drain")
    if of_start and trees.start_window is None:
        raise UsageError(f"{' and '.join(of_start)}: apply to --start-window: give it too")
    if trees.cache_pressure < 0:
        raise UsageError(f"--cache-pressure {trees.cache_pressure}: must be 0 or more")
    if trees.start_window is not None and load.warmup.strip() != "0":
        raise UsageError(f"--start-window brings a warm-up: leave --warmup {load.warmup} out")
    if trees.start_window is not None or trees.idle_cap is not None:
        _require_one_loop(settings)


def _require_one_loop(settings: PerfSettings) -> None:
    """Refuse loads of which the sessions are not all in one closed loop of one process."""
    load, ray, workers = settings.load, settings.cluster.ray, settings.client.workers
    options = " and ".join(set_flags(settings.trees, "start_window", "idle_cap"))
    if (workers or 1) > 1 or ray is not None:
        other = f"--workers {workers}" if ray is None else "--ray"
        raise UsageError(f"{options}: all sessions are in one process: leave {other} out")
    if load.offline or load.has_recorded_times or not load.rate is load.stages is None:
        raise UsageError(f"{options}: for users who have one session after the other: give --concurrency")
    if load.think is not None:
        raise UsageError(f"{options}: a session begins when the one before has ended: leave --think out")
