"""Asking a judge about the answers of a run: what is open, and nothing else, is asked and goes into its log.

What a judge has said is read by graders, later and as often as wanted. So an inquiry is open until this judge
has answered it; and again, whenever somebody gives a judge, where no grader can read what it answered.
"""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from loadgen.driver.client import chat_completions
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.errors import EndpointError
from loadgen.driver.judge_client import JudgeCall, JudgeClient
from loadgen.driver.stop import Stop
from loadgen.sessions.errors import UsageError
from loadgen.sessions.observer import SILENT
from loadgen.sessions.run.environment import environment
from loadgen.sessions.run.recording import recording
from recorder.store import log_path
from recorder.writer import EventRecorder
from reporter.answers import NEEDED, stored_answers, texts_of
from reporter.log.database import open_log
from workloads.score import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.judge_client import Tally
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.scoring.choice import Chosen
    from loadgen.sessions.scoring.options import JudgeEndpoint, ScoringOptions
    from reporter.answers import Stored
    from reporter.log.database import OpenLog
    from workloads.scorer import Inquiry

KIND: Final = "judging"
"""Of a segment in which judges are asked."""


@dataclass(frozen=True, slots=True)
class Judging:
    """How asking a judge went.

    Attributes:
        url: Of the judge, without secrets.
        model: That judged.
        open: How many inquiries were open.
        answered: How many of them were answered.
        failed: How many were not, by the failure's name.
        gave_up: Why the rest was not asked; empty for no such reason.
    """

    url: str
    model: str
    open: int = 0
    answered: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    gave_up: str = ""

    @property
    def problem(self) -> str:
        """What went wrong, as a sentence for the user; empty where nothing did."""
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
    run: Path, chosen: Sequence[Chosen], options: ScoringOptions, observer: Observer = SILENT
) -> Judging | None:
    """Ask the judge everything about a run that is open. What is not answered stays so: a score is pending.

    Args:
        run: The run's folder, or its log; nobody else may be writing it.
        chosen: The scorers that want to know.
        options: Say who judges, and whether anybody is to be asked.
        observer: Hears how far it is, and what failed.

    Returns:
        How that went; None where nobody was to be asked.

    Raises:
        UsageError: The judge's URL or key cannot be used.
        LogError: The log is damaged, or cannot be gone on with.
        WriterError: The log could not be written.
        KeyboardInterrupt: It was interrupted; what was answered is in the log.
    """
    wanting = [one for one in chosen if one.scorer.ask is not None]
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
            tally, interrupted = asyncio.run(_ask(run, asking, judge, target, show, observer))
    done = Judging(target.url, judge.model, open_calls, tally.answered, dict(tally.failed), tally.gave_up)
    if done.problem:
        observer.note(f"warning: {done.problem}")
    if interrupted:
        raise KeyboardInterrupt
    return done


def judge_endpoint(judge: JudgeEndpoint) -> Endpoint:
    """Where the judge is, with the headers that its requests carry.

    Raises:
        UsageError: The URL or the key cannot be used.
    """
    try:
        return endpoint(judge.url, chat_completions.headers(judge.api_key))
    except EndpointError as error:
        told = str(error).replace("--url", "--judge-url").replace("--header Authorization", "--judge-api-key")
        raise UsageError(told.replace("--api-key or --header", "--judge-api-key")) from error


def calls(
    log: OpenLog, run: Path, wanting: Sequence[Chosen], judge: JudgeEndpoint
) -> Generator[JudgeCall, None, None]:
    """Everything that is open between a run and a judge, in the order of the answers.

    Args:
        log: As by `reporter.log.database.open_log`, with `reporter.answers.NEEDED`.
        run: The run's folder, or its log.
        wanting: The scorers that want to know something.
        judge: Who is to be asked, and how it is sampled.
    """
    with texts_of(run) as read:
        for batch in stored_answers(log, 0, read):
            for stored in batch:
                for one in wanting:
                    for inquiry in _open(one, stored, judge):
                        yield JudgeCall(stored.sample_uuid, one.key, one.scorer.judge, inquiry)


def _open(one: Chosen, stored: Stored, judge: JudgeEndpoint) -> Sequence[Inquiry]:
    """What a scorer has yet to know about an answer."""
    scorer = one.scorer
    if stored.task != one.task or scorer.ask is None:
        return ()
    reference = stored.held_against()
    answer = stored.answer(scorer.judge, judge.model, judge.sampling.label)
    try:
        asked = scorer.ask(reference, answer)
        unknown = [inquiry for inquiry in asked if inquiry.key not in answer.judged]
        unreadable = not unknown and scorer.grade(reference, answer).status is Status.INFRA_ERROR
    except Exception:  # noqa: BLE001 (what is wrong with a scorer is said where it grades)
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
    """Make calls in a segment of their own; tell whether somebody asked to stop."""
    stop = Stop()
    recorder = EventRecorder(
        path=log_path(run),
        environment={**environment(), "kind": KIND},
        resume=True,
        on_failure=_stopper(stop),
    )
    with closing(recorder), stop.on_signals():
        async with recording(recorder, stop, observer):
            transport = HttpTransport(target, Timeouts(total_s=judge.timeout_s, named="--judge-timeout"))
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
                # Whoever still reads the log would hold up its end.
                asking.close()
                await transport.close()
    return tally, stop.asked.is_set()


def _stopper(stop: Stop) -> Callable[[Exception], None]:
    """Give everything up, from the writer's thread: nothing can be recorded any more."""
    loop = asyncio.get_running_loop()

    def ask(_: Exception) -> None:
        loop.call_soon_threadsafe(stop.ask)
        loop.call_soon_threadsafe(stop.ask)

    return ask
