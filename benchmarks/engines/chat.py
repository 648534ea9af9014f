"""The steps of engines with chats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.engines.engine import CHECK, COMPARE, HERE, MODELS, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.engines.engine import Pair

REQUESTS = 40
SHARE = 0.8  # tiny_models.py taught the model 8 of the 10 questions
SHAPE = ("--input-tokens", "128", "--output-tokens", "32", "--tokenizer", str(MODELS / "tiny"))


def chat_steps(pairs: Sequence[Pair], *options: str) -> list[Step]:
    """Check, two equal runs with these options and the comparison, the questions, and a search."""
    load = ("perf", *options, *SHAPE, "-c", "4", "-n", str(REQUESTS))
    ends = (0,) if pairs else (0, 4)  # an answer of any length may be empty
    return [
        Step("check", (*CHECK, "--timeout", "300s")),
        Step("perf", load, pairs, ends),
        Step("perf again", load, pairs, ends),
        Step("compare", (*COMPARE, "{perf}", "{perf again}"), allowed=(0, 1, 5)),
        Step(
            "accuracy",
            (
                *("accuracy", str(HERE / "questions.jsonl"), "--max-tokens", "16", "-c", "4"),
                *("--require", f"accuracy.questions:value>={SHARE}"),
                *("--require", f"accuracy.questions:value<={SHARE}"),
            ),
            pairs,
        ),
        Step(
            "search",
            (
                *("search", *options, *SHAPE, "--require", "ttft:p(90)<1s", "-c", "1..8"),
                *("--within", "50%", "--point-duration", "4s", "--budget", "30s"),
            ),
            allowed=(0, 1, 4, 5),
        ),
    ]


def image_steps(pairs: Sequence[Pair], *options: str) -> list[Step]:
    """Check, and a run of chats with an image: some are large enough for an upload to be observed."""
    images = ("--images", "1", "--image-format", "png", "--image-size", "640x480=1,112x84=3")
    load = ("perf", *options, *images, *SHAPE, "-c", "4", "-n", str(REQUESTS))
    return [
        Step("check", (*CHECK, "--timeout", "300s")),
        Step("images", load, pairs, (0,) if pairs else (0, 4)),
    ]
