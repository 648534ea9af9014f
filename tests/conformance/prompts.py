"""The prompts of MT-Bench's judge, word by word, as FastChat publishes them."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from tests.conformance.agreement import Agreement

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEEDS: Final = ("mt_bench/judge_prompts.jsonl.gz",)


def agreements(data: Path) -> Iterator[Agreement]:
    """Each prompt that is used here."""
    with gzip.open(data / NEEDS[0], "rt", encoding="utf-8") as lines:
        published = {prompt["name"]: prompt for prompt in map(json.loads, lines)}
    ours = judge_prompts("mt_bench").prompts
    wrong = tuple(
        name
        for name, prompt in ours.items()
        if (prompt.system, prompt.user)
        != (published[name]["system_prompt"], published[name]["prompt_template"])
    )
    yield Agreement("mt_bench/judge's prompts", len(ours), len(ours) - len(wrong), wrong=wrong)
