"""The events of imported results.

Their times order them and nothing else: of what this program did not see it has no stamps. When an episode
started and how long it took, as far as its harness recorded it, is in EPISODE_ENDED alone.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import uuid4

from lazy_dataclasses import dataclass
from recorder import payloads
from recorder.event import Event, EventType
from workloads.scorer import HARNESS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from loadgen.plugins.imports.results.harness_results import Attempt, HarnessResults, ResultFormat
    from recorder.session import Session

PASS: Final = 1
_S: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Imported:
    """Results with the names that they have in the log."""

    chosen: ResultFormat
    results: HarnessResults
    uuids: Sequence[str]
    prompts: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, chosen: ResultFormat, results: HarnessResults) -> Self:
        """Name the attempts, and number the prompts in the order of the parts and of the harness."""
        parts = list(dict.fromkeys(attempt.part for attempt in results.attempts))
        ordered = sorted(results.attempts, key=lambda attempt: parts.index(attempt.part))
        tasks = dict.fromkeys((attempt.part, attempt.task_id) for attempt in ordered)
        uuids = [uuid4().hex for _ in results.attempts]
        return cls(chosen, results, uuids, {task: number for number, task in enumerate(tasks)})

    def attempts(self) -> Iterator[tuple[str, Attempt]]:
        """Each attempt with its name."""
        return zip(self.uuids, self.results.attempts, strict=True)


def run_events(imported: Imported, session: Session) -> Iterator[Event]:
    """The events of the run: what was asked, and how it ended."""
    chosen, results, prompts = imported.chosen, imported.results, imported.prompts
    event = _in_order(session)
    yield event(EventType.TEST_STARTED)
    yield event(EventType.FINDING, data=_finding(chosen, results))
    for question in _questions(chosen, results.attempts, prompts):
        yield event(EventType.QUESTION, data=question)
    for uuid, attempt in imported.attempts():
        prompt = prompts[attempt.part, attempt.task_id]
        issued = _issued(attempt, prompt, session.started_at_ns, uuid)
        yield event(EventType.LOADGEN_ISSUE_CALLED, uuid, issued)
        if attempt.ending == "failed":
            yield event(EventType.ERROR, uuid, _failed(attempt))
        else:
            yield event(EventType.REQUEST_SENT, uuid)
            yield event(EventType.COMPLETE, uuid, _complete(attempt))
        if attempt.ending is not None:
            yield event(EventType.EPISODE_ENDED, data=_episode(attempt, prompt, uuid, session))
    yield event(EventType.TEST_ENDED, data=payloads.SessionEnded(reason="completed"))


def scoring_events(imported: Imported, session: Session) -> Iterator[Event]:
    """The events of the scoring, which is a separate segment."""
    event = _in_order(session)
    yield event(EventType.SCORING_STARTED, data=_scoring(imported.chosen, imported.results.attempts))
    for uuid, attempt in imported.attempts():
        yield event(EventType.SCORED, uuid, _scored(attempt))
    yield event(EventType.SCORING_ENDED, data={"pass": PASS, "reason": "completed"})


def _in_order(session: Session) -> Callable[..., Event]:
    """Makes events whose times follow each other from the start of a segment on."""
    moments = count(session.started_at_ns)

    def event(kind: EventType, uuid: str | None = None, data: Any = None) -> Event:
        return Event(kind, next(moments), uuid, data)

    return event


def task_of(chosen: ResultFormat, part: str) -> str:
    """The name of a part's scores: its data set's, else the format's."""
    return part or chosen.name


def _finding(chosen: ResultFormat, results: HarnessResults) -> payloads.Finding:
    """Where the log is from, and what it lacks."""
    attempts = results.attempts
    has = {
        "times": any(attempt.duration_s is not None for attempt in attempts),
        "token counts": any(attempt.output_tokens is not None for attempt in attempts),
        "costs": any("cost_usd" in attempt.metrics for attempt in attempts),
        "numbers of turns": any(attempt.turns is not None for attempt in attempts),
        "answers": any(attempt.answer is not None for attempt in attempts),
        "the name of the model": results.model is not None,
    }
    lacking = [name for name, is_there in has.items() if not is_there]
    missing = f" The results do not have: {', '.join(lacking)}." if lacking else ""
    whose = " Durations of episodes are the harness's." if has["times"] else ""
    return payloads.Finding(
        code="imported",
        severity="warning",
        message=f"The results were imported ({chosen.name}): another program ran and scored them. No request "
        f"was measured: the run has no latencies, TTFT or throughput.{whose}{missing}",
        remedy=f"To measure the endpoint as well, let this program run the harness: --agent-command "
        f"@{chosen.preset}."
        if chosen.preset
        else None,
    )


def _questions(
    chosen: ResultFormat, attempts: Sequence[Attempt], prompts: Mapping[tuple[str, str], int]
) -> Iterator[payloads.Question]:
    first = {(attempt.part, attempt.task_id): attempt for attempt in reversed(attempts)}
    for (part, task), number in prompts.items():
        tags = dict(first[part, task].tags)
        yield payloads.Question(prompt_id=number, task=task_of(chosen, part), id=task, tags=tags or None)


def _issued(attempt: Attempt, prompt: int, at_ns: int, uuid: str) -> payloads.Issued:
    issued = payloads.Issued(scheduled_ns=at_ns, phase="performance", prompt_id=prompt)
    if attempt.ending is not None:
        issued.update({"conversation": uuid, "turn": 0, "episode": True})
    if attempt.prompt is not None:
        issued["texts"] = {"prompt": attempt.prompt}
    return issued


def _complete(attempt: Attempt) -> payloads.Complete:
    texts = None if attempt.answer is None else payloads.OutputTexts(output=attempt.answer)
    return payloads.Complete(**_tokens(attempt), stream=False, texts=texts)


def _failed(attempt: Attempt) -> payloads.Failed:
    return payloads.Failed(
        **_tokens(attempt), error=attempt.failure or "failed", message=attempt.reason, stream=False
    )


def _tokens(attempt: Attempt) -> payloads.Response:
    return payloads.Response(
        input_tokens=attempt.input_tokens,
        output_tokens=attempt.output_tokens,
        cached_tokens=attempt.cached_tokens,
    )


def _episode(attempt: Attempt, prompt: int, uuid: str, session: Session) -> payloads.EpisodeEnded:
    duration_s, started = attempt.duration_s, attempt.started
    duration_ns = None if duration_s is None else round(duration_s * _S)
    started_ns = None
    if started is not None:
        started_ns = session.started_at_ns + round(started.timestamp() * _S) - session.started_wall_ns
    elif duration_ns is not None:
        started_ns = session.started_at_ns - duration_ns
    return payloads.EpisodeEnded(
        conversation=uuid,
        prompt_id=prompt,
        phase="performance",
        started_ns=started_ns if duration_ns is not None else None,
        duration_ns=duration_ns,
        turns=attempt.turns,
        ending=attempt.ending or "completed",
        reason=attempt.reason,
        reward=attempt.value,
        texts={"messages": list(attempt.messages)} if attempt.messages else None,
    )


def _scoring(chosen: ResultFormat, attempts: Sequence[Attempt]) -> payloads.ScoringStarted:
    tasks = dict.fromkeys(task_of(chosen, attempt.part) for attempt in attempts)
    scorers: list[Mapping[str, Any]] = [
        {"task": task, "scorer": HARNESS, "version": None, "definition": chosen.definition, "judge": ""}
        for task in tasks
    ]
    return {"pass": PASS, "scorers": scorers}


def _scored(attempt: Attempt) -> payloads.Scored:
    details = dict(attempt.details) | ({"failure": attempt.failure} if attempt.failure else {})
    is_missing = attempt.ending == "failed"
    return {
        "pass": PASS,
        "scorer": HARNESS,
        "status": "missing" if is_missing else "scored" if attempt.is_parsed else "unparsed",
        "value": 0.0 if is_missing else attempt.value,
        "reason": attempt.reason,
        "metrics": dict(attempt.metrics),
        "details": details,
    }
