"""The commands that README and docs show: all can be typed; those that need only a server are run."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from string import Template
from typing import TYPE_CHECKING, Any

import pytest
import typer

from loadgen.cli.app import main
from loadgen.cli.typer_application import application
from loadgen.mock_endpoint.process import MockProcess, start_mock
from loadgen.sessions.arguments import with_values
from tests.conftest import ROOT, clean_environment
from tests.documented_commands import Shown, shown
from tests.for_each import for_each
from tests.plugins.imports.harness_files import harbor, terminal_bench
from tests.plugins.imports.load_files import vllm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.preloaded import Preloaded

REFUSED = {
    "loadgen perf --base-url http://127.0.0.1:8000 --model NAME --request-rate 5 --num-prompts 100",
    "loadgen vllm bench serve --model NAME --request-rate inf --max-concurrency 16 --num-prompts 200",
}
"""What docs/coming-from.md shows to be refused."""
RECIPES = {"adding-a-protocol.md", "adding-a-report-format.md", "adding-an-arrival-process.md"}
"""Pages whose commands have names that the page adds; their own tests apply the pages and run them."""
COMMANDS = [
    command
    for command in shown()
    if command.page not in {"architecture.md", *RECIPES} and command.line not in REFUSED
]

NEEDS = {
    r"--otlp|--push-gateway|--to (wandb|mlflow|sheets)": "a server that the run is sent to",
    r"^loadgen (selftest|calibrate|demo)": "takes too long; their own tests run them",
    r"^loadgen (mock|view|watch)\b": "serves or waits until it is stopped; their own tests run them",
    r"--ray ": "needs a cluster of Ray; its own tests run it",
    r"^loadgen optimize ": "takes long; their own tests improve a tool set",
    r"tool_selection:tools=": "differs from another line in the set of tools; tests of the task ask them",
    r"^loadgen search ": "takes half a minute; their own tests run it",
    r"--data [DdF]|accuracy (gsm8k|ifeval|mmlu_pro)|--task gsm8k|simpleqa": "needs a benchmark's data",
    r"capitals|sums\.jsonl": "is run by the page's own test",
    r"hf:|--tokenizer [mN]": "needs Hugging Face's hub",
    r"s3://": "needs an object store; a test of archives has one",
    r"https://host|--model gpt-5-mini$": "needs a server that has a key",
    r"--protocol (sse|sglang|responses)": "needs a server of another protocol",
    r"run suite\.toml$": "needs the server that the file names",
    r"run --all": "takes too long; its own test runs it",
    r"--about |curve|closed/ORG|scores\.json|SWEEP|sweep |starter": "needs a series, or files of its author",
    r"sets\b|--scorer tool_selection": "needs the run that the page makes before",
    r"cnn\.jsonl|--scenario (llama|server)|perf/rules": "needs a dataset, or the rules of its author",
    r"^loadgen list tools |tools=files": "needs an MCP server; their own tests start one",
    r"--trace |ShareGPT|inline.score": "needs a trace, or a dataset",
    r"^loadgen plot (OLD|.*--by)": "needs two runs, or a run with tags; its own tests draw them",
    r"^loadgen resume ": "needs a run that was interrupted",
    r"^loadgen score |export RUN.*--prices|(ifeval|report RUN) --prices": "needs a run with scores or prices",
}
"""Commands that are not run here, by a part of them, and why."""

SHORTER = (
    (r"\$?\bURL\b|http://127\.0\.0\.1:\d+", "{url}"),
    (r"--duration \S+|-d \S+", "--duration 0.2s"),
    (r"--rate (20|40) (.*@es99)", r"--rate 900 \2"),
    (r"-n \d+|--requests \d+", "-n 4"),
    (r"--sessions \d+", "--sessions 4"),
    (r"--cooldown \S+", "--cooldown 0"),
    (r"exponential:5s", "exponential:5ms"),
    (r"(ramp:\d+\.\.\d+|steps:10\.\.50x5),5m", r"\1,0.5s"),
    (r"--concurrency 1,2,4,8,16,32", "--concurrency 1,2"),
    (r"(-c|--concurrency) (100|200)", r"\1 10"),
    (r"bursts:5,100,10s,1s", "bursts:5,100,100ms,50ms"),
    (r"(accuracy .*tool_selection\S*)", r"\1 --samples 2"),
)
"""What is made shorter, so that a command takes less than a second."""


GRADER = """\
def exact(solution_str, ground_truth, extra_info=None, **kw):
    return float(solution_str.strip() == ground_truth)
"""


READING = {"archive", "compare", "export", "gate", "import", "init", "plot", "report", "rules", "sql"}
"""Commands that start nothing."""


def reason(command: Shown) -> str | None:
    """Why a command is not run here; None for one that is."""
    return next((why for pattern, why in NEEDS.items() if re.search(pattern, command.line)), None)


def outline(command: Shown) -> str:
    """A command with one name for every folder of a run: pages that differ in it alone show the same."""
    return re.sub(r"\bruns/[\w-]+", "RUN", command.line)


RUN = list({outline(command): command for command in COMMANDS if reason(command) is None}.values())
FIRST = {command.words[1]: command for command in reversed(RUN)}
READ_HERE = {command for command in RUN if command.words[1] in READING} - set(FIRST.values())
"""Run in this process, which loads and computes the same run once; the first line of each command is not, for
a process says at its end what it leaves open."""


@pytest.mark.slow
@for_each("command", COMMANDS)
def test_every_command_can_be_typed(command: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its options exist and take the values that they are given."""
    monkeypatch.delenv("LOADGEN_URL", raising=False)
    name, rest = command.words[1], with_values(command.words[2:])
    group: Any = typer.main.get_command(application(name))
    parsed = group.commands[name]
    if hasattr(parsed, "commands"):
        parsed = parsed.commands[rest.pop(0)]
    parsed.make_context(name, rest)


def test_most_commands_are_run() -> None:
    """What is left out is left out for a reason that still holds for one of them."""
    assert len(RUN) >= 30
    unused = [
        pattern for pattern in NEEDS if not any(re.search(pattern, command.line) for command in COMMANDS)
    ]
    assert unused == []


@pytest.fixture(scope="module")
def server() -> Iterator[MockProcess]:
    """A mock that answers at once, whatever the model is called."""
    with start_mock(ttft="2ms", itl="0ms", tokens="4") as mock:
        yield mock


@pytest.fixture(scope="module")
def folder(preloaded: Preloaded, server: MockProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs and the files that the pages speak of."""
    place = tmp_path_factory.mktemp("documented")
    preloaded.run(
        *("perf", "--url", server.url, "--model", "m", "-n", 5, "-q", "--out", "RUN"),
        cwd=place,
        env=clean_environment(),
    )
    for name in ("yesterday", "today", "runs/old", "runs/new", "runs/chat", "runs/20260102-030405-my-model"):
        shutil.copytree(place / "RUN", place / name)
    for name in ("artifacts/old", "artifacts/new"):
        (place / name).mkdir(parents=True)
        shutil.copy(place / "RUN" / "report.json", place / name)
    terminal_bench(place / "runs" / "2026-01-01__12-00-00")
    harbor(place / "jobs" / "2026-01-01__12-00-00")
    shutil.copy(vllm(place), place / "results.json")
    shutil.copytree(ROOT / "examples", place / "examples")
    shutil.copy(ROOT / "examples" / "rulesets" / "chat.yaml", place)
    shutil.copy(ROOT / "examples" / "suite.toml", place)
    (place / "graders.py").write_text(GRADER)
    question = {"prompt": "2+2?", "user_prompt": "2+2?", "ground_truth": "4", "answer": "4"}
    for name in ("questions.jsonl", "faq.jsonl"):
        (place / name).write_text(json.dumps(question) + "\n")
    turns = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    chat = {"messages": [*turns, {"role": "user", "content": "Bye"}]}
    (place / "chats.jsonl").write_text(f"{json.dumps(chat)}\n" * 12)
    (place / "tickets.csv.gz").write_bytes(gzip.compress(b"body\nhelp\n"))
    return place


@pytest.mark.slow
@pytest.mark.usefixtures("remembered_logs")
@pytest.mark.usefixtures("remembered_logs")
@pytest.mark.parametrize("command", RUN, ids=lambda command: f"{command.page}: {command.line}")
def test_a_command_does_what_the_page_says(
    command: Shown,
    preloaded: Preloaded,
    program_folder: Path,
    server: MockProcess,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It ends as a measurement may end on a busy machine, and not as a mistake: no usage error, no bug."""
    line = command.line
    for pattern, shorter in SHORTER:
        line = re.sub(pattern, shorter.replace("{url}", server.url), line)
    if command.words[1:] == ("init",):
        (folder / "suite.toml").unlink(missing_ok=True)
    environment = {"URL": server.url, "LLAMA_KEY": "any"}
    words = list(shlex.shlex(line, posix=True, punctuation_chars=True))
    is_simple = words[0] == "loadgen" and not any(set(word) <= set("();<>|&") for word in words)
    if is_simple and command in READ_HERE:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        code, errors = main(), capfd.readouterr().err
    else:
        done = _typed(line, folder, environment, preloaded, program_folder, is_simple=is_simple)
        code, errors = done.returncode, done.stderr
    assert code in {0, 1, 4, 5}, f"{line}\n{errors}"
    assert "Traceback" not in errors
    assert "ResourceWarning" not in errors


def _typed(
    line: str,
    folder: Path,
    environment: dict[str, str],
    preloaded: Preloaded,
    program_folder: Path,
    *,
    is_simple: bool,
) -> subprocess.CompletedProcess[str]:
    """Run a line as a shell does: in a shell where it is more than one command with its words."""
    if is_simple:
        words = [Template(word).safe_substitute(environment) for word in shlex.split(line)]
        return preloaded.run(*words[1:], cwd=folder, env=clean_environment(**environment))
    return subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=folder,
        env=clean_environment(**environment, PATH=f"{program_folder}{os.pathsep}{os.environ['PATH']}"),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
