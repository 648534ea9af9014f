"""Tasks in containers from the first request to the score: a scripted model works, and tests decide."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import loadgen
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.agents.planning import SandboxNeeds, sandbox_needs
from loadgen.sessions.scoring.scoring_pass import score_run
from loadgen.sessions.settings.benchmark_options import TaskSettings
from loadgen.sessions.settings.concerns import from_flat
from loadgen.sessions.settings.scoring_choices import ScoringChoices
from tests.containers.daemon import IMAGE, built_images
from workloads.dataset import Dataset

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen import Run


def bash(match: str, command: str) -> dict[str, Any]:
    """A model that runs a command where the last message says something."""
    return {"match": match, "tool_calls": [{"name": "bash", "arguments": {"command": command}}]}


REPLIES = [
    {"match": "[exit code 0]", "reply": "Done."},
    {"match": "Answer with a command: Rename", "reply": "mv /app/draft.txt /app/final.txt"},
    {"match": "Answer with a command: Remove", "reply": "true"},
    bash("Rename draft.txt", "mv draft.txt final.txt"),
    bash("Remove draft.txt", "echo removed"),
    bash(
        "add(1, 2) is -1",
        "sed -i 's/a - b/a + b/' sums.py && git -c user.name=a -c user.email=a commit -qam Fix",
    ),
    bash("add(2, 2) is 0", "echo '# The sum.' >> sums.py"),
    {"reply": "I do not know."},
]
TESTS = (
    "echo '=== short test summary info ==='\n"
    'test -e {path} && echo "PASSED $TEST_DIR/test_outputs.py::test_it" '
    '|| echo "FAILED $TEST_DIR/test_outputs.py::test_it - AssertionError"\n'
)
EVALUATION = """#!/bin/bash
set -uxo pipefail
cd /testbed
git apply -v - <<'EOF_TESTS'
diff --git a/test_sums.py b/test_sums.py
new file mode 100644
--- /dev/null
+++ b/test_sums.py
@@ -0,0 +1,4 @@
+from sums import add
+print("PASSED test_sums.py::test_zero" if add(1, 0) == 1 else "FAILED test_sums.py::test_zero")
+print("PASSED test_sums.py::test_add" if add(1, 2) == 3 else "FAILED test_sums.py::test_add")
+raise SystemExit(add(1, 2) != 3)
EOF_TESTS
: '>>>>> Start Test Output'
python3 test_sums.py
: '>>>>> End Test Output'
git checkout -- .
"""


AGENT = """
import json, os, subprocess, sys, urllib.request
question = {"role": "user", "content": "Answer with a command: " + sys.stdin.read()}
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps({"model": os.environ["OPENAI_MODEL"], "messages": [question]}).encode(),
    {"Content-Type": "application/json"},
)
command = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
sys.exit(subprocess.run(["sh", "-c", command]).returncode)
"""


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files, with their folders."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def terminal_tasks(folder: Path) -> None:
    """Two tasks of Terminal-Bench: the model renames the one file, and leaves the other."""
    dockerfile = f"FROM {IMAGE}\nWORKDIR /app\nRUN echo draft > draft.txt && touch there\n"
    for name, instruction, path in (
        ("remove", "Remove draft.txt.", "/app/gone"),
        ("rename", "Rename draft.txt to final.txt.", "/app/final.txt"),
    ):
        files = {
            "task.yaml": f"instruction: {instruction}\ndifficulty: easy\nmax_test_timeout_sec: 60\n",
            "Dockerfile": dockerfile,
            "run-tests.sh": TESTS.format(path=path),
            "tests/test_outputs.py": "",
        }
        write(folder / name, files)


def repository(folder: Path) -> None:
    """The folder of an image: a repository whose function subtracts, and its history."""
    write(folder, {"testbed/sums.py": "def add(a, b):\n    return a - b\n"})
    git = ["/usr/bin/git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "Sums"]):
        subprocess.run([*git, *arguments], cwd=folder / "testbed", check=True)
    (folder / "Dockerfile").write_text(f"FROM {IMAGE}\nCOPY testbed /testbed\nWORKDIR /testbed\n")


def instances(folder: Path) -> None:
    """Two instances on one repository: the model fixes the one, and comments on the other."""
    repository(folder / "image")
    row = {
        "repo": "pallets/flask",
        "image": str(folder / "image"),
        "eval_script": EVALUATION,
        "FAIL_TO_PASS": json.dumps(["test_sums.py::test_add"]),
        "PASS_TO_PASS": json.dumps(["test_sums.py::test_zero"]),
    }
    issues = {"own__sums-1": "add(1, 2) is -1", "own__sums-2": "add(2, 2) is 0"}
    rows = [{**row, "instance_id": name, "problem_statement": issue} for name, issue in issues.items()]
    (folder / "test.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A scripted model, on a machine with Docker; images that are built below the folder go with it."""
    with built_images(tmp_path):
        script = tmp_path / "replies.jsonl"
        script.write_bytes(b"\n".join(map(orjson.dumps, REPLIES)))
        with start_mock(ttft="0", itl="0", replies=script) as mock:
            yield mock.url


def asked(task: str, data: Path, url: str, **options: Any) -> Run:
    """A run of a task."""
    defaults: dict[str, Any] = {"allow_code_execution": True, "workers": 1, "probe": False, "concurrency": 2}
    defaults["on_invalid"] = "warn"
    return loadgen.accuracy(task, url=url, model="m", data=data, out=data / "run", **{**defaults, **options})


def scores(run: Run) -> list[tuple[Any, ...]]:
    """The value, the status and the reason of each question."""
    return run.sql(
        "SELECT DISTINCT question_id, value, status, reason FROM scores ORDER BY question_id"
    ).fetchall()


def start_is_set_up(run: Run) -> bool:
    """Whether the start of a container counts as set-up, and not as time that the client added.

    The run is VALID then, unless other work on the machine delays the client.
    """
    if not run.report().validity.stands:
        return False
    overhead = "SELECT median(own_ms) FROM samples"
    return bool(run.sql(f"SELECT min(setup_ms) > 4 * ({overhead}) FROM episodes").fetchall()[0][0])  # noqa: S608


@pytest.mark.docker
def test_tasks_in_a_terminal(tmp_path: Path, url: str) -> None:
    """One is resolved and one is not, and nothing is scored that no test was run for."""
    terminal_tasks(tmp_path / "tasks")
    run = asked("terminal_bench", tmp_path, url)
    assert scores(run) == [
        ("remove", 0.0, "scored", "not passed: test_it"),
        ("rename", 1.0, "scored", None),
    ]
    assert run.sql("SELECT ending, turns, tool_calls FROM episodes").fetchall() == [("completed", 2, 1)] * 2
    assert start_is_set_up(run)


@pytest.mark.docker
def test_a_program_works_in_the_terminal(tmp_path: Path, url: str) -> None:
    """Its calls of the model leave the container, which has no network, and are measured turns."""
    terminal_tasks(tmp_path / "tasks")
    for task in ("remove", "rename"):
        folder = tmp_path / "tasks" / task
        write(folder, {"agent.py": AGENT})
        with (folder / "Dockerfile").open("a") as dockerfile:
            dockerfile.write("COPY agent.py /agent.py\n")
    run = asked("terminal_bench", tmp_path, url, agent_command="python3 /agent.py")
    assert [(name, value) for name, value, *_ in scores(run)] == [("remove", 0.0), ("rename", 1.0)]
    assert (
        run.sql("SELECT ending, turns, reason FROM episodes").fetchall()
        == [("completed", 1, "exit code 0")] * 2
    )
    assert start_is_set_up(run)


@pytest.mark.docker
def test_instances_like_those_of_swe_bench(tmp_path: Path, url: str) -> None:
    """One is resolved and one is not; what is stored is scored again, in new containers."""
    instances(tmp_path)
    run = asked("swe_bench", tmp_path, url)
    resolved = ("own__sums-1", 1.0, "scored", None)
    other = ("own__sums-2", 0.0, "scored", "still failing: test_sums.py::test_add")
    assert scores(run) == [resolved, other]
    assert start_is_set_up(run)
    score_run(run.folder, ScoringChoices(allow_code_execution=True))
    assert scores(loadgen.open_run(run.folder)) == [resolved, other]
    assert "containers of the benchmark's images" in str(run.report().accuracy[0].notes)


@pytest.mark.parametrize("task", ["terminal_bench", "swe_bench", "swe_bench:mode=patch", "humaneval"])
def test_no_daemon(task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is noticed before the first request: exit code 3, and what to do."""
    pytest.importorskip("docker", reason="needs the extra `docker`")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    terminal_tasks(tmp_path / "tasks")
    instances(tmp_path)
    (tmp_path / "humaneval").mkdir()
    row = {"task_id": "Own/0", "prompt": "def f():\n", "test": "pass", "entry_point": "f"}
    (tmp_path / "humaneval" / "HumanEval.jsonl").write_bytes(orjson.dumps(row))
    message, exit_code = refused(task, tmp_path)
    assert re.search(r"no Docker daemon answers .* start the daemon", message)
    assert exit_code == 3


def refused(task: str, data: Path) -> tuple[str, int]:
    """Why a task is not begun, and the exit code."""
    try:
        asked(task, data, "http://127.0.0.1:1", sandbox="docker")
    except loadgen.LoadgenError as error:
        return str(error), error.exit_code
    pytest.fail("it was begun")


@pytest.mark.parametrize("task", ["terminal_bench", "swe_bench", "swe_bench:mode=patch"])
def test_without_permission(task: str, tmp_path: Path) -> None:
    """No command of a model is run unless that is allowed."""
    terminal_tasks(tmp_path / "tasks")
    instances(tmp_path)
    with pytest.raises(loadgen.LoadgenError, match=re.escape("--allow-code-execution")):
        asked(task, tmp_path, "http://127.0.0.1:1", allow_code_execution=False)


def test_other_tasks_need_no_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that runs no code is asked and scored without one."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    values = {"task": ["gsm8k"], "sandbox": "docker", "allow_code_execution": True}
    settings = from_flat(TaskSettings, values)
    nothing_asked = Dataset("gsm8k", (), "", synthetic=False)
    assert sandbox_needs(settings, None, nothing_asked) == SandboxNeeds()
