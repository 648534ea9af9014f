"""The 58 instructions of IFBench that IFEval does not have (Pyatkin et al., arXiv:2507.02833).

The definition is allenai/IFBench at db69a6f, `ifbench/instructions.py`: the checks are its own, its oddities
included, so that verdicts are the same. Where that code draws an argument that is missing at random, here it
is an error; where it ends with an exception, the text does not follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.ifbench.counts import COUNTS
from loadgen.plugins.evals.grading.ifbench.custom import CUSTOM
from loadgen.plugins.evals.grading.ifbench.format_instructions import FORMATS
from loadgen.plugins.evals.grading.ifbench.word_instructions import WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.plugins.evals.grading.instruction import Instruction

IFBENCH: Final[Mapping[str, Instruction]] = {**COUNTS, **WORDS, **FORMATS, **CUSTOM}
"""Every instruction by its id."""
