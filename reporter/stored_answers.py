"""The answers of a run as graders need them: read from its log in batches, with their prompts.

The views define which requests are answers (reporter/sql/asked.sql). Their texts are read by the numbers of
their events and stay as in the log, so that the grading processes decode them: nothing is lost, and many
processes share the work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from lazy_dataclasses import dataclass, replace
from reporter.json_values import document, members, text
from reporter.log.database import streamed_figures
from reporter.log.opened import opened
from workloads.answer import Answer, EpisodeOutcome
from workloads.thinking import without_thinking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reporter.log.database import OpenLog


NEEDED: Final = frozenset({"questions", "passes", "scored", "asked", "judge_calls", "prompt_events"})
"""The tables of `reporter.log.database` that answers are read from."""

ReadTexts = Callable[[Sequence[int]], Mapping[int, str]]
"""Gives the texts of events, as JSON, by their numbers."""

_AT_ONCE: Final = 256


class JudgeAnswer(NamedTuple):
    """A judge's reply on an answer.

    Attributes:
        scorer: The scorer that made the inquiry: `TASK/SCORER`.
        version: Of the judge's prompts.
        sampling: The settings that replaced the sampling of the prompts (`temperature=0.7`); empty for none.
        output: The texts of its reply, as the log has them.
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
        task: The task as the user named it.
        output: The answer: `output`, `reasoning`, `tool_calls`.
        earlier: In a conversation, the answers of the turns before.
        prompts: The prompt; of a conversation, the messages that each turn added.
        judged: The judges' replies on it, the latest last.
        judge_failure: The failure of the latest failed request to a judge.
        done: The scorers that have scored it in the given pass.
        episode: Of an episode, what its code returned: `messages`, `details`.
        ending: Of an episode, how it ended.
        reward: Of an episode, its own reward.
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
    episode: str | None = None
    ending: str | None = None
    reward: float | None = None

    def parsed_reference(self) -> Mapping[str, Any]:
        """The reference."""
        return members(document(self.reference))

    def answer(self, judge: str = "", model: str | None = None, sampling: str | None = None) -> Answer:
        """The answer as a scorer sees it.

        Args:
            judge: The version of the prompts of its judge: all replies to them count, whichever scorer of the
                task made the inquiry.
            model: The model that judges; None for the latest.
            sampling: How it is sampled, as `JudgeAnswer.sampling`; None for the latest.
        """
        output = _output(self.output)
        earlier = [_output(stored_output) for stored_output in self.earlier]
        answer = Answer(
            text=_answer_text(output.get("output")),
            reasoning=text(output.get("reasoning")),
            tool_calls=_calls(output.get("tool_calls")),
            finish_reason=self.finish_reason,
            messages=tuple(_conversation([_messages(prompt) for prompt in self.prompts], earlier)),
            earlier=tuple(_answer_text(earlier_output.get("output")) for earlier_output in earlier),
            judged={
                judge_answer.inquiry: _answer_text(_output(judge_answer.output).get("output"))
                for judge_answer in self.judged
                if judge_answer.version == judge
                and model in {None, judge_answer.model}
                and sampling in {None, judge_answer.sampling}
            },
        )
        return answer if self.episode is None else self._of_episode(answer)

    def _of_episode(self, answer: Answer) -> Answer:
        """The answer of an episode: the last that the assistant says in the conversation that it returned."""
        returned = members(document(self.episode or "{}"))
        messages = _calls(returned.get("messages"))
        outcome = EpisodeOutcome(
            ending=self.ending or "",
            reward=self.reward,
            messages=messages,
            details=members(returned.get("details")),
        )
        places = [place for place, message in enumerate(messages) if message.get("role") == "assistant"]
        if not places:
            return replace(answer, episode=outcome)
        final = messages[places[-1]]
        return replace(
            answer,
            text=_answer_text(final.get("content")),
            tool_calls=_calls(final.get("tool_calls")),
            messages=messages[: places[-1]],
            earlier=tuple(_answer_text(messages[place].get("content")) for place in places[:-1]),
            episode=outcome,
        )


def stored_answers(log: OpenLog, pass_number: int, read: ReadTexts) -> Iterator[list[Stored]]:
    """All answers of an opened run that can be scored, in the order of arrival, in batches.

    Args:
        log: As by `reporter.log.database.open_log`.
        pass_number: The pass that `Stored.done` is about; 0 for none.
        read: See `texts_of`; only what is read by it may change meanwhile.

    Raises:
        LogError: The log is damaged.
    """
    log.load(NEEDED)
    for rows in streamed_figures(log, "answers", _AT_ONCE, {"pass_number": pass_number}):
        seqs = [seq for row in rows for seq in _seqs(row)]
        texts = read(seqs)
        yield [_stored(row, texts) for row in rows]


def references(log: OpenLog, read: ReadTexts) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The reference of each question, with its task, in the questions' order.

    Raises:
        LogError: The log is damaged.
    """
    rows = log.execute("SELECT task, seq FROM questions ORDER BY prompt_id").fetchall()
    for first in range(0, len(rows), _AT_ONCE):
        batch = rows[first : first + _AT_ONCE]
        texts = read([seq for _, seq in batch])
        for task, seq in batch:
            yield task, members(document(_member(texts.get(seq, "{}"), "reference")))


@contextmanager
def texts_of(run: Path) -> Iterator[ReadTexts]:
    """Read texts of events as long as the context lasts, also while another process appends to the log.

    Raises:
        LogError: It is not a log that this version reads.
    """
    with opened(run) as log:
        yield log.texts


def _seqs(row: Mapping[str, Any]) -> Iterator[int]:
    yield row["question_seq"]
    yield row["ended_seq"]
    if row["episode_seq"] is not None:
        yield row["episode_seq"]
    yield from row["prompt_seqs"]
    yield from row["earlier_seqs"]
    yield from (judge_call["seq"] for judge_call in row["judged"])


def _stored(row: Mapping[str, Any], texts: Mapping[int, str]) -> Stored:
    return Stored(
        sample_uuid=row["sample_uuid"],
        task=row["task"],
        question_id=row["question_id"] or "",
        reference=_member(texts.get(row["question_seq"], "{}"), "reference"),
        output=texts.get(row["ended_seq"], "{}"),
        earlier=tuple(texts.get(seq, "{}") for seq in row["earlier_seqs"]),
        prompts=tuple(texts.get(seq, "{}") for seq in row["prompt_seqs"]),
        finish_reason=row["finish_reason"],
        judged=tuple(
            JudgeAnswer(
                judge_call["scorer"] or "",
                judge_call["inquiry"] or "",
                judge_call["version"] or "",
                judge_call["model"] or "",
                judge_call["sampling"],
                texts.get(judge_call["seq"], "{}"),
            )
            for judge_call in row["judged"]
        ),
        judge_failure=row["judge_failure"],
        done=frozenset(row["done"]),
        episode=None if row["episode_seq"] is None else texts.get(row["episode_seq"], "{}"),
        ending=row["ending"],
        reward=row["reward"],
    )


def _member(stored: str, name: str) -> str:
    """One member of a JSON text, as JSON."""
    return orjson.dumps(members(document(stored)).get(name)).decode()


def _output(stored: str) -> Mapping[str, Any]:
    return members(document(stored))


def _answer_text(content: Any) -> str:
    """The text of a message without reasoning in tags, which a server without a parser leaves there."""
    return without_thinking(text(content) or "")


def _calls(value: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple(call for call in value if isinstance(call, dict)) if isinstance(value, list) else ()


def _messages(stored: str) -> list[Mapping[str, Any]]:
    """The prompt as chat messages, also if it was a text; empty for tokens."""
    asked = members(document(stored))
    prompt = text(asked.get("prompt"))
    return list(_calls(asked.get("messages"))) if prompt is None else [{"role": "user", "content": prompt}]


def _conversation(
    asked: Sequence[Sequence[Mapping[str, Any]]], earlier: Sequence[Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    """All messages before the last answer."""
    for turn, messages in enumerate(asked):
        yield from messages
        if turn < len(earlier):
            yield _as_message(earlier[turn])


def _as_message(output: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer as a chat message."""
    message: dict[str, Any] = {"role": "assistant", "content": text(output.get("output")) or ""}
    calls = _calls(output.get("tool_calls"))
    return message | {"tool_calls": list(calls)} if calls else message
