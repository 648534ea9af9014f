"""Names of benchmarks as users write them, in places where the log has the benchmark's own."""

from __future__ import annotations

import re
from typing import Final

from workloads.catalog import task_name

_SCORE: Final = re.compile(r"\baccuracy\.([\w-]+)", re.ASCII)


def canonical_rule(text: str) -> str:
    """A rule, or a metric, with the benchmark's own name: `accuracy.mmlu_pro` for `accuracy.MMLU-Pro`.

    What names no benchmark stays as it is.
    """
    return _SCORE.sub(lambda found: f"accuracy.{task_name(found[1]) or found[1]}", text)
