"""A patch in an instance's container: apply the patch, run the tests, and keep the results.

SWE-bench 5.0.2 (`swebench/harness/run_evaluation.py`): the order, the four ways to apply a patch and the
marks in the log; `grading.swe_bench` reads the log. SWE-bench Pro (scaleapi/SWE-bench_Pro-os at
0875a8af, `swe_bench_pro_eval.py`): the files of its workspace, and the output of its parser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.sandbox_contract import CommandResult, Sandbox

TESTS_S: Final = 1800.0
FOLDER: Final = "/testbed"
WORKSPACE: Final = "/workspace"
"""Of SWE-bench Pro."""

_PATCH: Final = "/tmp/patch.diff"  # noqa: S108 (of the container)
_SCRIPT: Final = "/tmp/eval.sh"  # noqa: S108 (likewise)
_CLEAN: Final = "git checkout -- . ; git clean -fd"
"""What a way that failed has left, `--reject` above all, would make the next one fail."""
_WAYS: Final = (
    f"git apply --verbose {_PATCH}",
    f"{_CLEAN}; git apply --verbose --3way {_PATCH}",
    f"{_CLEAN}; git apply --verbose --reject {_PATCH}",
    f"{_CLEAN}; patch --batch --forward --fuzz=5 -p1 -i {_PATCH}",
    f"git apply --check --reverse {_PATCH}",
)
_APPLY_S: Final = 120.0
_END: Final = ">>>>> End Test Output"
_EXIT_CODE: Final = ">>>>> Test Exit Code"


@dataclass(frozen=True, slots=True)
class PatchedRun:
    """The tests of a patched repository.

    Attributes:
        log: All that was written, with the marks of the harness.
        applied: Whether it could be applied; if not, no test was run.
        timed_out: Whether the tests took too long.
    """

    log: str
    applied: bool
    timed_out: bool = False


def run_patched(
    sandbox: Sandbox, patch: str, script: str, *, folder: str = FOLDER, timeout_s: float = TESTS_S
) -> PatchedRun:
    """Apply a patch to the repository, and run the instance's script.

    Args:
        sandbox: A new container of the instance's image.
        patch: The model's, as `git diff` writes it.
        script: Applies the patch of the tests, and runs them between the marks of the harness.
        folder: Where the repository is.
        timeout_s: Of the script.

    Raises:
        SandboxError: The container failed, or the tests reached one of its limits: nothing is known of the
            patch.
    """
    sandbox.put_files({_PATCH: patch.encode(), _SCRIPT: with_exit_code(script).encode()})
    log = ""
    for way in _WAYS:
        result = sandbox.exec(f'cd "{folder}" && {{ {way}; }}', _APPLY_S)
        log += result.stdout + result.stderr
        if result.ok:
            break
    else:
        return PatchedRun(f">>>>> Patch Apply Failed:\n{log}", applied=False)
    tests = _within_limits(sandbox.exec(f'cd "{folder}" && bash {_SCRIPT} 2>&1', timeout_s))
    log = f">>>>> Applied Patch:\n{log}\n{tests.stdout}"
    timed_out = tests.ending == "timed_out"
    if timed_out:
        log += f"\n>>>>> Tests Timed Out: after {timeout_s:g} seconds\n"
    return PatchedRun(log, applied=True, timed_out=timed_out)


def with_exit_code(script: str) -> str:
    """The script of an instance, so that the exit code of the tests is in the log, after the mark of the end.

    The script's own is that of what comes after the tests.
    """
    lines = script.split("\n")
    for number, line in enumerate(lines):
        if _END in line:
            lines[number : number + 1] = ["TEST_EXIT_CODE=$?", line, f'echo "{_EXIT_CODE}: $TEST_EXIT_CODE"']
            break
    return "\n".join(lines)


def run_workspace(
    sandbox: Sandbox, files: Mapping[str, str], entry: str, *, timeout_s: float = TESTS_S
) -> tuple[str | None, str]:
    """Run an instance of SWE-bench Pro; return the parser's output, and the test output.

    Args:
        sandbox: A new container of the instance's image.
        files: Of the workspace, by their names.
        entry: The name of the file that is run.
        timeout_s: How long it may take.

    Returns:
        The text of `output.json`, None where the tests took too long; and the log.

    Raises:
        SandboxError: The container failed, the tests reached one of its limits, or the parser left nothing.
    """
    sandbox.put_files({f"{WORKSPACE}/{name}": content.encode() for name, content in files.items()})
    tests = _within_limits(sandbox.exec(f"bash {WORKSPACE}/{entry} 2>&1", timeout_s))
    if tests.ending == "timed_out":
        return None, tests.stdout
    try:
        output = sandbox.get_file(f"{WORKSPACE}/output.json")
    except FileNotFoundError as error:
        last = " ".join(tests.stdout.split())[-200:]
        raise SandboxError(f"the instance's parser left no output.json: {last}") from error
    return output.decode(errors="replace"), tests.stdout


def _within_limits(result: CommandResult) -> CommandResult:
    if result.ending in {"out_of_memory", "too_much_output"}:
        raise SandboxError(f"the tests reached a limit of the container: {result.ending}")
    return result
