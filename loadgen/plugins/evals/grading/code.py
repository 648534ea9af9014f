"""Code in an answer: extraction, and the outcome of a run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.sandbox.job import ProgramLimits
from loadgen.plugins.sandbox.programs import run
from workloads.sandbox_contract import SandboxError
from workloads.score import Score, failed, graded

if TYPE_CHECKING:
    from loadgen.plugins.sandbox.job import Job

_PYTHON: Final = re.compile(r"```python\n(.*?)```", re.DOTALL)
_BODY: Final = ":\n    "
_OPENING: Final = re.compile(r"([ \t]*)(`{3,}|~{3,})[^`]*")
_FENCE: Final = "```"
_FENCES: Final = 2
_START_S: Final = 3.0
"""What a process may take until its program runs, on a machine with other work to do."""


def function_body(text: str) -> str:
    """The body of the function in an answer, by openai/simple-evals (`humaneval_eval.py`).

    Of the first block marked `python`, else of the whole text, what stands behind the first `:` that an
    indented line follows; behind the first character where there is none.
    """
    match = _PYTHON.search(text)
    code = match[1] if match else text
    return code[code.find(_BODY) + 2 :]


def fenced_blocks(text: str) -> list[str]:
    """The blocks between fences, of any language or none; an open fence extends to the end."""
    blocks: list[list[str]] = []
    opening: re.Match[str] | None = None
    for line in text.split("\n"):
        if opening is None:
            opening = _OPENING.fullmatch(line.rstrip())
            if opening is not None:
                blocks.append([])
        elif line.strip().startswith(opening[2]) and not line.strip().strip(opening[2][0]):
            opening = None
        else:
            blocks[-1].append(line.removeprefix(opening[1]))
    return ["\n".join([*block, ""]) for block in blocks]


def defining_block(text: str, name: str) -> str | None:
    """The first fenced block that defines a function; all of a text without fences; None where none does."""
    defines = re.compile(rf"^(?:async )?def {re.escape(name)}\b", re.MULTILINE)
    return next((block for block in fenced_blocks(text) or [text] if defines.search(block)), None)


def last_block(text: str) -> str:
    """The text between the last two fence lines; empty without two (LiveCodeBench)."""
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if _FENCE in line]
    return "\n".join(lines[fences[-2] + 1 : fences[-1]]) if len(fences) >= _FENCES else ""


def score_of(job: Job, extracted: str, wall_s: float) -> Score:
    """1 for a job that passes, 0 for a job that fails, with the ending as the reason."""
    try:
        outcome = run(job, ProgramLimits(wall_s=wall_s + _START_S))
    except SandboxError as error:
        return failed(f"the sandbox failed: {error}")
    reason = "" if outcome.ending == "passed" else f"{outcome.ending}: {outcome.reason}"
    return graded(outcome.ending == "passed", extracted, reason, tests_passed=outcome.passed)
