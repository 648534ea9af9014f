"""A session tree as a sample, and the prompts of the turns of one play of the tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from loadgen.plugins.agentic.session_tree import History
from workloads.sample import Sample, last_text

if TYPE_CHECKING:
    from loadgen.plugins.agentic.session_tree import SessionTree
    from workloads.sample import Message


class TreePrompts(Protocol):
    """Makes the messages of turns."""

    def messages(self, tree: SessionTree, turn: int) -> tuple[Message, ...]:
        """The messages of a turn: of the whole prompt, or the new ones; see `History`."""


class DeclaredMessages:
    """The messages that the turns have."""

    def messages(self, tree: SessionTree, turn: int) -> tuple[Message, ...]:
        """See `TreePrompts`."""
        return tree.turns[turn].messages


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSample(Sample):
    """A session tree as a sample.

    Attributes:
        tree: The session.
        prompts: Makes the messages of the turns.
    """

    tree: SessionTree
    prompts: TreePrompts

    @property
    def has_several_turns(self) -> bool:
        """Whether further turns may follow."""
        return True


class PlayedPrompts:
    """The prompts of one play of a tree: what each turn sends, with the answers so far.

    Args:
        sample: The tree.
    """

    def __init__(self, sample: TreeSample) -> None:
        self._sample = sample
        self._is_whole = sample.tree.history in {History.CUMULATIVE, History.MESSAGES}
        self._context: dict[int, tuple[Message, ...]] = {}

    @property
    def needs_answers(self) -> bool:
        """Whether later turns contain the answers of the endpoint."""
        return self._sample.tree.history is History.LIVE

    def turn(self, number: int) -> Sample:
        """The request of a turn, which comes after the answer to the turn that it extends."""
        sample, tree = self._sample, self._sample.tree
        turn = tree.turns[number]
        new = sample.prompts.messages(tree, number)
        before = () if self._is_whole or turn.extends is None else self._context[turn.extends]
        messages = (*before, *new)
        if not self._is_whole:
            self._context[number] = messages
        return Sample(
            sample.index,
            last_text(new),
            chat=messages,
            tools=turn.tools,
            max_tokens=turn.output_tokens,
            tags=tree.tags,
            turn=number,
            # The messages of whole prompts are in the input of the run, or made from its block ids and seed.
            logged=len(messages) if self._is_whole else len(before),
        )

    def answered(self, number: int, answer: Message | None) -> None:
        """Put the answer to a turn into the context of the turns that extend the turn."""
        tree = self._sample.tree
        if tree.history is History.RECORDED:
            answer = tree.turns[number].answer
        if answer is not None and not self._is_whole:
            self._context[number] = (*self._context[number], answer)
