"""Which scorer judges which task."""

from __future__ import annotations

from typing import Any

import pytest

from loadgen.sessions.scoring.choice import choose, scorer_named
from loadgen.sessions.settings.scoring_choices import ScoringChoices
from workloads.catalog import names, workload
from workloads.errors import TaskError

TASK = next(name for name in names() if len(workload(name).scorers) > 1)
"""One that can be scored in several ways."""

OTHER = workload(TASK).scorers[1].name


def names(*tasks: str, started_with: Any = None, **options: Any) -> dict[str, str]:
    """The name of the scorer that is chosen for each task."""
    allowed = ScoringChoices(allow_code_execution=True, **options)
    return {choice.task: choice.scorer.name for choice in choose(tasks, allowed, started_with)}


def test_a_task_has_its_official_scorer() -> None:
    """Unless an option names another."""
    assert names(TASK, "gsm8k") == {TASK: "official", "gsm8k": "official"}
    assert all(choice.official for choice in choose(["gsm8k"], ScoringChoices()))


def test_an_option_overrides_the_scorers_that_the_run_started_with() -> None:
    """And TASK=NAME overrides NAME; a name alone is for the tasks that have it."""
    stored = {"scorers": {TASK: OTHER}}
    assert names(TASK, started_with=stored) == {TASK: OTHER}
    assert names(TASK, started_with=stored, scorers=("official",)) == {TASK: "official"}
    assert names(TASK, "gsm8k", scorers=(OTHER,)) == {TASK: OTHER, "gsm8k": "official"}
    assert names(TASK, scorers=(f"{TASK}=official", OTHER)) == {TASK: "official"}


def test_a_file_is_called_as_rules_call_it() -> None:
    """By its short name, and by its whole one."""
    for name in ("faq", "data/faq.jsonl"):
        assert names("data/faq.jsonl", scorers=(f"{name}=exact",)) == {"data/faq.jsonl": "exact"}


def test_another_scorer_is_not_the_official_one() -> None:
    """The report says that it is not official."""
    (choice,) = choose([TASK], ScoringChoices(scorers=(OTHER,), allow_code_execution=True))
    assert not choice.official
    assert choice.key == f"{TASK}/{OTHER}"


def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    """The message has the nearest name, or all of them."""
    with pytest.raises(TaskError, match="gsm8k: no scorer 'officia'; did you mean 'official'"):
        scorer_named("gsm8k", "officia")
    with pytest.raises(TaskError, match="no task of this run has it"):
        names("gsm8k", scorers=("nobody's",))
    with pytest.raises(TaskError, match="no such task in the run: 'gsm9k'; did you mean 'gsm8k'"):
        names("gsm8k", scorers=("gsm9k=official",))


def test_programs_of_a_model_run_only_where_that_is_allowed() -> None:
    """The message says how to allow it."""
    with pytest.raises(TaskError, match="--allow-code-execution"):
        choose(["humaneval"], ScoringChoices())
    assert names("humaneval") == {"humaneval": "official"}
