"""Calls to a judge about a run's answers, into the run's log; only open inquiries are made.

Graders read a judge's replies later, any number of times. So an inquiry is open until this judge has answered
it, and again in each pass with a judge if no grader can read the reply.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass, field
from loadgen.driver.client import chat_completions
from loadgen.driver.client.endpoint import Endpoint, endpoint
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.errors import EndpointError
from loadgen.driver.judge_client import JudgeCall, JudgeClient, Tally
from loadgen.driver.stop import Stop
from loadgen.driver.system.signals import run_async
from loadgen.sessions.environment import environment
from loadgen.sessions.errors import UsageError
from loadgen.sessions.loop_recorder import recording
from loadgen.sessions.observer import SILENT, Observer
from recorder.store import log_path
from recorder.writer import EventRecorder
from reporter.log.database import OpenLog, open_log
from reporter.stored_answers import NEEDED, Stored, stored_answers, texts_of
from workloads.score import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.scoring.choice import Chosen
    from loadgen.sessions.settings.scoring_choices import JudgeEndpoint, ScoringChoices
    from workloads.scorer import Inquiry

KIND: Final = "judging"
"""The kind of a segment with calls to judges."""


@dataclass(frozen=True, slots=True)
class Judging:
    """The results of calls to a judge.

    Attributes:
        url: The judge's URL, without secrets.
        model: The judge's model.
        open: How many inquiries were open.
        answered: How many of them were answered.
        failed: How many calls failed, by the failure's name.
        gave_up: Why the remaining calls were not made; empty if they were.
    """

    url: str
    model: str
    open: int = 0
    answered: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    gave_up: str = ""

    @property
    def problem(self) -> str:
        """The failures as a sentence for the user; empty where all succeeded."""
        if not self.failed and not self.gave_up:
            return ""
        failures = ", ".join(f"{name} {count}" for name, count in sorted(self.failed.items()))
        left = self.open - self.answered
        why = f"; the judge was given up ({self.gave_up})" if self.gave_up else ""
        return (
            f"{left} of {self.open} inquiries to the judge {self.model} are not answered ({failures}){why}; "
            "`loadgen score` with the same judge asks those that are left"
        )


def ask_judges(
    run: Path, chosen: Sequence[Chosen], options: ScoringChoices, observer: Observer = SILENT
) -> Judging | None:
    """Make all open inquiries about a run. A score without a reply stays pending.

    Returns:
        The results; None where no judge was to be called.

    Raises:
        UsageError: The judge's URL or key cannot be used.
        LogError: The log is damaged, or cannot be resumed.
        WriterError: The log could not be written.
        KeyboardInterrupt: It was interrupted; what was answered is in the log.
    """
    wanting = [chosen_scorer for chosen_scorer in chosen if chosen_scorer.scorer.ask is not None]
    judge = options.judge
    if judge is None or options.reparse or not wanting:
        return None
    target = judge_endpoint(judge)
    with open_log(run, NEEDED) as log:
        open_calls = sum(1 for _ in calls(log, run, wanting, judge))
        if not open_calls:
            return Judging(target.url, judge.model)
        asking = calls(log, run, wanting, judge)
        with observer.judging(open_calls) as show:
            tally, interrupted = run_async(lambda: _ask(run, asking, judge, target, show, observer))
    done = Judging(target.url, judge.model, open_calls, tally.answered, dict(tally.failed), tally.gave_up)
    if done.problem:
        observer.note(f"warning: {done.problem}")
    if interrupted:
        raise KeyboardInterrupt
    return done


def judge_endpoint(judge: JudgeEndpoint) -> Endpoint:
    """The judge's endpoint, with request headers."""
    try:
        return endpoint(judge.url, chat_completions.headers(judge.api_key))
    except EndpointError as error:
        message = (
            str(error).replace("--url", "--judge-url").replace("--header Authorization", "--judge-api-key")
        )
        raise UsageError(message.replace("--api-key or --header", "--judge-api-key")) from error


def calls(
    log: OpenLog, run: Path, wanting: Sequence[Chosen], judge: JudgeEndpoint
) -> Generator[JudgeCall, None, None]:
    """The open inquiries of a run to a judge, in the order of the answers.

    Args:
        log: As by `reporter.log.database.open_log`, with `reporter.stored_answers.NEEDED`.
        run: The run's folder, or its log.
        wanting: The scorers with inquiries.
        judge: The judge, and how it is sampled.
    """
    with texts_of(run) as read:
        for batch in stored_answers(log, 0, read):
            for stored in batch:
                for chosen_scorer in wanting:
                    for inquiry in _open(chosen_scorer, stored, judge):
                        yield JudgeCall(
                            stored.sample_uuid, chosen_scorer.key, chosen_scorer.scorer.judge, inquiry
                        )


def _open(chosen_scorer: Chosen, stored: Stored, judge: JudgeEndpoint) -> Sequence[Inquiry]:
    scorer = chosen_scorer.scorer
    if stored.task != chosen_scorer.task or scorer.ask is None:
        return ()
    reference = stored.parsed_reference()
    answer = stored.answer(scorer.judge, judge.model, judge.sampling.label)
    try:
        asked = scorer.ask(reference, answer)
        unknown = [inquiry for inquiry in asked if inquiry.key not in answer.judged]
        unreadable = not unknown and scorer.grade(reference, answer).status is Status.INFRA_ERROR
    except Exception:  # noqa: BLE001 (errors of a scorer are reported when it grades)
        return ()
    return asked if unreadable else unknown


async def _ask(
    run: Path,
    asking: Generator[JudgeCall, None, None],
    judge: JudgeEndpoint,
    target: Endpoint,
    on_done: Callable[[Tally], None],
    observer: Observer,
) -> tuple[Tally, bool]:
    """Make calls in a separate segment; return whether a stop was requested."""
    stop = Stop()
    recorder = EventRecorder(
        path=log_path(run),
        environment={**environment(), "kind": KIND},
        resume=True,
        on_failure=stop.on_failure(),
    )
    with closing(recorder), stop.on_signals():
        async with recording(recorder, stop, observer):
            transport = HttpTransport(target, Timeouts(timeout_s=judge.timeout_s, named="--judge-timeout"))
            client = JudgeClient(
                transport,
                judge.model,
                recorder.put,
                timeout_s=judge.timeout_s,
                concurrency=judge.concurrency,
                sampling=judge.sampling,
            )
            try:
                tally = await client.ask(asking, stop, on_done)
            finally:
                # A process that still reads the log would delay its end.
                asking.close()
                await transport.close()
    return tally, stop.asked.is_set()
