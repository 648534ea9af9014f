"""The process of the agents: it ends with its worker, whatever its agents do."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from loadgen.driver.system.child_process import start_child
from loadgen.driver.workers.framing import READ_BYTES, FrameReader
from loadgen.plugins.agents.agent_messages import AgentConfig, AgentsReady, Play, decoded, encoded
from loadgen.plugins.agents.episode_plan import EpisodePlan
from workloads.episode_program import EpisodeProgram, EpisodeSample

if TYPE_CHECKING:
    from pathlib import Path

AGENTS = """
import asyncio, pathlib, time
async def waits(sample, ask, sandbox):
    pathlib.Path("began").touch()
    await asyncio.sleep(600)
async def blocks(sample, ask, sandbox):
    pathlib.Path("began").touch()
    time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["waits", "blocks"])
def test_it_ends_with_its_worker(tmp_path: Path, agent: str) -> None:
    """Also where the agent never comes back to the event loop."""
    (tmp_path / "endless_agents.py").write_text(AGENTS)
    ours, theirs = socket.socketpair()
    with theirs:
        module = "loadgen.plugins.agents.agent_main"
        child = start_child(
            module, str(theirs.fileno()), environment=os.environ, pass_fds=(theirs.fileno(),), cwd=tmp_path
        )
    with child, ours:
        sample = EpisodeSample(0, "go", episode=EpisodeProgram(f"endless_agents:{agent}"))
        plan = EpisodePlan(agent=f"endless_agents:{agent}", paths=(str(tmp_path),))
        ours.sendall(encoded(AgentConfig(plan, (), "m", str, has_user=False)))
        (payload,) = FrameReader().feed(ours.recv(READ_BYTES))
        assert isinstance(decoded(payload), AgentsReady)
        ours.sendall(encoded(Play(0, sample, "performance", 0, 0)))
        until_s = time.monotonic() + 60
        while not (tmp_path / "began").exists() and time.monotonic() < until_s:
            time.sleep(0.01)
        ours.close()
        try:
            child.wait(60)
        except subprocess.TimeoutExpired:
            child.kill()
            pytest.fail(f"it outlived its worker ({sys.platform})")
