"""A scoring pass: from the answers that a log has to SCORED events in the same log.

It asks nothing of the endpoint and needs no dataset: scores are a function of the log, and of what judges
said, which is in the log as well. What is graded is written at once, so that a pass that was killed is gone
on with.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.observer import SILENT
from loadgen.sessions.run.run_folder import folder_of, still_running
from loadgen.sessions.scoring.choice import Chosen, choose
from loadgen.sessions.scoring.options import ScoringOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.observer import Observer
    from loadgen.sessions.scoring.grading import Grading
    from loadgen.sessions.scoring.pool import Result
    from recorder.schema import Row
    from recorder.writer import EventRecorder
    from reporter.answers import ReadTexts, Stored
    from reporter.log.database import OpenLog
    from reporter.log.passes import Scorable

DEFAULT: Final = ScoringOptions()

GRADINGS_A_PROCESS: Final = 16
"""So many are worth the start of a further process."""

_MOST_WAITING: Final = 20_000
"""So many events may wait for the disk before no more are made."""

_PACKAGES: Final = (
    "llm-loadgen",
    "nltk",
    "langdetect",
    "math-verify",
    "sympy",
    "latex2sympy2_extended",
    "tree-sitter",
    "tree-sitter-java",
    "tree-sitter-javascript",
)
"""What scores may depend on, where it is installed."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """What a pass has come to.

    Attributes:
        number: Of the pass.
        graded: How many gradings were made now, by their status.
        found: How many the pass had already, for it was gone on with.
    """

    number: int
    graded: Mapping[str, int] = field(default_factory=dict)
    found: int = 0

    @property
    def summary(self) -> str:
        """What came of the pass, in a line."""
        counts = ", ".join(f"{count:,} {status}" for status, count in sorted(self.graded.items()))
        before = f"; {self.found:,} were there before" if self.found else ""
        return f"pass {self.number}: {counts or 'nothing was left to score'}{before}"


@dataclass(frozen=True, slots=True)
class _PassPlan:
    """A pass that is to be made, or gone on with.

    Attributes:
        number: Of the pass.
        chosen: Its scorers.
        told: What SCORING_STARTED says.
        found: How many gradings there are.
        total: How many there are to be.
        after_seq: The last event that this is known from.
    """

    number: int
    chosen: Sequence[Chosen]
    told: Mapping[str, Any]
    found: int
    total: int
    after_seq: int


def score_run(folder: Path, options: ScoringOptions = DEFAULT, observer: Observer = SILENT) -> Scoring:
    """Score the answers of a run in a new pass; one that was not finished is gone on with.

    Args:
        folder: The run's folder, or its log.
        options: How.
        observer: Hears how far it is.

    Raises:
        UsageError, TaskError: There is nothing to score, or nothing of the kind that was asked for.
        BeingWrittenError: Another process writes the run.
        LogError, OldLogError: It is no log that can be gone on with.
        EvalError: An eval function cannot be used.
        ExtraError, SourceError: A package, or a model that graders take, is missing; nothing was scored.
        SetupError: The processes that grade do not start.
        KeyboardInterrupt: It was interrupted; what was scored is in the log.
    """
    from reporter.log.database import open_log

    require_scorable(folder)
    if options.data is not None:
        from workloads.grading.english import offer

        offer(options.data)
    with open_log(folder) as log:
        plan = _plan(log, folder, options)
        _require_all(log, folder, plan.chosen)
        if options.judge is None or options.reparse or not any(one.scorer.ask for one in plan.chosen):
            return _scored(log, folder, plan, options, observer)
    from loadgen.sessions.scoring.judge import ask_judges

    judging = ask_judges(folder, plan.chosen, options, observer)
    with open_log(folder) as log:
        plan = _plan(log, folder, options, None if judging is None else asdict(judging))
        return _scored(log, folder, plan, options, observer)


def _require_all(log: OpenLog, folder: Path, chosen: Sequence[Chosen]) -> None:
    """Look at what judging takes before the pass begins."""
    from loadgen.sessions.scoring.needs import require_all
    from reporter.answers import references, texts_of

    with texts_of(folder) as read:
        require_all(chosen, references(log, read))


def require_scorable(run: Path) -> None:
    """Make sure that a run is over and that its log can be gone on with.

    Raises:
        BeingWrittenError: It is being written.
        LogError, OldLogError: It is not a log, or not one to go on with.
    """
    from recorder.lock import is_held
    from recorder.store import log_path, require_current

    log = log_path(run)
    require_current(log)
    if is_held(log.resolve().parent):
        raise still_running(folder_of(run))


def _plan(
    log: OpenLog,
    folder: Path,
    options: ScoringOptions,
    judging: Mapping[str, Any] | None = None,
) -> _PassPlan:
    from reporter.log.passes import scorable

    there = scorable(log)
    if not there.tasks:
        raise UsageError(
            f"{folder_of(folder)} asked no questions of a benchmark, so there is nothing to score: "
            "`loadgen accuracy TASK` asks some, and so does `loadgen perf --task TASK`"
        )
    chosen = choose(list(there.tasks), options, there.accuracy)
    told = {
        "scorers": [one.told() for one in chosen],
        "options": _kept(options, chosen),
        "versions": _versions(),
        **({} if judging is None else {"judging": judging}),
    }
    number, found = _number(there, told)
    total = sum(there.tasks[one.task] for one in chosen)
    return _PassPlan(number, chosen, {"pass": number, **told}, found, total, there.last_seq)


def _number(there: Scorable, told: Mapping[str, Any]) -> tuple[int, int]:
    """The number of an unfinished pass that is this one, else the next; and what it has come to.

    One whose scorers a later pass had too is over: the later one is told of. So is one since which a judge
    has answered: what it has found pending is not.
    """
    same = [{name: scorer[name] for name in _SAME} for scorer in told["scorers"]]
    for one in reversed(there.passes):
        had = [{name: scorer[name] for name in _SAME} for scorer in one.scorers]
        unfinished = one.ended != "completed" and not one.outdated
        if unfinished and one.options == told["options"] and had == same:
            return one.number, one.graded
        if any(scorer in same for scorer in had):
            break
    return max((one.number for one in there.passes), default=0) + 1, 0


_SAME: Final = ("task", "scorer", "version", "definition", "judge")


def _kept(options: ScoringOptions, chosen: Sequence[Chosen]) -> dict[str, Any]:
    """What the log keeps of the options: what scores depend on."""
    from loadgen.driver.client.endpoint import endpoint

    asks = any(one.scorer.ask for one in chosen)
    url = endpoint(options.judge.url, {}).url if options.judge else None
    return {
        "allow_code_execution": options.allow_code_execution,
        "judge": {"url": url, **_judge(options)} if asks and options.model else None,
        "grader_timeout_s": options.grader_timeout_s,
        **({"sandbox": _sandbox()} if any(one.scorer.runs_code for one in chosen) else {}),
    }


def _sandbox() -> str:
    """What isolates the programs that are run; first, what earlier ones have left is removed.

    Raises:
        SetupError: No program can be run here.
    """
    from workloads.sandbox.job import SandboxError
    from workloads.sandbox.local import isolation, remove_leftovers

    remove_leftovers()
    try:
        return isolation()
    except SandboxError as error:
        raise SetupError(f"code that the model wrote cannot be run on this machine: {error}") from error


def _judge(options: ScoringOptions) -> dict[str, Any]:
    """Who judges, and how it is sampled where that is not as the prompts say."""
    return options.judge.facts() if options.judge else {"model": options.model}


def _versions() -> dict[str, str]:
    import platform

    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _scored(
    log: OpenLog, folder: Path, plan: _PassPlan, options: ScoringOptions, observer: Observer
) -> Scoring:
    """Make the pass."""
    from loadgen.sessions.run.environment import environment
    from recorder.event import EventType
    from recorder.store import log_path
    from recorder.writer import EventRecorder

    graded: Counter[str] = Counter()
    with EventRecorder(
        path=log_path(folder),
        environment=environment() | {"kind": "scoring"},
        resume=True,
        after_seq=plan.after_seq,
    ) as recorder:
        recorder.record_event(EventType.SCORING_STARTED, time.monotonic_ns(), data=plan.told)
        reason = "interrupted"
        try:
            _grade(log, folder, plan, options, recorder, graded, observer)
            reason = "completed"
        finally:
            ended = {"pass": plan.number, "reason": reason}
            recorder.record_event(EventType.SCORING_ENDED, time.monotonic_ns(), data=ended)
    return Scoring(plan.number, dict(graded), plan.found)


def _grade(
    log: OpenLog,
    folder: Path,
    plan: _PassPlan,
    options: ScoringOptions,
    recorder: EventRecorder,
    graded: Counter[str],
    observer: Observer,
) -> None:
    """Grade what the pass has not graded yet, and write it."""
    from loadgen.sessions.scoring.pool import GraderLimits, Pool
    from reporter.answers import texts_of

    left = plan.total - plan.found
    limits = GraderLimits(options.grader_timeout_s, options.grader_memory)
    with (
        texts_of(folder) as read,
        Pool(
            [(one.task, one.scorer) for one in plan.chosen],
            plan.number,
            (options.model, options.sampling),
            _processes(options, left),
            limits,
            _secrets(plan.chosen),
        ) as pool,
        observer.scoring(plan.total, plan.found) as show,
    ):
        for results in pool.results(_gradings(log, plan, read)):
            graded.update(result.status for result in results)
            recorder.put_rows(_rows(results), time.monotonic_ns())
            if recorder.waiting > _MOST_WAITING or recorder.failure:
                recorder.wait_for_writes()
            show(plan.found + graded.total(), graded)


def _gradings(log: OpenLog, plan: _PassPlan, read: ReadTexts) -> Iterator[Grading]:
    """Everything that is left to grade, in the order in which the answers came."""
    from loadgen.sessions.scoring.grading import Grading
    from reporter.answers import stored_answers

    of_task: dict[str, list[int]] = {}
    for number, one in enumerate(plan.chosen):
        of_task.setdefault(one.task, []).append(number)

    def left(stored: Stored) -> Iterator[Grading]:
        for number in of_task.get(stored.task, ()):
            if plan.chosen[number].scorer.name not in stored.done:
                yield Grading(stored, number)

    for batch in stored_answers(log, plan.number, read):
        for stored in batch:
            yield from left(stored)


def _rows(results: Sequence[Result]) -> list[Row]:
    from recorder.event import EventType

    now_ns = time.monotonic_ns()
    code = EventType.SCORED.value
    return [(code, now_ns, result.sample_uuid, result.payload, None, None) for result in results]


def _processes(options: ScoringOptions, gradings: int) -> int:
    from loadgen.driver.workers.sizing import usable_cpus

    wanted = options.processes or usable_cpus()
    return max(1, min(wanted, -(-gradings // GRADINGS_A_PROCESS)))


def _secrets(chosen: Sequence[Chosen]) -> frozenset[str]:
    """What no grading process may inherit: where one runs what a model wrote, every key that is known of."""
    from loadgen.driver.client.redaction import VARIABLES

    return frozenset(VARIABLES) if any(one.scorer.runs_code for one in chosen) else frozenset()
