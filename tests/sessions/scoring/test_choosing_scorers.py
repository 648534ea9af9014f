"""Which scorer judges which task."""

from __future__ import annotations

from typing import Any

import pytest

from loadgen.sessions.scoring.choice import choose, scorer_named
from loadgen.sessions.scoring.options import ScoringOptions
from workloads.catalog import TASKS, workload
from workloads.errors import TaskError

TASK = next(name for name in TASKS if len(workload(name).scorers) > 1)
"""One that can be scored in several ways."""

OTHER = workload(TASK).scorers[1].name


def names(*tasks: str, started_with: Any = None, **options: Any) -> dict[str, str]:
    """What is chosen, by the tasks."""
    allowed = ScoringOptions(allow_code_execution=True, **options)
    return {one.task: one.scorer.name for one in choose(tasks, allowed, started_with)}


def test_a_task_has_its_official_scorer() -> None:
    """Unless something else was said."""
    assert names(TASK, "gsm8k") == {TASK: "official", "gsm8k": "official"}
    assert all(one.official for one in choose(["gsm8k"], ScoringOptions()))


def test_what_is_said_now_goes_before_what_was_said_first() -> None:
    """And what names a task before what does not; a name alone is for those tasks that have it."""
    kept = {"scorers": {TASK: OTHER}}
    assert names(TASK, started_with=kept) == {TASK: OTHER}
    assert names(TASK, started_with=kept, scorers=("official",)) == {TASK: "official"}
    assert names(TASK, "gsm8k", scorers=(OTHER,)) == {TASK: OTHER, "gsm8k": "official"}
    assert names(TASK, scorers=(f"{TASK}=official", OTHER)) == {TASK: "official"}


def test_a_file_is_called_as_rules_call_it() -> None:
    """By its short name, and by its whole one."""
    for name in ("faq", "data/faq.jsonl"):
        assert names("data/faq.jsonl", scorers=(f"{name}=exact",)) == {"data/faq.jsonl": "exact"}


def test_another_scorer_is_not_the_official_one() -> None:
    """A report says so."""
    (one,) = choose([TASK], ScoringOptions(scorers=(OTHER,), allow_code_execution=True))
    assert not one.official
    assert one.key == f"{TASK}/{OTHER}"


def test_what_there_is_not_is_said_with_what_there_is() -> None:
    """The nearest name, or all of them."""
    with pytest.raises(TaskError, match="gsm8k: no scorer 'officia'; did you mean 'official'"):
        scorer_named("gsm8k", "officia")
    with pytest.raises(TaskError, match="no task of this run has it"):
        names("gsm8k", scorers=("nobody's",))
    with pytest.raises(TaskError, match="has no task 'gsm9k'; did you mean 'gsm8k'"):
        names("gsm8k", scorers=("gsm9k=official",))


def test_programs_of_a_model_run_only_where_that_is_allowed() -> None:
    """The message says how to allow it."""
    with pytest.raises(TaskError, match="--allow-code-execution"):
        choose(["humaneval"], ScoringOptions())
    assert names("humaneval") == {"humaneval": "official"}
