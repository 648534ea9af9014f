"""Tasks in containers end to end: folders of both formats, and a repository with an error and its fix."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.containers.daemon import IMAGE, docker_client
from workloads.errors import MalformedError, SourceError
from workloads.sandbox.base import SandboxSpec
from workloads.sandbox.opening import open_sandbox
from workloads.sandbox.patch_tests import PatchedRun, run_patched
from workloads.sandbox.terminal_tests import rewards_of, run_tests
from workloads.tasks.terminal_tasks import terminal_task

if TYPE_CHECKING:
    from pathlib import Path

    from workloads.sandbox.terminal_tests import TerminalTests

DOCKERFILE = f"FROM {IMAGE}\nWORKDIR /app\nRUN echo draft > /app/draft.txt\n"


@pytest.fixture
def harbor(tmp_path: Path) -> Path:
    """A task of Harbor: the file must be renamed."""
    folder = tmp_path / "rename"
    files = {
        "task.toml": (
            'version = "1.0"\n[agent]\ntimeout_sec = 30.0\n[verifier]\ntimeout_sec = 20.0\n'
            "[environment]\nmemory_mb = 512\ncpus = 1\n"
        ),
        "instruction.md": "Rename draft.txt to final.txt.\n",
        "environment/Dockerfile": DOCKERFILE,
        "tests/test.sh": "python3 /tests/check.py > /logs/verifier/reward.txt\n",
        "tests/check.py": "import os\nprint(int(os.path.exists('/app/final.txt')))\n",
    }
    write(folder, files)
    return folder


@pytest.fixture
def terminal_bench(tmp_path: Path) -> Path:
    """The same as a task of Terminal-Bench 1."""
    folder = tmp_path / "rename-1"
    files = {
        "task.yaml": (
            "instruction: |-\n  Rename draft.txt to final.txt.\n"
            "max_agent_timeout_sec: 30.0\nmax_test_timeout_sec: 2\n"
        ),
        "Dockerfile": DOCKERFILE,
        "run-tests.sh": (
            "[ -e /app/hang ] && sleep 60\necho '=== short test summary info ==='\n"
            'test -e /app/final.txt && echo "PASSED $TEST_DIR/test_outputs.py::test_renamed" '
            '|| echo "FAILED $TEST_DIR/test_outputs.py::test_renamed - AssertionError"\n'
        ),
        "tests/test_outputs.py": "def test_renamed(): pass\n",
    }
    write(folder, files)
    return folder


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files, with their folders."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def after_agent(folder: Path, *commands: str) -> TerminalTests:
    """Play a scripted agent, and run the tests of a task."""
    docker_client().close()
    task = terminal_task(folder)
    assert task.instruction.strip() == "Rename draft.txt to final.txt."
    with open_sandbox(task.spec) as sandbox:
        assert sandbox.exec("ls /tests").exit_code != 0
        for command in commands:
            sandbox.exec(command, task.agent_s)
        return run_tests(sandbox, task)


@pytest.mark.docker
def test_a_task_of_harbor(harbor: Path) -> None:
    """Resolved, not resolved, and an agent that writes its own reward."""
    assert after_agent(harbor, "mv draft.txt final.txt").rewards == {"reward": 1.0}
    assert after_agent(harbor, "true").rewards == {"reward": 0.0}
    forged = "mkdir -p /logs/verifier && echo '{\"reward\": 1}' > /logs/verifier/reward.json"
    assert after_agent(harbor, forged).rewards == {"reward": 0.0}
    (harbor / "tests" / "test.sh").write_text("exit 1\n")
    assert after_agent(harbor, "true").rewards is None


@pytest.mark.docker
def test_a_task_of_terminal_bench(terminal_bench: Path) -> None:
    """Resolved, not resolved, and tests that take too long."""
    assert (
        "PASSED /tests/test_outputs.py::test_renamed"
        in after_agent(terminal_bench, "mv draft.txt final.txt").output
    )
    assert "FAILED /tests/test_outputs.py::test_renamed" in after_agent(terminal_bench, "true").output
    late = after_agent(terminal_bench, "mv draft.txt final.txt; touch hang")
    assert (late.timed_out, "PASSED" in late.output) == (True, False)


def test_other_folders(harbor: Path, terminal_bench: Path, tmp_path: Path) -> None:
    """The message names the file and what is wrong with it."""
    with pytest.raises(SourceError, match="neither task"):
        terminal_task(tmp_path)
    (harbor / "task.toml").write_text("[agent]\ntimeout_sec = 'long'\n")
    with pytest.raises(
        MalformedError, match=r"task\.toml: `timeout_sec` must be a number above 0, not 'long'"
    ):
        terminal_task(harbor)
    (harbor / "tests" / "test.sh").unlink()
    with pytest.raises(SourceError, match=r"test\.sh: no such file"):
        terminal_task(harbor)
    (terminal_bench / "run-tests.sh").unlink()
    with pytest.raises(SourceError, match=r"run-tests\.sh: No such file"):
        terminal_task(terminal_bench)
    (terminal_bench / "task.yaml").write_text("- 1\n")
    with pytest.raises(MalformedError, match="no `instruction`"):
        terminal_task(terminal_bench)


@pytest.mark.parametrize("text", ["", "good", "nan", "inf"])
def test_rewards_of_no_number(text: str) -> None:
    """They are errors of the verifier, not a score."""
    with pytest.raises(MalformedError, match="reward"):
        rewards_of(text, "reward.txt")
    with pytest.raises(MalformedError, match="reward"):
        rewards_of(f'{{"reward": "{text}"}}', "reward.json")
    assert rewards_of('{"a": 1, "b": 0.5}', "reward.json") == {"a": 1.0, "b": 0.5}


BROKEN = "def add(a, b):\n    return a - b\n"
FIX = """diff --git a/sums.py b/sums.py
--- a/sums.py
+++ b/sums.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""
SCRIPT = """#!/bin/bash
cd /testbed
git apply - <<'EOF_TESTS'
diff --git a/test_sums.py b/test_sums.py
new file mode 100644
--- /dev/null
+++ b/test_sums.py
@@ -0,0 +1,3 @@
+from sums import add
+print("PASSED test_sums.py::test_zero" if add(1, 0) == 1 else "FAILED test_sums.py::test_zero")
+print("PASSED test_sums.py::test_add" if add(1, 2) == 3 else "FAILED test_sums.py::test_add")
EOF_TESTS
echo '>>>>> Start Test Output'
python3 test_sums.py
echo '>>>>> End Test Output'
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The folder of an instance's image: a repository with an error."""
    docker_client().close()
    source = tmp_path / "testbed"
    write(source, {"sums.py": BROKEN})
    git = ["/usr/bin/git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "Sums"]):
        subprocess.run([*git, *arguments], cwd=source, check=True)
    (tmp_path / "Dockerfile").write_text(f"FROM {IMAGE}\nCOPY testbed /testbed\n")
    return tmp_path


def patched(image: Path, patch: str, script: str = SCRIPT, timeout_s: float = 60.0) -> PatchedRun:
    """Run the instance's tests on a patch."""
    with open_sandbox(
        SandboxSpec("docker", image=str(image), read_only=False, user="", folder="")
    ) as sandbox:
        return run_patched(sandbox, patch, script, timeout_s=timeout_s)


@pytest.mark.docker
def test_an_instance_like_those_of_swe_bench(repository: Path) -> None:
    """The fix resolves it, nothing else does, and each failure has its mark in the log."""
    fixed = patched(repository, FIX)
    assert fixed.applied
    assert ">>>>> Applied Patch" in fixed.log
    assert "PASSED test_sums.py::test_add" in fixed.log
    assert "PASSED test_sums.py::test_zero" in fixed.log
    comment = FIX.replace("+    return a + b", "+    return a - b  # the sum")
    unresolved = patched(repository, comment)
    assert unresolved.applied
    assert "FAILED test_sums.py::test_add" in unresolved.log
    useless = patched(repository, FIX.replace("return a - b", "return a * b"))
    assert not useless.applied
    assert useless.log.startswith(">>>>> Patch Apply Failed")
    late = patched(repository, FIX, "sleep 60", timeout_s=1.0)
    assert late.timed_out
    assert ">>>>> Tests Timed Out" in late.log
