"""SWE-bench in an instance's container: a patch is applied, the tests run, and a log is kept.

The order, the three ways to apply a patch and the marks in the log are those of SWE-bench 5.0.2
(`swebench/harness/run_evaluation.py`). `workloads.grading.swe_bench` reads the log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workloads.sandbox.base import Sandbox

TESTS_S: Final = 1800.0
FOLDER: Final = "/testbed"

_PATCH: Final = "/tmp/patch.diff"  # noqa: S108 (of the container)
_SCRIPT: Final = "/tmp/eval.sh"  # noqa: S108 (likewise)
_WAYS: Final = ("git apply --verbose", "git apply --verbose --reject", "patch --batch --fuzz=5 -p1 -i")
_APPLY_S: Final = 120.0


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
        SandboxError: The container failed: nothing is known of the patch.
    """
    sandbox.put_files({_PATCH: patch.encode(), _SCRIPT: script.encode()})
    log = ""
    for way in _WAYS:
        result = sandbox.exec(f'cd "{folder}" && {way} {_PATCH}', _APPLY_S)
        log += result.stdout + result.stderr
        if result.ok:
            break
    else:
        return PatchedRun(f">>>>> Patch Apply Failed:\n{log}", applied=False)
    tests = sandbox.exec(f"bash {_SCRIPT} 2>&1", timeout_s)
    log = f">>>>> Applied Patch:\n{log}\n{tests.stdout}"
    if tests.ending == "timed_out":
        log += f"\n>>>>> Tests Timed Out: after {timeout_s:g} seconds\n"
    return PatchedRun(log, applied=True, timed_out=tests.ending == "timed_out")
