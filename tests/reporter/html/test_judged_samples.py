"""A sample of a page has the words of its judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from recorder import Event, EventType, schema
from recorder.continued_log import reopen
from recorder.session import Session
from tests.reporter.accuracy.conftest import LATER_MS, Benchmark
from tests.reporter.conftest import BASE_NS, WALL_NS, ns
from tests.reporter.html.conftest import SAFE, MadePage, made_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

JUDGE = "small-judge"
QUESTION = {"question": "Why is the sky blue?"}
EXTRACTED = "scattering"


def judged_page(a_run: Callable[..., Any], folder: Path, replies: dict[str, str]) -> MadePage:
    """The page of a run of one question whose answer a judge has seen.

    Args:
        a_run: Starts a run.
        folder: Of the page.
        replies: What the judge said, by inquiry.
    """
    asked = Benchmark(a_run()).asks("essay", 1)
    prompt = {"prompt_id": 0, "prompt": QUESTION["question"]}
    asked.run.answers(
        *(5, 7),
        at_ms=0,
        uuid="request 0",
        issue={"about": {"prompt_id": 0}, "prompt": prompt},
        texts={"output": f"Because of {EXTRACTED}. {SAFE}"},
    )
    run = asked.write()
    judging = Session("", ns(LATER_MS), WALL_NS + ns(LATER_MS) - BASE_NS, {}, {"kind": "scoring"})
    store = reopen(run / "events.db", judging)
    store.append([schema.row(event) for event in scored(replies)])
    store.close()
    return made_page(run, folder / "report.html")


def scored(replies: dict[str, str]) -> Iterator[Event]:
    """A scoring pass with a judge: its calls, and the score."""
    scorer = {"task": "essay", "scorer": "official", "version": 1, "definition": "a book", "judge": JUDGE}
    yield Event(EventType.SCORING_STARTED, ns(LATER_MS), None, {"pass": 1, "scorers": [scorer]})
    for number, (inquiry, words) in enumerate(replies.items()):
        at_ns = ns(LATER_MS + 1 + number)
        call = {"phase": "judge", "scheduled_ns": at_ns, "judges": "request 0", "inquiry": inquiry}
        call |= {"scorer": "essay/official", "judge_version": "j@1", "model": JUDGE}
        yield Event(EventType.LOADGEN_ISSUE_CALLED, at_ns, f"judge {number}", call)
        yield Event(EventType.COMPLETE, at_ns + 5, f"judge {number}", {"texts": {"output": words}})
    score = {"pass": 1, "scorer": "official", "value": 0.5, "status": "scored", "extracted": EXTRACTED}
    score |= {"reason": "half right", "metrics": {}}
    yield Event(EventType.SCORED, ns(LATER_MS + 50), "request 0", score)
    yield Event(EventType.SCORING_ENDED, ns(LATER_MS + 60), None, {"pass": 1, "reason": "completed"})


@pytest.mark.slow
def test_a_sample_has_everything_that_its_score_rests_on(a_run: Callable[..., Any], tmp_path: Path) -> None:
    """Question, answer, extracted, verdict and the judge's words, which are text and nothing else."""
    page = judged_page(a_run, tmp_path, {"": f"Half right: {SAFE}"})
    section = page.html.partition('id="samples"')[2].partition("</details>")[0]
    for words in (QUESTION["question"], "Because of scattering.", EXTRACTED, "half right", "Half right: "):
        assert words in section, words
    assert "Judge" in section
    assert "<script>" not in section


@pytest.mark.slow
def test_each_inquiry_of_a_judge_has_its_words(a_run: Callable[..., Any], tmp_path: Path) -> None:
    """By the name of the inquiry."""
    section = judged_page(a_run, tmp_path, {"style": "Plain.", "facts": "Right."}).html
    for words in ("Judge, style", "Plain.", "Judge, facts", "Right."):
        assert words in section, words
