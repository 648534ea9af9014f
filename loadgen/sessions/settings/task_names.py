"""Names of benchmarks as users write them, in places where the log has the benchmark's own."""

from __future__ import annotations

import re
from typing import Final

from workloads.catalog import task_name

_SCORE: Final = re.compile(r"\baccuracy\.([\w-]+)", re.ASCII)


def canonical_rule(text: str) -> str:
    """A rule, or a metric, with the benchmark's own name: `accuracy.mmlu_pro` for `accuracy.MMLU-Pro`.

    Other names stay as they are.
    """
    return _SCORE.sub(lambda match: f"accuracy.{task_name(match[1]) or match[1]}", text)
