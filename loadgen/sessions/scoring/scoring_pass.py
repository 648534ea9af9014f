"""A scoring pass: from the answers in a log to SCORED events in that log.

It needs neither the endpoint nor the dataset: scores are a function of the log, which also has the judges'
replies. Each score is written at once, so that a pass that was killed can be resumed.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass, field
from loadgen.driver.client.endpoint import endpoint
from loadgen.sessions.environment import environment
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import folder_of, require_log, still_running
from loadgen.sessions.observer import SILENT, Observer
from loadgen.sessions.scoring.choice import Chosen, choose
from loadgen.sessions.scoring.grader_pool import Pool
from loadgen.sessions.scoring.grading_work import Grading
from loadgen.sessions.scoring.judge import ask_judges
from loadgen.sessions.scoring.site import Here, Site
from loadgen.sessions.settings.scoring_choices import ScoringChoices
from recorder.continued_log import require_current
from recorder.event import EventType
from recorder.lock import is_held
from recorder.store import log_path
from recorder.writer import EventRecorder
from reporter.accuracy.scoring_passes import Scorable, scorable
from reporter.log.database import OpenLog, open_log
from reporter.stored_answers import ReadTexts, Stored, references, stored_answers, texts_of
from workloads.registry import service

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.scoring.grader import Result
    from recorder.schema import Row
    from reporter.values.task_score import TaskScore

DEFAULT: Final = ScoringChoices()

_MOST_WAITING: Final = 20_000
"""The number of events that may wait for the disk before grading pauses."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """The result of a pass."""

    number: int
    graded: Mapping[str, int] = field(default_factory=dict)
    graded_before: int = 0
    scorers: frozenset[tuple[str, str]] = frozenset()

    def is_left_out(self, scores: Iterable[TaskScore]) -> bool:
        """Whether answers have no score in the pass, for which scores show an earlier one."""
        return bool({"judge_pending", "infra_error"} & self.graded.keys()) and any(
            score.pass_ != self.number for score in scores if (score.task, score.scorer) in self.scorers
        )

    @property
    def summary(self) -> str:
        """The result of the pass, in a line."""
        counts = ", ".join(f"{count:,} {status}" for status, count in sorted(self.graded.items()))
        before = f"; {self.graded_before:,} were there before" if self.graded_before else ""
        return f"pass {self.number}: {counts or 'nothing was left to score'}{before}"


@dataclass(frozen=True, slots=True)
class _PassPlan:
    """A pass that is to be made, or resumed."""

    number: int
    chosen: Sequence[Chosen]
    contents: Mapping[str, Any]
    graded_before: int
    total: int
    after_seq: int


def score_run(folder: Path, options: ScoringChoices = DEFAULT, observer: Observer = SILENT) -> Scoring:
    """Score the answers of a run in a new pass; an unfinished one is resumed.

    Raises:
        UsageError, TaskError: The run has nothing to score, or a task or scorer does not exist.
        BeingWrittenError: Another process writes the run.
        LogError, OldLogError: It is not a log that can be resumed.
        EvalError: An eval function cannot be used.
        ExtraError, SourceError: A package, or a model that graders need, is missing; nothing was scored.
        SetupError: The grading processes do not start.
        KeyboardInterrupt: It was interrupted; what was scored is in the log.
    """
    require_scorable(folder)
    place: AbstractContextManager[Site] = (
        nullcontext(Here(options)) if options.ray is None else service("graders_on_ray")(options, observer)
    )
    with place as site:
        with open_log(folder) as log:
            there, chosen = _scorable(log, folder, options)
            with texts_of(folder) as read:
                facts = site.check(chosen, references(log, read))
            if (
                options.judge is None
                or options.reparse
                or not any(chosen_scorer.scorer.ask for chosen_scorer in chosen)
            ):
                plan = _plan(there, chosen, options, facts)
                return _scored(log, folder, plan, site, observer)
        judging = ask_judges(folder, chosen, options, observer)
        with open_log(folder) as log:
            there, chosen = _scorable(log, folder, options)
            plan = _plan(there, chosen, options, facts, None if judging is None else asdict(judging))
            return _scored(log, folder, plan, site, observer)


def require_scorable(run: Path) -> None:
    """Check that a run has ended and that scoring can append to the log."""
    from reporter.log.settings import settings

    log = log_path(run)
    require_log(
        run,
        "score the run where its events.db is; --pass N reports an earlier scoring pass",
    )
    require_current(log)
    if imported := settings(run).get("imported"):
        why = (
            "another program measured it"
            if imported.get("measured")
            else "the harness has scored the answers"
        )
        raise UsageError(f"{folder_of(run)} was imported: {why}")
    if is_held(log.resolve().parent):
        raise still_running(folder_of(run))


def _scorable(log: OpenLog, folder: Path, options: ScoringChoices) -> tuple[Scorable, Sequence[Chosen]]:
    there = scorable(log)
    if not there.tasks:
        raise UsageError(
            f"{folder_of(folder)} asked no questions of a benchmark, so there is nothing to score: "
            "`loadgen accuracy TASK` asks some, and so does `loadgen perf --task TASK`"
        )
    return there, choose(list(there.tasks), options, there.accuracy)


def _plan(
    there: Scorable,
    chosen: Sequence[Chosen],
    options: ScoringChoices,
    facts: Mapping[str, Any],
    judging: Mapping[str, Any] | None = None,
) -> _PassPlan:
    contents = {
        "scorers": [chosen_scorer.facts() for chosen_scorer in chosen],
        "options": {**_stored_options(options, chosen), **facts["sandbox"]},
        "versions": facts["versions"],
        **({} if judging is None else {"judging": judging}),
    }
    number, graded_before = _number(there, contents)
    total = sum(there.tasks[chosen_scorer.task] for chosen_scorer in chosen)
    return _PassPlan(number, chosen, {"pass": number, **contents}, graded_before, total, there.last_seq)


def _number(there: Scorable, contents: Mapping[str, Any]) -> tuple[int, int]:
    """The number of the matching unfinished pass, else the next number; and the number of gradings.

    A pass counts as finished if a later pass had its scorers: the later one is reported. So does a pass after
    which a judge has answered: its pending scores are outdated.
    """
    same = [{name: scorer[name] for name in _SAME} for scorer in contents["scorers"]]
    for scoring_pass in reversed(there.passes):
        had = [{name: scorer[name] for name in _SAME} for scorer in scoring_pass.scorers]
        unfinished = scoring_pass.ended != "completed" and not scoring_pass.outdated
        if unfinished and scoring_pass.options == contents["options"] and had == same:
            return scoring_pass.number, scoring_pass.graded
        if any(scorer in same for scorer in had):
            break
    return max((scoring_pass.number for scoring_pass in there.passes), default=0) + 1, 0


_SAME: Final = ("task", "scorer", "version", "definition", "judge")


def _stored_options(options: ScoringChoices, chosen: Sequence[Chosen]) -> dict[str, Any]:
    """The options that scores depend on, for the log."""
    asks = any(chosen_scorer.scorer.ask for chosen_scorer in chosen)
    url = endpoint(options.judge.url, {}).url if options.judge else None
    judge = options.judge.facts() if options.judge else {"model": options.model}
    return {
        "allow_code_execution": options.allow_code_execution,
        "judge": {"url": url, **judge} if asks and options.model else None,
        "grader_timeout_s": options.grader_timeout_s,
    }


def _scored(log: OpenLog, folder: Path, plan: _PassPlan, site: Site, observer: Observer) -> Scoring:
    graded: Counter[str] = Counter()
    with EventRecorder(
        path=log_path(folder),
        environment=environment() | {"kind": "scoring"},
        resume=True,
        after_seq=plan.after_seq,
    ) as recorder:
        recorder.record_event(EventType.SCORING_STARTED, time.monotonic_ns(), data=plan.contents)
        reason = "interrupted"
        try:
            _grade(log, folder, plan, site, recorder, graded, observer)
            reason = "completed"
        finally:
            ended = {"pass": plan.number, "reason": reason}
            recorder.record_event(EventType.SCORING_ENDED, time.monotonic_ns(), data=ended)
    scorers = frozenset((chosen.task, chosen.scorer.name) for chosen in plan.chosen)
    return Scoring(plan.number, dict(graded), plan.graded_before, scorers)


def _grade(
    log: OpenLog,
    folder: Path,
    plan: _PassPlan,
    site: Site,
    recorder: EventRecorder,
    graded: Counter[str],
    observer: Observer,
) -> None:
    left = plan.total - plan.graded_before
    with (
        texts_of(folder) as read,
        Pool(site.graders(plan.chosen, plan.number, left)) as pool,
        observer.scoring(plan.total, plan.graded_before) as show,
    ):
        scored, total = 0, 0.0
        for results in pool.results(_gradings(log, plan, read)):
            graded.update(result.status for result in results)
            values = [result.value for result in results if result.value is not None]
            scored, total = scored + len(values), total + sum(values)
            recorder.put_rows(_rows(results), time.monotonic_ns())
            if recorder.waiting > _MOST_WAITING or recorder.failure:
                recorder.wait_for_writes()
            show(plan.graded_before + graded.total(), graded, total / scored if scored else None)


def _gradings(log: OpenLog, plan: _PassPlan, read: ReadTexts) -> Iterator[Grading]:
    """The remaining gradings, in the order of the answers."""
    of_task: dict[str, list[int]] = {}
    for number, chosen_scorer in enumerate(plan.chosen):
        of_task.setdefault(chosen_scorer.task, []).append(number)

    def left(stored: Stored) -> Iterator[Grading]:
        for number in of_task.get(stored.task, ()):
            if plan.chosen[number].scorer.name not in stored.done:
                yield Grading(stored, number)

    for batch in stored_answers(log, plan.number, read):
        for stored in batch:
            yield from left(stored)


def _rows(results: Sequence[Result]) -> list[Row]:
    now_ns = time.monotonic_ns()
    code = EventType.SCORED.value
    return [(code, now_ns, result.sample_uuid, result.payload, None, None) for result in results]
