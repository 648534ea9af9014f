"""A patch: out of an answer, into an instance's container, and the results of the tests.

SWE-bench 5.0.2 (`swebench/harness/run_evaluation.py`): the order, the four ways to apply a patch and the
marks in the log; `grading.swe_bench` reads the log. SWE-bench Pro (scaleapi/SWE-bench_Pro-os at
0875a8af, `swe_bench_pro_eval.py`): the files of its workspace, and the output of its parser.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.answer import Answer
    from workloads.open_sandbox import CommandResult, Sandbox

_TAGGED: Final = re.compile(r"<([\w-]+)>(.*?)</\1>", re.DOTALL)
_FENCED: Final = re.compile(r"```(\w+)?\n(.*?)```", re.DOTALL)
_PATCHES: Final = frozenset({"diff", "patch"})
_FILE: Final = re.compile(r"(?=^diff --git )", re.MULTILINE)
_BINARY: Final = re.compile(r"^(?:Binary files .* differ|GIT binary patch)$", re.MULTILINE)


def patch_of(answer: Answer) -> str | None:
    """The patch of an episode, or else of the answer's text; None where the episode left none."""
    if answer.episode is not None:
        patch = answer.episode.details.get("patch")
        return patch if isinstance(patch, str) else None
    return patch_in(answer.text)


def patch_in(text: str) -> str:
    """The patch in a text, by SWE-bench 5.0.2 (`swebench/inference/make_datasets/utils.py`).

    The first element `<patch>` or `<diff>`, else the first block marked so, else the first other element or
    block, else the whole text. A patch ends with a line feed.
    """
    parts = [*_TAGGED.findall(text), *_FENCED.findall(text)]
    marked = [content for name, content in parts if name in _PATCHES]
    patch: str = (marked or [content for _, content in parts] or [text.split("</s>", maxsplit=1)[0]])[
        0
    ].lstrip("\n")
    return patch if patch.endswith("\n") or not patch.strip() else f"{patch}\n"


def without_binary_files(patch: str) -> str:
    """A patch without binary files (scaleapi/SWE-bench_Pro-os at 0875a8af)."""
    return "".join(part for part in _FILE.split(patch) if part.strip() and not _BINARY.search(part))


TESTS_S: Final = 1800.0
FOLDER: Final = "/testbed"
WORKSPACE: Final = "/workspace"
"""Of SWE-bench Pro."""

_PATCH: Final = "/tmp/patch.diff"  # noqa: S108 (of the container)
_SCRIPT: Final = "/tmp/eval.sh"  # noqa: S108 (as above)
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
    """The tests of a patched repository."""

    log: str
    applied: bool
    timed_out: bool = False


def run_patched(
    sandbox: Sandbox, patch: str, script: str, *, folder: str = FOLDER, timeout_s: float = TESTS_S
) -> PatchedRun:
    """Apply a patch to the repository, and run the instance's script.

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
