"""The answers of a run as graders need them: read from its log, a batch at a time, with what was asked.

Which requests are answers is what the views say (reporter/sql/asked.sql). Their texts are read by the numbers
of their events and stay as the log has them, so that whoever grades them decodes them: nothing is lost on the
way, and many processes share the work.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from recorder.errors import LogError
from recorder.store import log_path
from reporter.kinds import document, members, text
from reporter.log.database import streamed_figures
from reporter.log.source import readable
from workloads.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reporter.log.database import OpenLog


NEEDED: Final = frozenset({"questions", "passes", "scored", "asked", "judge_calls", "prompt_events"})
"""The tables of `reporter.log.database` that answers are found by."""

ReadTexts = Callable[[Sequence[int]], Mapping[int, str]]
"""Gives the texts of events, as JSON, by their numbers."""

_AT_ONCE: Final = 256


class JudgeAnswer(NamedTuple):
    """What a judge said of an answer.

    Attributes:
        scorer: Whose inquiry it was: `TASK/SCORER`.
        inquiry: The key of the inquiry.
        version: Of the judge's prompts.
        model: The model that judged.
        sampling: What replaced the sampling of the prompts (`temperature=0.7`); empty for nothing.
        output: The texts of its answer, as the log has them.
    """

    scorer: str
    inquiry: str
    version: str
    model: str
    sampling: str
    output: str


@dataclass(frozen=True, slots=True)
class Stored:
    """One answer as the log has it; all texts are JSON.

    Attributes:
        sample_uuid: The request.
        task: The task as the user named it.
        question_id: The question.
        reference: What the answer is held against.
        output: The answer: `output`, `reasoning`, `tool_calls`.
        earlier: In a conversation, the answers of the turns before.
        prompts: What was asked, of a conversation what each turn added.
        finish_reason: As the server told it.
        judged: What judges said of it, the latest last.
        judge_failure: How the latest request to a judge failed, of those that did.
        done: The scorers that have judged it in the pass that was asked for.
    """

    sample_uuid: str
    task: str
    question_id: str
    reference: str
    output: str
    earlier: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    finish_reason: str | None = None
    judged: tuple[JudgeAnswer, ...] = ()
    judge_failure: str | None = None
    done: frozenset[str] = frozenset()

    def held_against(self) -> Mapping[str, Any]:
        """The reference."""
        return members(document(self.reference))

    def answer(self, judge: str = "", model: str | None = None, sampling: str | None = None) -> Answer:
        """The answer as a scorer sees it.

        Args:
            judge: The version of the prompts of its judge: what was said to them counts, whichever scorer of
                the task wanted to know.
            model: The model that judges; None takes whichever judged last.
            sampling: How it is sampled, as `JudgeAnswer.sampling`; None takes whatever was said last.
        """
        said = _output(self.output)
        earlier = [_output(one) for one in self.earlier]
        return Answer(
            text=text(said.get("output")) or "",
            reasoning=text(said.get("reasoning")),
            tool_calls=_calls(said.get("tool_calls")),
            finish_reason=self.finish_reason,
            messages=tuple(_conversation([_messages(one) for one in self.prompts], earlier)),
            earlier=tuple(text(one.get("output")) or "" for one in earlier),
            judged={
                one.inquiry: text(_output(one.output).get("output")) or ""
                for one in self.judged
                if one.version == judge and model in {None, one.model} and sampling in {None, one.sampling}
            },
        )


def stored_answers(log: OpenLog, pass_number: int, read: ReadTexts) -> Iterator[list[Stored]]:
    """All answers of an opened run that can be judged, in the order in which they came, in batches.

    Args:
        log: As by `reporter.log.database.open_log`.
        pass_number: Of the pass that `Stored.done` is about; 0 for none.
        read: See `texts_of`; only what is read by it may change meanwhile.

    Raises:
        LogError: The log is damaged.
    """
    log.load(NEEDED)
    for found in streamed_figures(log, "answers", _AT_ONCE, {"pass_number": pass_number}):
        seqs = [seq for one in found for seq in _seqs(one)]
        texts = read(seqs)
        yield [_stored(one, texts) for one in found]


def references(log: OpenLog, read: ReadTexts) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What the answers to each question are held against, with its task, in the questions' order.

    Args:
        log: An opened run with the table `questions`.
        read: See `texts_of`.

    Raises:
        LogError: The log is damaged.
    """
    found = log.execute("SELECT task, seq FROM questions ORDER BY prompt_id").fetchall()
    for first in range(0, len(found), _AT_ONCE):
        batch = found[first : first + _AT_ONCE]
        texts = read([seq for _, seq in batch])
        for task, seq in batch:
            yield task, members(document(_member(texts.get(seq, "{}"), "reference")))


@contextmanager
def texts_of(run: Path) -> Iterator[ReadTexts]:
    """Read texts of events as long as the context lasts, also while somebody appends to the log.

    Raises:
        LogError: It is not a log that this version reads.
    """
    log = log_path(run)
    with readable(log) as uri, closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as source:

        def read(seqs: Sequence[int]) -> Mapping[int, str]:
            numbers = ",".join(map(str, sorted(set(seqs))))
            query = f"SELECT seq, coalesce(texts, '{{}}') FROM events WHERE seq IN ({numbers})"  # noqa: S608 (numbers)
            try:
                return dict(source.execute(query).fetchall())
            except sqlite3.Error as error:
                raise LogError(f"{log}: the log is damaged and cannot be read ({error})") from error

        yield read


def _seqs(found: Mapping[str, Any]) -> Iterator[int]:
    yield found["question_seq"]
    yield found["ended_seq"]
    yield from found["prompt_seqs"]
    yield from found["earlier_seqs"]
    yield from (one["seq"] for one in found["judged"])


def _stored(found: Mapping[str, Any], texts: Mapping[int, str]) -> Stored:
    return Stored(
        sample_uuid=found["sample_uuid"],
        task=found["task"],
        question_id=found["question_id"] or "",
        reference=_member(texts.get(found["question_seq"], "{}"), "reference"),
        output=texts.get(found["ended_seq"], "{}"),
        earlier=tuple(texts.get(seq, "{}") for seq in found["earlier_seqs"]),
        prompts=tuple(texts.get(seq, "{}") for seq in found["prompt_seqs"]),
        finish_reason=found["finish_reason"],
        judged=tuple(
            JudgeAnswer(
                one["scorer"] or "",
                one["inquiry"] or "",
                one["version"] or "",
                one["model"] or "",
                one["sampling"],
                texts.get(one["seq"], "{}"),
            )
            for one in found["judged"]
        ),
        judge_failure=found["judge_failure"],
        done=frozenset(found["done"]),
    )


def _member(stored: str, name: str) -> str:
    """One member of a JSON text, as JSON."""
    return orjson.dumps(members(document(stored)).get(name)).decode()


def _output(stored: str) -> Mapping[str, Any]:
    return members(document(stored))


def _calls(value: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple(one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def _messages(stored: str) -> list[Mapping[str, Any]]:
    """What was asked, as chat messages: also where it was asked as a text. Of tokens nothing is known."""
    asked = members(document(stored))
    prompt = text(asked.get("prompt"))
    return list(_calls(asked.get("messages"))) if prompt is None else [{"role": "user", "content": prompt}]


def _conversation(
    asked: Sequence[Sequence[Mapping[str, Any]]], earlier: Sequence[Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    """All that was said before the last answer."""
    for turn, messages in enumerate(asked):
        yield from messages
        if turn < len(earlier):
            yield _said(earlier[turn])


def _said(output: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer as a chat message."""
    message: dict[str, Any] = {"role": "assistant", "content": text(output.get("output")) or ""}
    calls = _calls(output.get("tool_calls"))
    return message | {"tool_calls": list(calls)} if calls else message
