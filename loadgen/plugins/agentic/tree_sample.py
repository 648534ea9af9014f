"""A session tree as a sample, and the prompts of the turns of one play of the tree."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, overload

from lazy_dataclasses import dataclass, replace
from loadgen.plugins.agentic.session_tree import History
from workloads.sample import Sample, last_text

if TYPE_CHECKING:
    from loadgen.plugins.agentic.session_corpus import SessionCorpus
    from loadgen.plugins.agentic.session_tree import SessionTree
    from loadgen.plugins.agentic.workbench import Steps
    from workloads.sample import Message


_COUNTED: Final = 20


class TurnMessages(Protocol):
    """The messages of one play of a tree."""

    def making(self, turn: int) -> Steps[tuple[Message, ...]]:
        """The making of the messages of a turn: of the whole prompt, or the new ones; see `History`."""

    def answer(self, turn: int) -> Message | None:
        """The recorded answer of a turn."""


class TreePrompts(Protocol):
    """Makes the messages of trees; see `loadgen.plugins.agentic.prompt_texts.TreeTexts`."""

    def begin(self, tree: SessionTree) -> TurnMessages:
        """The messages of one play of a tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSample(Sample):
    """A session tree as a sample.

    Attributes:
        corpus: The sessions.
        number: Which of them it is.
        prompts: Makes the messages of the turns.
    """

    corpus: SessionCorpus
    number: int
    prompts: TreePrompts

    @property
    def has_several_turns(self) -> bool:
        """Whether further turns may follow."""
        return True


@dataclass(frozen=True, slots=True)
class TreeSamples(Sequence[TreeSample]):
    """The sessions of an input as samples, whose trees are made when sessions begin.

    Attributes:
        corpus: The sessions.
        prompts: Makes the messages of the turns.
        numbers: Which session each sample is.
    """

    corpus: SessionCorpus
    prompts: TreePrompts
    numbers: Sequence[int]

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> TreeSample: ...
    @overload
    def __getitem__(self, place: slice) -> TreeSamples: ...
    def __getitem__(self, place: int | slice) -> TreeSample | TreeSamples:
        if isinstance(place, slice):
            return replace(self, numbers=self.numbers[place])
        return TreeSample(
            place, chat=(), corpus=self.corpus, number=self.numbers[place], prompts=self.prompts
        )

    def examples(self) -> tuple[TreeSample, ...]:
        """The first session with the length of its first answer: all are of one kind."""
        first = self[0]
        return (replace(first, max_tokens=self.corpus.tree(first.number).turns[0].output_tokens),)

    @property
    def mean_turns(self) -> float:
        """The mean number of turns of a session, estimated from some."""
        some = range(0, len(self), -(-len(self) // _COUNTED))
        return sum(len(self.corpus.tree(self.numbers[place]).turns) for place in some) / len(some)


def models_of(tree: SessionTree, asked: Sequence[str]) -> Mapping[int, str]:
    """The model to ask in each turn: the recorded ones by first appearance, mapped to those given, modulo.

    Args:
        tree: The session.
        asked: The models to ask; without one, no turn names a model.
    """
    if not asked:
        return {}
    recorded: dict[str, int] = {}
    places = [recorded.setdefault(turn.model, len(recorded)) for turn in tree.turns]
    return {number: asked[place % len(asked)] for number, place in enumerate(places)}


class PlayedPrompts:
    """The prompts of one play of a tree: what each turn sends, with the answers so far.

    Args:
        sample: The tree as a sample.
        tree: The tree.
        models: The model of each turn, by which figures are grouped; of the others the model of the run.
    """

    def __init__(self, sample: TreeSample, tree: SessionTree, models: Mapping[int, str]) -> None:
        self._sample = sample
        self._models = models
        self._tree = tree
        self._messages = sample.prompts.begin(tree)
        self._is_whole = tree.history in {History.CUMULATIVE, History.MESSAGES}
        self._context: dict[int, tuple[Message, ...]] = {}

    @property
    def needs_answers(self) -> bool:
        """Whether later turns contain the answers of the endpoint."""
        return self._tree.history is History.LIVE

    def skipping(self, turns: Collection[int]) -> Steps[None]:
        """Take turns as past, which are not asked: their prompts and recorded answers are the history."""
        for number in () if self._is_whole else sorted(turns):
            yield from self.making(number)

    def members(self, number: int) -> Mapping[str, Any]:
        """Further members of the body of a turn's request."""
        members = self._tree.turns[number].members
        return {**members, "model": self._models[number]} if number in self._models else members

    def making(self, number: int) -> Steps[Sample]:
        """The making of the request of a turn.

        The request of the turn that it extends has been made; with live answers, that turn has ended.
        """
        sample, tree = self._sample, self._tree
        turn = tree.turns[number]
        new = yield from self._messages.making(number)
        before = () if self._is_whole or turn.extends is None else self._context[turn.extends]
        messages = (*before, *new)
        if not self._is_whole:
            answer = None if self.needs_answers else self._messages.answer(number)
            self._context[number] = messages if answer is None else (*messages, answer)
        return Sample(
            sample.index,
            last_text(new),
            chat=messages,
            tools=turn.tools,
            max_tokens=turn.output_tokens,
            tags={**tree.tags, "model": self._models[number]} if number in self._models else tree.tags,
            turn=number,
            # The messages of whole prompts are in the input of the run, or made from its block ids and seed.
            logged=len(messages) if self._is_whole else len(before),
        )

    def answered(self, number: int, answer: Message | None) -> None:
        """Put the answer of the endpoint into the context of the turns that extend the turn."""
        if answer is not None and self.needs_answers:
            self._context[number] = (*self._context[number], answer)
