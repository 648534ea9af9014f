"""What a reader of a score should know: how programs that the model wrote were isolated."""

from __future__ import annotations

from typing import Any

import pytest

from reporter.accuracy.asked import ScorerPass
from reporter.accuracy.notes import of_scoring
from reporter.accuracy.score_rows import SampleCounts
from reporter.values.scorer_definitions import Definition

COUNTS = SampleCounts(
    **{name: 0 for name in SampleCounts.__dataclass_fields__ if name not in {"bounded", "why"}},
    bounded=True,
    why=None,
)


def notes(options: dict[str, Any], *, runs_code: bool = True) -> list[str]:
    """The notes on a finished pass with these options."""
    scored = ScorerPass(1, "humaneval", "official", 1, "a paper", "", "completed", options)
    return list(of_scoring(scored, Definition(runs_code=runs_code), COUNTS))


@pytest.mark.parametrize(
    ("sandbox", "text"),
    [
        ("namespaces+landlock+seccomp", "isolated by namespaces, landlock, seccomp"),
        ("landlock", "isolated by landlock, without namespaces, seccomp, which its kernel did not give"),
        ("", "isolated by limits alone"),
    ],
)
def test_how_programs_were_isolated(sandbox: str, text: str) -> None:
    """The note names what the kernel offered where the answers were scored."""
    (note,) = notes({"sandbox": sandbox})
    assert text in note


def test_the_image_of_containers() -> None:
    """The note names it as it was given."""
    (note,) = notes({"sandbox": "docker", "sandbox_image": {"image": "python:3.12-slim", "id": "sha256:1"}})
    assert note == "programs ran in containers of python:3.12-slim (docs/sandbox.md)"


def test_no_word_of_a_sandbox_where_none_was_needed() -> None:
    """Neither of a scorer that runs nothing, nor of a pass whose log does not say."""
    assert notes({"sandbox": "landlock"}, runs_code=False) == []
    assert notes({}) == []
