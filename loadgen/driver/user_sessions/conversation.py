"""A session of planned turns: a conversation.

A `ConversationSample` has the follow-ups. Each is asked after the answer to the one before
and a pause, with everything in its context that was said so far. One that fails ends its conversation, and so
does the end of the phase.
"""

from __future__ import annotations

from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from loadgen.driver.requests.turn_outcome import AnswerUse
from workloads.conversation_sample import conversation_of

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from loadgen.driver.requests.session_turns import SessionTurns
    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from workloads.conversation_sample import ConversationSample
    from workloads.sample import Message, Sample


class ConversationSession:
    """A conversation; see `loadgen.driver.session_kind.UserSession`.

    Args:
        number: Its number in the run.
        sample: Its first turn, as the log keeps it.
        sent: The same, as the endpoint gets it; later turns follow on this.
        body: The same, as it is sent.
        more: What else the log keeps of each turn.
        recorded: Whether answers of the dataset take the place of the endpoint's in later turns.
    """

    def __init__(
        self,
        number: int,
        sample: Sample,
        sent: Sample,
        body: bytes,
        more: Mapping[str, Any],
        *,
        recorded: bool,
    ) -> None:
        self.number = number
        self._sample = sample
        self._sent = conversation_of(sent)
        self.last_turn = len(self._sent.follow_ups)
        self._body = body
        self._more = more
        self._recorded = recorded

    def shorten(self, share: float) -> None:
        """Omit a share of the turns from the end, and keep at least the first turn."""
        left = max(1, round((self.last_turn + 1) * (1 - share)))
        self._sent = replace(self._sent, follow_ups=self._sent.follow_ups[: left - 1])
        self.last_turn = left - 1

    def begin(self, turns: SessionTurns) -> Coroutine[Any, Any, TurnOutcome]:
        """Take all turns; issuing ends with the last one."""
        if self.last_turn:
            turns.open()
        return self._all_turns(turns)

    async def _all_turns(self, turns: SessionTurns) -> TurnOutcome:
        """Take turns until the last, until one fails, or until the time is too short for another."""
        sent, why_cut = self._sent, "stopped"
        more = {"conversation": token_hex(8), "turns": self.last_turn + 1, **self._more}
        first = more | {"turn": 0, **turns.held}
        try:
            outcome = await turns.take(self._sample, self._body, turns.scheduled_ns, first, _use_of(sent))
            while sent.follow_ups:
                due_ns = turns.next_due_ns(self.number, sent.turn)
                why_not = turns.why_over(due_ns) if outcome.failure is None else "failed"
                if why_not is None:
                    # What it takes to get the next turn ready is a part of the pause.
                    following = sent.after(self._answer_to(sent, outcome))
                    body = turns.prepare(following)
                    why_not = await turns.until(due_ns)
                if why_not is not None:
                    why_cut = why_not
                    break
                sent = following
                if not sent.follow_ups:
                    turns.close()
                outcome = await turns.take(sent, body, due_ns, more | {"turn": sent.turn}, _use_of(sent))
        finally:
            turns.end(len(sent.follow_ups), why_cut)
        if why_cut == "duration":
            # The user thinks until the phase ends: no other conversation begins in the place.
            await turns.until(due_ns)
        return outcome

    def _answer_to(self, sent: ConversationSample, outcome: TurnOutcome) -> Message:
        """The answer to a turn, as a message for the next turn."""
        answer = (self._recorded and sent.follow_ups[0].recorded) or outcome.answer
        assert answer is not None  # noqa: S101 (who asks a turn that others follow brings its answer)
        return answer


def _use_of(sent: ConversationSample) -> AnswerUse:
    """The use of the answer to a turn."""
    return AnswerUse.FOLLOWED if sent.follow_ups else AnswerUse.MEASURED
