"""Every instruction by id: the 25 of IFEval, and the 58 of IFBench."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.ifbench import IFBENCH
from loadgen.plugins.evals.grading.ifeval_instructions import IFEVAL
from workloads.errors import TaskError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from loadgen.plugins.evals.grading.instruction import Follows, Instruction

INSTRUCTIONS: Final[Mapping[str, Instruction]] = {**IFEVAL, **IFBENCH}


def follows(
    name: str,
    arguments: Mapping[str, Any],
    chance: Random | None = None,
    instructions: Mapping[str, Instruction] = INSTRUCTIONS,
) -> Follows:
    """The check of an instruction with arguments.

    Args:
        name: The instruction's id: `keywords:existence`.
        arguments: All that it takes, and nothing else.
        chance: Draws what the official code draws; None has the same text judged the same every time.
        instructions: All of a benchmark by their ids.

    Raises:
        TaskError: The instruction does not exist, or not with such arguments.
        ExtraError, SourceError: A package, or its data, is missing which this instruction takes.
    """
    instruction = instructions.get(name)
    if instruction is None:
        raise TaskError(f"no instruction {name!r}{did_you_mean(name, instructions)}")
    wanted = instruction.arguments
    for key in arguments:
        if key not in wanted:
            names = ", ".join(wanted) or "none"
            raise TaskError(f"{name}: no argument {key!r}; arguments: {names}{did_you_mean(key, wanted)}")
    for key, kind in wanted.items():
        if not kind.fits(arguments.get(key)):
            raise TaskError(f"{name}: {key} is {arguments.get(key)!r}, where {kind.wanted} should be")
    return instruction.follows(chance, **arguments)
