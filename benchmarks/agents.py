"""Sessions with agents against a mock endpoint with a TTFT of 20 ms: each must be VALID, and exit with 0.

The examples of docs/agents.md, ten use cases, toolcall15, tau2, and, where Docker has the image of the tests,
tasks in containers. The machine must be idle: other work delays the client, which invalidates runs.

    python benchmarks/agents.py [--rounds N] [--only NAME] [--json]
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import loadgen
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.sandbox.docker_daemon import connect
from workloads.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

IMAGE: Final = "llm-loadgen-test"
PROGRAM: Final = str(Path(sys.executable).with_name("loadgen"))
FILES: Final = {
    "class Calculator": "calculator.py",
    "def used_a_tool": "graders.py",
    '"ground_truth"': "sums.jsonl",
    "async def terminal": "shell.py",
}
"""A text in an example of docs/agents.md, and the file that the example is."""

AGENT: Final = """
import json, os, sys, urllib.request
body = {"model": os.environ["OPENAI_MODEL"], "messages": [{"role": "user", "content": sys.stdin.read()}]}
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps(body).encode(),
    {"Content-Type": "application/json"},
)
for _ in range(2):
    answer = json.load(urllib.request.urlopen(request))
print(answer["choices"][0]["message"]["content"])
"""
USE_CASES: Final = (
    *("browser_assistant", "coding_assistant", "coding_task", "daily_digest", "document_qa"),
    *("email_triage", "knowledge_base", "morning_brief", "research_mining", "security_scanner"),
)


def call(match: str, name: str, **arguments: Any) -> dict[str, Any]:
    """A model that calls a tool where the last message has a text."""
    return {"match": match, "tool_calls": [{"name": name, "arguments": arguments}]}


SUMS: Final[list[dict[str, Any]]] = [
    {"match": "tool: ", "reply": "8"},
    {"match": "one shell command", "reply": "echo 8"},
    call("2 + 3", "add", a=2, b=3),
    call("4 + 4", "add", a=4, b=4),
    {"reply": "Well."},
]
TOOLS: Final[list[dict[str, Any]]] = [
    {"match": "tool: ", "reply": "8"},
    call("2 + 3", "calculator", expression="2 + 3"),
    call("4 + 4", "bash", command="echo 8"),
    {"reply": "8"},
]
USER: Final[list[dict[str, Any]]] = [
    {"match": "How can I help", "reply": "A refund, please."},
    call("A refund", "send_certificate", user_id="ann", amount=50),
    {"match": "certificate", "reply": "It is $1,200."},
    {"match": "$1,200", "reply": "###STOP###"},
    call("like in Berlin", "get_weather", location="Berlin"),
    {"reply": "Well."},
]


class Session(NamedTuple):
    """A command, and the replies of its model; `prepare` writes what it reads into its folder."""

    name: str
    command: str
    replies: Sequence[dict[str, Any]]
    prepare: Callable[[Path], None] = lambda _: None


class Outcome(NamedTuple):
    """One run: its exit code, whether it was VALID, why not, and the share of client overhead in the TTFT."""

    exit_code: int
    valid: bool
    reasons: Sequence[str]
    own_share: float
    set_up_ms: float


def sessions() -> Iterator[Session]:
    """All sessions; those in containers where Docker has the image."""
    graded = "accuracy sums.jsonl --eval graders:exact"
    code = "--allow-code-execution"
    loop = "--agent calculator:Calculator --max-turns 10 --repeats 5 --eval graders:used_a_tool"
    yield Session("agent loop", f"{graded} {loop}", SUMS)
    yield Session("function, sandbox", f"{graded} --agent shell:terminal {code}", SUMS)
    yield Session("program", f'{graded} --agent-command "{sys.executable} FOLDER/agent.py"', SUMS)
    yield Session("described program", f'{graded} --agent-command "@agent.toml"', SUMS)
    yield Session("@tools calculator", f'{graded} --agent-command "@tools calculator"', TOOLS)
    tools = "@tools bash,calculator,file_read,file_write"
    yield Session("@tools, sandbox", f'{graded} --agent-command "{tools}" {code}', TOOLS)
    yield Session("toolcall15", "accuracy toolcall15", USER)
    yield Session("tau2", "accuracy tau2:domain=airline --data .", USER, tau2)
    for name in USE_CASES:
        yield Session(name, f"accuracy {name} {code}", USER)
    if has_image():
        from tests.sessions.test_container_tasks import REPLIES, instances, terminal_tasks

        yield Session("swe_bench", f"accuracy swe_bench --data . {code}", REPLIES, instances)
        tasks = Session("terminal_bench", f"accuracy terminal_bench --data . {code}", REPLIES)
        yield tasks._replace(prepare=lambda folder: terminal_tasks(folder / "tasks"))


def has_image() -> bool:
    """Whether Docker has the image of the tests."""
    try:
        with closing(connect()) as client:
            return bool(client.images(IMAGE))
    except WorkloadError:
        return False


def tau2(folder: Path) -> None:
    """Three tasks of tau2's shape."""
    from tests.plugins.evals.tasks.test_tau2 import write_airline

    write_airline(folder)


def play(session: Session) -> Outcome:
    """Run a session once."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for _, text in re.findall(
            r"```(\w+)\n(.*?)```", (ROOT / "docs" / "agents.md").read_text(), re.DOTALL
        ):
            for mark, file in FILES.items():
                if mark in text:
                    (folder / file).write_text(text)
        (folder / "agent.py").write_text(AGENT)
        (folder / "agent.toml").write_text(f'command = ["{sys.executable}", "{folder}/agent.py"]\n')
        (folder / "replies.jsonl").write_text("\n".join(map(json.dumps, session.replies)))
        session.prepare(folder)
        with start_mock(ttft="20ms", itl="2ms", tokens="4", replies=folder / "replies.jsonl") as mock:
            command = [
                PROGRAM,
                *shlex.split(session.command.replace("FOLDER", name)),
                *f"--url {mock.url} --model m --out run -q".split(),
            ]
            result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if not (folder / "run").exists():
            sys.exit(f"{session.name}: {result.stderr}")
        with loadgen.open_run(folder / "run") as run:
            report = run.report()
            ((set_up_ms,),) = run.sql("SELECT max(setup_ms) FROM episodes").fetchall()
        validity = report.validity
        own = report.own_ttft_share or 0.0
        return Outcome(result.returncode, validity.valid, validity.reasons, own, set_up_ms or 0.0)


def main() -> int:
    """Print a line for each session; 1 where one is not VALID in most of its rounds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="sessions whose name has this text")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    failed, figures = 0, {}
    for session in sessions():
        if options.only not in session.name:
            continue
        outcomes = [play(session) for _ in range(options.rounds)]
        valid = sum(outcome.valid and outcome.exit_code == 0 for outcome in outcomes)
        share = median(outcome.own_share for outcome in outcomes)
        set_up_ms = median(outcome.set_up_ms for outcome in outcomes)
        failed += valid * 2 <= options.rounds
        figures[session.name] = {"valid": valid, "own_share": share, "set_up_ms": set_up_ms}
        if not options.json:
            line = f"{session.name:18} VALID in {valid} of {options.rounds}, client overhead"
            print(f"{line} {100 * share:5.1f} % of TTFT p99, set-up {set_up_ms:5.0f} ms", flush=True)
            for reason in sorted({reason for outcome in outcomes for reason in outcome.reasons}):
                print(f"    {reason}")
    if options.json:
        print(json.dumps(figures))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
