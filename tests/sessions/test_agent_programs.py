"""Agents that are programs: presets of known ones, and programs that run in a sandbox."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

import loadgen
from loadgen.driver.requests.turn_outcome import TurnOutcome
from loadgen.plugins.agents.episode_plan import AgentCommand, EpisodeLimits, EpisodePlan
from loadgen.plugins.agents.presets import agent_command, presets
from tests.containers.daemon import IMAGE, docker_client
from tests.plugins.agents.test_episode_sandboxes import SAMPLE, played
from workloads.answer_details import Rejection
from workloads.sample import Sample
from workloads.sandbox_contract import SandboxSpec

if TYPE_CHECKING:
    from pathlib import Path

    from workloads.sandbox_contract import SandboxKind

# It asks twice, at once and in a stream, and says what it was given.
STAND_IN = """#!{python}
import json, os, sys, urllib.request
from concurrent.futures import ThreadPoolExecutor
def ask(stream):
    body = {{"model": "any", "stream": stream, "messages": [{{"role": "user", "content": "x" * {size}}}]}}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), {{"Content-Type": "application/json"}})
    return urllib.request.urlopen(request).read().decode()
with ThreadPoolExecutor() as pool:
    texts = list(pool.map(ask, [False, True]))
assert texts[1].rstrip().endswith("data: [DONE]"), texts
for path, text in {left}.items():
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write(text)
files = {{n: open(os.environ[n]).read() for n in {read} if n in os.environ}}
home = os.environ.get("HERMES_HOME")
if home:
    files["HERMES_HOME"] = open(home + "/config.yaml").read()
print(json.dumps([sys.argv[1:], sys.stdin.read(), json.loads(texts[0])["choices"][0]["message"], files]))
"""
READ = ["OPENJARVIS_CONFIG", "OPENCLAW_CONFIG_PATH"]


def stand_in(path: Path, left: dict[str, str] | None = None, size: int = 1) -> None:
    """A program in place of an agent."""
    text = STAND_IN.format(python=sys.executable, left=left or {}, read=READ, size=size)
    path.write_text(text)
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("text", "program", "words", "in_file", "left", "reward"),
    [
        (
            "@jarvis-agent --agent orchestrator --tools calculator,think",
            "jarvis",
            ["--agent", "orchestrator", "--tools", "calculator,think", "--", "go"],
            'host = "http://127.0.0.1:',
            {},
            None,
        ),
        (
            "@hermes --toolsets web",
            "hermes",
            ["--toolsets", "web", "--query", "go"],
            "provider: custom",
            {},
            None,
        ),
        ("@openclaw", "openclaw", ["--message", "go"], '"api": "openai-completions"', {}, None),
        (
            "@terminal-bench --dataset terminal-bench-core==0.1.1",
            "tb",
            ["--task-id", "go", "--dataset", "terminal-bench-core==0.1.1"],
            "",
            {"runs/now/results.json": '{"accuracy": 1.0}'},
            1.0,
        ),
        (
            "@harbor --path tasks",
            "harbor",
            ["--include-task-name", "go", "--path", "tasks"],
            "",
            {"jobs/now/go__1/verifier/reward.txt": "0.5\n"},
            0.5,
        ),
    ],
)
def test_a_preset_runs_its_program(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    program: str,
    words: list[str],
    in_file: str,
    left: dict[str, str],
    reward: float | None,
) -> None:
    """With its options, its configuration that names the proxy, and the number that it leaves."""
    stand_in(tmp_path / program, left)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    end = played(EpisodePlan(command=agent_command(text, inside=False)), Sample(0, "go"))
    assert (end["ending"], end["reward"]) == ("completed", reward), end["reason"]
    arguments, stdin, message, files = json.loads(end["texts"]["messages"][-1]["content"])
    assert arguments[-len(words) :] == words
    assert (stdin, message["content"]) == ("go", "well")
    assert in_file in "".join(files.values())
    assert "{" not in "".join(arguments)


def test_every_preset_is_listed() -> None:
    """With what it is for."""
    assert set(presets()) == {"jarvis-agent", "hermes", "openclaw", "terminal-bench", "harbor", "tools"}
    assert all(presets().values())


def test_a_preset_of_a_file(tmp_path: Path) -> None:
    """Its arguments come last where it does not say where."""
    path = tmp_path / "mine.toml"
    path.write_text('command = ["sh", "-c"]\ntask = "file"\n[environment]\nA = "{model}"\n')
    command = agent_command(f"@{path} 'echo $A'", inside=False)
    assert (command.words[1:], command.task, command.environment) == (
        ("-c", "echo $A"),
        "file",
        {"A": "{model}"},
    )


@pytest.mark.parametrize(
    ("text", "preset", "message"),
    [
        ("no-such-program -x", "", "no program no-such-program"),
        ("sh 'open", "", "No closing quotation"),
        ("''", "", "no program"),
        ("@hermse", "", "the presets are harbor, hermes"),
        ("@mine.toml", "command = 3", "command must be a list of texts"),
        ("@mine.toml", "command = []", "`command` is missing"),
        ("@mine.toml", 'command = ["sh"]\nfiles = {a = 1}', "files must be a table of texts"),
        ("@mine.toml", 'command = ["sh"]\ntask = "x"', "stdin or file"),
        ("@mine.toml", 'comand = ["sh"]', "no key comand"),
        ("@mine.toml", "command = ", "Invalid value"),
    ],
)
def test_what_is_not_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, preset: str, message: str
) -> None:
    """The message says what is wrong."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(preset)
    with pytest.raises(loadgen.UsageError, match=message):
        agent_command(text, inside=False)


def in_a_sandbox(program: str, spec: SandboxSpec | None = None, **plan: Any) -> dict[str, Any]:
    """The end of an episode whose program runs where its task is."""
    command = AgentCommand(("python3", "-c", program, "{task}"), environment={"A": "{model}"})
    return played(EpisodePlan(command=command, sandbox=spec or SandboxSpec(), **plan), SAMPLE)


@pytest.mark.parametrize(
    ("size", "kind"), [(1, "local"), (700_000, "local"), pytest.param(1, "docker", marks=pytest.mark.docker)]
)
def test_a_program_in_a_sandbox_asks_the_model(size: int, kind: SandboxKind) -> None:
    """Although there is no network: its requests come out as commands, large ones in a file."""
    if kind == "docker":
        docker_client().close()
    text = STAND_IN.format(python="", left={}, read=[], size=size).partition("\n")[2]
    end = in_a_sandbox(text, SandboxSpec(kind, image=IMAGE))
    assert end["ending"] == "completed", end["reason"]
    arguments, stdin, message, _ = json.loads(end["texts"]["messages"][-1]["content"])
    assert (arguments, stdin, message["content"]) == (["go"], "go", "well")
    assert len(end["texts"]["details"]["conversation"]) == 2


SEES_A_REJECTION = """
import os, urllib.error, urllib.request
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
try:
    urllib.request.urlopen(urllib.request.Request(url, b'{"messages": []}'))
except urllib.error.HTTPError as error:
    print(error.code, error.headers["Retry-After"], error.headers["Content-Type"], error.read().decode())
"""


@pytest.mark.parametrize("sandbox", [None, SandboxSpec()])
def test_a_rejection_reaches_the_program(sandbox: SandboxSpec | None) -> None:
    """On this machine, and in a sandbox: its client knows what to do."""
    rejection = Rejection(429, "text/plain", "slow down", {"Retry-After": "7"})
    command = AgentCommand(("python3", "-c", SEES_A_REJECTION))
    sample = Sample(0, "go") if sandbox is None else SAMPLE
    failed = TurnOutcome("http_429", None, 0, rejection=rejection)
    end = played(EpisodePlan(command=command, sandbox=sandbox), sample, failed)
    assert end["texts"]["messages"][-1]["content"] == "429 7 text/plain slow down"


@pytest.mark.parametrize(
    ("program", "ending", "reason"),
    [
        ("import sys; sys.exit('no good')", "agent_error", "exit code 1: no good"),
        ("import os; os.kill(os.getpid(), 9)", "agent_error", "exit code 137"),
        ("import time; time.sleep(600)", "max_time", "longer than 0.5 s"),
    ],
)
def test_how_a_program_in_a_sandbox_ends(program: str, ending: str, reason: str) -> None:
    """By itself, or at a limit."""
    limits = EpisodeLimits(seconds=0.5 if ending == "max_time" else None)
    end = in_a_sandbox(program, limits=limits)
    assert end["ending"] == ending
    assert reason in end["reason"]
