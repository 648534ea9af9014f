"""Tasks in containers: folders of both formats, and a repository with an error and its fix."""

from __future__ import annotations

import asyncio
import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from loadgen.plugins.evals.patch_tests import (
    PatchedRun,
    patch_in,
    run_patched,
    with_exit_code,
    without_binary_files,
)
from loadgen.plugins.evals.tasks import swe_bench, swe_bench_pro, terminal_bench
from loadgen.plugins.evals.tasks.terminal_tasks import TerminalTests, run_tests, terminal_task
from loadgen.plugins.sandbox.opening import async_sandbox, open_sandbox
from tests.containers.daemon import IMAGE, built_images
from workloads.answer import Answer, EpisodeOutcome
from workloads.errors import MalformedError, SourceError
from workloads.sandbox_contract import SandboxSpec
from workloads.score import Score, Status
from workloads.sources import FileRow
from workloads.workload import Inputs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from workloads.question import Question

DOCKERFILE = f"FROM {IMAGE}\nWORKDIR /app\nRUN echo draft > /app/draft.txt\n"


@pytest.fixture
def images(tmp_path: Path) -> Iterator[None]:
    """Images that a test builds are removed at its end."""
    with built_images(tmp_path):
        yield


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
def terminal_bench_1(tmp_path: Path) -> Path:
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


def after_agent(folder: Path, *commands: str) -> Score:
    """Play a scripted agent, run the tests of a task, and judge what they left."""
    task = terminal_task(folder)
    assert task.instruction.strip() == "Rename draft.txt to final.txt."

    async def play() -> TerminalTests:
        async with async_sandbox(task.container()) as sandbox:
            assert (await sandbox.exec("ls /tests")).exit_code != 0
            for command in commands:
                await sandbox.exec(command, task.agent_s)
            return await run_tests(sandbox, task)

    return judged(asyncio.run(play()), task.kind)


def judged(tests: TerminalTests, kind: str, *, network: bool = False) -> Score:
    """The score of what tests have left, as it comes back from the log."""
    details = json.loads(json.dumps({"tests": tests.to_dict()}))
    outcome = EpisodeOutcome("completed", details=details)
    return terminal_bench.grade({"kind": kind, "network": network}, Answer("", episode=outcome))


@pytest.mark.docker
@pytest.mark.usefixtures("images")
def test_a_task_of_harbor(harbor: Path) -> None:
    """Resolved, not resolved, and an agent that writes its own reward."""
    assert after_agent(harbor, "mv draft.txt final.txt").value == 1
    assert after_agent(harbor, "true").value == 0
    forged = "mkdir -p /logs/verifier && echo '{\"reward\": 1}' > /logs/verifier/reward.json"
    assert after_agent(harbor, forged).value == 0
    (harbor / "tests" / "test.sh").write_text("echo $CHECK; exit 1\n")
    assert after_agent(harbor, "true").reason == "the tests left no reward"


@pytest.mark.docker
@pytest.mark.usefixtures("images")
def test_a_task_of_terminal_bench(terminal_bench_1: Path) -> None:
    """Resolved, not resolved, and tests that take too long."""
    assert after_agent(terminal_bench_1, "mv draft.txt final.txt").value == 1
    assert after_agent(terminal_bench_1, "true").reason == "not passed: test_renamed"
    late = after_agent(terminal_bench_1, "mv draft.txt final.txt; touch hang")
    assert (late.value, late.reason) == (0, "test_timeout: the tests took longer than the task allows")


@pytest.mark.parametrize(
    ("tests", "kind", "value", "reason"),
    [
        (TerminalTests("", "exited", ("reward.json", '{"reward": 0.5, "speed": 2}')), "harbor", 0.5, ""),
        (
            TerminalTests("", "exited", ("reward.json", '{"speed": 2}')),
            "harbor",
            0,
            "reward.json has no `reward`",
        ),
        (
            TerminalTests("", "exited", ("reward.txt", "")),
            "harbor",
            None,
            "the verifier failed: reward.txt is empty",
        ),
        (
            TerminalTests("", "exited", ("reward.txt", "nan")),
            "harbor",
            None,
            "the verifier failed: the reward is not",
        ),
        (
            TerminalTests("bash: x", "exited"),
            "terminal-bench",
            0,
            "parse_error: the pane of the tests has no",
        ),
        (
            TerminalTests("", "out_of_memory"),
            "terminal-bench",
            None,
            "the tests reached a limit of the container",
        ),
        (
            TerminalTests("curl: (6) Could not resolve host: astral.sh", "exited"),
            "terminal-bench",
            None,
            "the tests need a network, which the container has not: terminal_bench:network=true",
        ),
    ],
)
def test_what_tests_left(tests: TerminalTests, kind: str, value: float | None, reason: str) -> None:
    """What says nothing of the agent has no value, and the status of a failure of the infrastructure."""
    score = judged(tests, kind)
    assert score.value == value
    assert score.reason.startswith(reason)
    assert score.status is (Status.INFRA_ERROR if value is None else Status.SCORED)


def test_a_task_with_a_network() -> None:
    """The verdict is the official one; so is that of an episode without tests."""
    tests = TerminalTests("Could not resolve host: x", "exited")
    assert judged(tests, "terminal-bench", network=True).value == 0
    assert terminal_bench.grade({}, Answer("")).status is Status.UNPARSED


def test_what_a_harbor_task_says_of_its_container(harbor: Path) -> None:
    """Variables of the host are left out, and sizes have two forms."""
    (harbor / "task.toml").write_text(
        '[environment]\nmemory = "4G"\ncpus = 2\nallow_internet = false\n'
        'env = { A = "1", KEY = "${HOST_KEY}", B = "${HOST_B:-b}" }\n[verifier]\nenv = { CHECK = "x" }\n'
        '[metadata]\ndifficulty = "hard"\n'
    )
    task = terminal_task(harbor)
    spec = task.container(network=True)
    assert (spec.limits.memory_bytes, spec.limits.cpus, spec.network) == (4 * 2**30, 2.0, False)
    assert spec.environment == {"A": "1", "KEY": "", "B": "b"}
    assert (task.tests_environment, task.difficulty, task.agent_s) == ({"CHECK": "x"}, "hard", 600.0)


def test_a_compose_file(terminal_bench_1: Path) -> None:
    """The image, and the variables; more containers than one cannot be run."""
    compose = terminal_bench_1 / "docker-compose.yaml"
    compose.write_text(
        "services:\n  client:\n    build:\n      dockerfile: Dockerfile\n"
        "    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}\n    command: [sh, -c, sleep infinity]\n"
        "    environment:\n      - TEST_DIR=${T_BENCH_TEST_DIR}\n      - KEY=${HOST_KEY}\n"
    )
    spec = terminal_task(terminal_bench_1).container(network=True)
    assert (spec.image, spec.network) == (str(terminal_bench_1 / "Dockerfile"), True)
    assert spec.environment == {"TEST_DIR": "/tests", "KEY": ""}
    assert not terminal_task(terminal_bench_1).container().network
    compose.write_text("services: {client: {image: debian, environment: {A: 1}}}\n")
    assert terminal_task(terminal_bench_1).image == "debian"
    compose.write_text("services: {client: {build: app}}\n")
    assert terminal_task(terminal_bench_1).image == str(terminal_bench_1 / "app")
    compose.write_text("services: {client: {build: .}, database: {image: x}}\n")
    with pytest.raises(
        SourceError, match=r"docker-compose\.yaml: the task needs more containers \(database\)"
    ):
        terminal_task(terminal_bench_1)
    compose.write_text("services: {}\n")
    with pytest.raises(MalformedError, match="no service `client`"):
        terminal_task(terminal_bench_1)
    compose.unlink()
    (terminal_bench_1 / "task.yaml").write_text("instruction: x\nparser_name: swelancer\n")
    with pytest.raises(SourceError, match="`parser_name` is 'swelancer'"):
        terminal_task(terminal_bench_1)


def test_other_folders(harbor: Path, terminal_bench_1: Path, tmp_path: Path) -> None:
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
    (terminal_bench_1 / "run-tests.sh").unlink()
    with pytest.raises(SourceError, match=r"run-tests\.sh: No such file"):
        terminal_task(terminal_bench_1)
    (terminal_bench_1 / "task.yaml").write_text("- 1\n")
    with pytest.raises(MalformedError, match="no `instruction`"):
        terminal_task(terminal_bench_1)


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
@pytest.mark.usefixtures("images")
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


REFERENCE = {
    "repository": "pallets/flask",
    "tests_s": 1800.0,
    "fail_to_pass": ["test_sums.py::test_add"],
    "pass_to_pass": ["test_sums.py::test_zero"],
}


@pytest.mark.parametrize(
    ("output", "value", "reason"),
    [
        ("PASSED test_sums.py::test_add\nPASSED test_sums.py::test_zero", 1, ""),
        (
            "FAILED test_sums.py::test_add\nPASSED test_sums.py::test_zero",
            0,
            "still failing: test_sums.py::test_add",
        ),
        (
            "PASSED test_sums.py::test_add\nFAILED test_sums.py::test_zero",
            0,
            "broken: test_sums.py::test_zero",
        ),
        ("", 0, "no valid run"),
        ("OSError: Cannot allocate memory", None, "infrastructure: out_of_memory"),
        ("ModuleNotFoundError: No module named 'sums'", 0, "no valid run"),
    ],
)
def test_verdicts_on_logs(output: str, value: float | None, reason: str) -> None:
    """A sign that no patch can cause is distinguished from a patch that does not resolve the issue."""
    log = f">>>>> Applied Patch:\n+ : '>>>>> Start Test Output'\n{output}\n+ : '>>>>> End Test Output'\n"
    score = swe_bench.verdict(REFERENCE, PatchedRun(log, applied=True))
    assert score.value == value
    assert score.reason.startswith(reason)
    assert score.status is (Status.INFRA_ERROR if value is None else Status.SCORED)


def test_verdicts_without_tests() -> None:
    """A patch that does not apply, tests that take too long, and answers without a patch."""
    assert swe_bench.verdict(REFERENCE, PatchedRun("", applied=False)).reason.startswith(
        "the patch does not apply"
    )
    late = swe_bench.verdict(REFERENCE, PatchedRun("", applied=True, timed_out=True))
    assert (late.value, late.reason) == (0, "the tests took more than 1800 s")
    assert swe_bench.grade(REFERENCE, Answer("")).reason == "the patch is empty"
    lost = Answer("", episode=EpisodeOutcome("completed", details={"no_patch": "not a repository"}))
    assert swe_bench.grade(REFERENCE, lost).status is Status.UNPARSED


def test_patches_in_answers() -> None:
    """What is marked as a patch, whatever else is there."""
    patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n"
    for text in (
        f"<think>no</think><patch>\n{patch}</patch>",
        f"Here:\n```diff\n{patch}```\nDone.",
        patch,
        patch[:-1],
    ):
        assert patch_in(text) == patch
    assert patch_in("```python\nx\n```\n```patch\ny\n```") == "y\n"
    assert patch_in(" ") == " "
    binary = "diff --git a/y b/y\nGIT binary patch\nliteral 1\n"
    assert without_binary_files(patch + binary) == patch


def test_the_exit_code_of_the_tests_is_in_the_log() -> None:
    """After the mark of their end, and before what the script does next."""
    script = "pytest\n: '>>>>> End Test Output'\ngit checkout x"
    assert with_exit_code(script).split("\n") == [
        "pytest",
        "TEST_EXIT_CODE=$?",
        ": '>>>>> End Test Output'",
        'echo ">>>>> Test Exit Code: $TEST_EXIT_CODE"',
        "git checkout x",
    ]
    assert with_exit_code("pytest") == "pytest"


TESTS_OF_PRO = """from sums import add
print(f"test_add {add(1, 2) == 3}")
print(f"test_zero {add(1, 0) == 1}")
"""
PARSER = """import json, sys
lines = [line.split() for line in open(sys.argv[1])]
tests = [{"name": name, "status": "PASSED" if passed == "True" else "FAILED"} for name, passed in lines]
json.dump({"tests": tests}, open(sys.argv[3], "w"))
"""


@pytest.fixture
def clone(repository: Path) -> Path:
    """The files that SWE-bench Pro has of an instance, and the image of its repository in `/app`."""
    write(
        repository,
        {
            "Dockerfile": f"FROM {IMAGE}\nCOPY testbed /app\nRUN ln -s python3 /usr/bin/python\n",
            "dockerfiles/base_dockerfile/own-1/Dockerfile": "FROM x\nENV NAME=check.py\n",
            "dockerfiles/instance_dockerfile/own-1/Dockerfile": "FROM y\n",
            "run_scripts/own-1/run_script.sh": f"cat > $NAME <<'EOF'\n{TESTS_OF_PRO}EOF\npython $NAME\n",
            "run_scripts/own-1/parser.py": PARSER,
        },
    )
    return repository


def question_of_pro(clone: Path) -> Question:
    """The question of the only instance."""
    row = {
        "instance_id": "own-1",
        "repo": "own/sums",
        "base_commit": "HEAD",
        "problem_statement": "add(1, 2) is -1",
        "before_repo_set_cmd": "git clean -fd\ngit status",
        "selected_test_files_to_run": "['check.py']",
        "dockerhub_tag": "own-1",
        "fail_to_pass": "['test_add']",
        "pass_to_pass": ["test_zero"],
    }
    workload = swe_bench_pro.WORKLOAD
    options = {**workload.options, "images": str(clone), "mode": "patch"}
    rows = iter([FileRow("own.jsonl, line 1", row)])
    (question,) = workload.questions(Inputs(rows, lambda _: (), options, clone))
    return question


@pytest.mark.docker
@pytest.mark.usefixtures("images")
def test_an_instance_like_those_of_swe_bench_pro(clone: Path) -> None:
    """Its own script runs the tests, and its own parser says which of them passed."""
    reference = json.loads(json.dumps(question_of_pro(clone).reference))
    assert swe_bench_pro.grade(reference, Answer(f"```diff\n{FIX}```")).value == 1
    score = swe_bench_pro.grade(reference, Answer("I do not know."))
    assert (score.value, score.reason) == (0, "still failing: test_add")
    reference["files"]["parser.py"] = "raise SystemExit('no results')"
    score = swe_bench_pro.grade(reference, Answer(FIX))
    assert score.status is Status.INFRA_ERROR
    assert score.reason.startswith("the container failed: the instance's parser left no output.json")


def test_the_scripts_of_swe_bench_pro(clone: Path) -> None:
    """They are those of a clone; without it, the message says where it is to be had."""
    entry = question_of_pro(clone).reference["files"]["entryscript.sh"]
    assert entry.split("\n")[:6] == [
        "export NAME=check.py",
        "cd /app",
        "git reset --hard HEAD",
        "git checkout HEAD",
        "git apply -v /workspace/patch.diff",
        "git status",
    ]
    (clone / "run_scripts/own-1/parser.py").unlink()
    with pytest.raises(SourceError, match=r"parser\.py: No such file.*: clone https://github\.com/scaleapi"):
        question_of_pro(clone)
