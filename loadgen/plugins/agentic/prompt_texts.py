"""Prompts of session trees with the recorded cache structure: equal ids of blocks are equal text.

With a tokenizer, a prompt has exactly the recorded tokens: a text per block, and a tail of the tokens that
fill no block. Without a tokenizer lengths are approximate. The texts of blocks begin with white space after
others, so that tokens end where blocks end. The order of roles follows AIPerf 0.13 (`weka_synth_buf.py`): the
blocks of tool definitions and system prompt are the system message; a later prompt keeps what it has in
common with the prompt that it extends, then the blocks of the answer are the assistant's, and the rest is the
user's.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from lazy_dataclasses import dataclass
from loadgen.plugins.agentic.workbench import finished
from workloads.errors import PromptError
from workloads.synthetic.text_length import Measure
from workloads.synthetic.to_length import source_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.plugins.agentic.session_tree import AgentTurn, SessionTree
    from loadgen.plugins.agentic.workbench import Steps
    from workloads.sample import Message
    from workloads.synthetic.text_length import TokenCount
    from workloads.synthetic.to_length import Corpus

_NUMBERS: Final = 10**9
"""Blocks begin with a number of up to nine digits: two blocks at one place differ."""

_PER_STEP: Final = 8
"""Blocks, which take some 5 µs each."""

_CHECKED_BLOCKS: Final = 8
_CHECKED_TEXTS: Final = 25


class RolePart(NamedTuple):
    """A message as blocks of the prompt.

    Attributes:
        role: The role.
        first: The number of the first block.
        end: The number after the one of the last block.
    """

    role: str
    first: int
    end: int


class TreeTexts:
    """Makes the texts of the prompts of session trees.

    Args:
        seed: The same seed makes the same texts.
        count: Counts tokens, so that lengths are exact; without it they are approximate.
        corpus: What texts are cut from; None cuts them from a made-up story.
        shares_ids: Whether equal ids in different sessions are equal blocks.
        salt: Another salt makes other texts.

    Raises:
        PromptError: Texts of exact lengths cannot be made with this tokenizer.
    """

    def __init__(
        self,
        seed: int,
        count: TokenCount | None = None,
        corpus: Corpus | None = None,
        *,
        shares_ids: bool = False,
        salt: int = 0,
    ) -> None:
        self._measure = Measure(count)
        self._tape = source_text(corpus, self._measure)
        self._shares_ids = shares_ids
        self._seed = f"{seed}/{salt}"
        if count is not None:
            self._require_sums(count)

    def begin(self, tree: SessionTree) -> TurnPrompts:
        """The prompts of one play of a tree."""
        return TurnPrompts(tree, self)

    def scope(self, session_id: str) -> bytes:
        """The key of the ids of a session."""
        scope = self._seed if self._shares_ids else f"{self._seed}/{session_id}"
        return blake2b(scope.encode(), digest_size=16).digest()

    def scope_of_text(self, text_id: str) -> bytes:
        """The key of a text that all sessions share."""
        return blake2b(f"{self._seed}/text/{text_id}".encode(), digest_size=16).digest()

    def text(self, key: bytes, number: int, tokens: int, *, first: bool) -> str:
        """The text of an id.

        Args:
            key: The scope of the id.
            number: The id, below 2**64; the ids of tails and messages are from there on.
            tokens: Its length.
            first: Whether it begins a message; else it begins with white space.
        """
        digest = blake2b(number.to_bytes(12), digest_size=8, key=key).digest()
        drawn = int.from_bytes(digest)
        place, opening = divmod(drawn, _NUMBERS)
        return self._tape.numbered(opening, self._measure.units(tokens), first=first, salt=place)

    def _require_sums(self, count: TokenCount) -> None:
        """Make sure that the tokens of blocks add up in a text."""
        for size in (16, 64, 512):
            for sample in range(_CHECKED_TEXTS):
                key = self.scope(f"check {sample}")
                texts = [self.text(key, n, size, first=not n) for n in range(_CHECKED_BLOCKS)]
                has = count("".join(texts))
                if has != size * _CHECKED_BLOCKS:
                    raise PromptError(
                        f"a text of {_CHECKED_BLOCKS} blocks of {size} tokens has {has} tokens with this "
                        "tokenizer, so blocks do not survive tokenising; leave the tokenizer out, and "
                        "lengths are approximate"
                    )


_TAILS: Final = 2**64
_MESSAGES: Final = 2**65
_MADE_UP: Final = frozenset({"tokens", "text_id"})


@dataclass(frozen=True, slots=True)
class _Prompt:
    """The last prompt of a stream: the turn, and the texts of messages without a tail, by blocks."""

    turn: int
    texts: dict[tuple[int, int], str]


class TurnPrompts:
    """The prompts of the turns of one play of a tree; the last prompt of each stream is kept, no more.

    Args:
        tree: The session.
        texts: Makes the texts.
    """

    def __init__(self, tree: SessionTree, texts: TreeTexts) -> None:
        self._tree = tree
        self._texts = texts
        self._key = texts.scope(tree.session_id)
        self._uses = Counter(turn.extends for turn in tree.turns)
        self._layouts: dict[int, list[RolePart]] = {}
        self._prompts: dict[int, _Prompt] = {}
        self._begun: set[int] = set()
        firsts: dict[int, int] = {}
        for number, turn in enumerate(tree.turns):
            firsts.setdefault(turn.stream, number)
        self._firsts = frozenset(firsts.values())

    def messages(self, turn: int) -> tuple[Message, ...]:
        """The messages of a turn, made now; see `making`."""
        return finished(self.making(turn))

    def making(self, turn: int) -> Steps[tuple[Message, ...]]:
        """The making of the messages of a turn: the whole prompt from blocks, or the messages in the tree.

        Args:
            turn: The number of the turn. Turns of a stream in order are fastest.
        """
        recorded = self._tree.turns[turn]
        if recorded.messages or recorded.input_tokens is None:
            return tuple(self._message(turn, place, each) for place, each in enumerate(recorded.messages))
        return (yield from self._from_blocks(turn, recorded))

    def answer(self, turn: int) -> Message | None:
        """The recorded answer of a turn, with a made-up text where only a length is recorded."""
        answer = self._tree.turns[turn].answer
        return None if answer is None else self._message(turn, -1, answer)

    def _message(self, turn: int, place: int, message: Message) -> Message:
        if "tokens" not in message:
            return message
        name, number = message.get("text_id"), _MESSAGES + (turn << 12) + place + 1
        key, number = (self._key, number) if name is None else (self._texts.scope_of_text(name), _MESSAGES)
        content = self._texts.text(key, number, max(1, message["tokens"]), first=True)
        return {name: message[name] for name in message if name not in _MADE_UP} | {"content": content}

    def _from_blocks(self, number: int, turn: AgentTurn) -> Steps[tuple[Message, ...]]:
        layout = self._layout(number)
        before = self._texts_before(turn)
        ids: Sequence[int] | None = None
        texts: dict[tuple[int, int], str] = {}
        for _, first, end in layout:
            text = before.get((first, end)) if end <= turn.kept_blocks else None
            if text is None:
                ids = turn.blocks[:] if ids is None else ids
                text = yield from self._blocks(ids, first, end)
            texts[first, end] = text
        self._prompts[turn.stream] = _Prompt(number, texts)
        messages = [{"role": role, "content": texts[first, end]} for role, first, end in layout]
        if tail := self._tail(turn):
            last = messages[-1]
            last["content"] += self._texts.text(self._key, _TAILS + number, tail, first=not last["content"])
        return tuple(messages)

    def _texts_before(self, turn: AgentTurn) -> dict[tuple[int, int], str]:
        """The texts of the prompt that a turn extends, if no later prompt of the stream was made."""
        if turn.extends is None:
            return {}
        prompt = self._prompts.get(self._tree.turns[turn.extends].stream)
        return prompt.texts if prompt is not None and prompt.turn == turn.extends else {}

    def _blocks(self, ids: Sequence[int], first: int, end: int) -> Steps[str]:
        size, key, text = self._tree.block_tokens, self._key, self._texts.text
        texts = []
        for n in range(first, end):
            texts.append(text(key, ids[n], size, first=n == first))
            if not len(texts) % _PER_STEP:
                yield
        return "".join(texts)

    def _tail(self, turn: AgentTurn) -> int:
        return (turn.input_tokens or 0) - len(turn.blocks) * self._tree.block_tokens

    def _layout(self, number: int) -> list[RolePart]:
        """The messages of a prompt as blocks; those of prompts that no later one extends are forgotten."""
        missing = []
        extended: int | None = number
        while extended is not None and extended not in self._layouts:
            missing.append(extended)
            extended = self._tree.turns[extended].extends
        layout: list[RolePart] = []
        for each in reversed(missing):
            layout = self._made(each)
            self._layouts[each] = layout
        layout = self._layouts[number]
        if number not in self._begun:
            self._begun.add(number)
            self._release(self._tree.turns[number].extends)
            if not self._uses[number]:
                del self._layouts[number]
        return layout

    def _release(self, base: int | None) -> None:
        if base is not None:
            self._uses[base] -= 1
            if not self._uses[base]:
                self._layouts.pop(base, None)

    def _made(self, number: int) -> list[RolePart]:
        turn, size = self._tree.turns[number], self._tree.block_tokens
        # The last message is a user's, and has a block or the tail.
        room = len(turn.blocks) - (0 if self._tail(turn) > 0 else 1)
        base = None if turn.extends is None else self._tree.turns[turn.extends]
        parts = [] if turn.extends is None else _cut(self._layouts[turn.extends], turn.kept_blocks)
        if number in self._firsts and (not parts or parts == [RolePart("system", 0, turn.kept_blocks)]):
            system = -(-self._tree.streams[turn.stream].system_tokens // size) if size else 0
            system = min(max(system, turn.kept_blocks if parts else 0), room)
            parts = [RolePart("system", 0, system)] if system > 0 else []
        place = parts[-1].end if parts else 0
        continues = base is not None and (base.stream == turn.stream or turn.kept_blocks == len(base.blocks))
        if base is not None and continues and parts and parts[-1].role == "user":
            answer = min(-(-(base.output_tokens or 0) // size), room - place)
            if answer > 0:
                parts.append(RolePart("assistant", place, place + answer))
        return _ended(parts, len(turn.blocks), has_tail=self._tail(turn) > 0)


def _cut(parts: Sequence[RolePart], end: int) -> list[RolePart]:
    return [RolePart(role, first, min(last, end)) for role, first, last in parts if first < end]


def _ended(parts: list[RolePart], end: int, *, has_tail: bool) -> list[RolePart]:
    """The messages with all blocks, the last of which is a user's."""
    place = parts[-1].end if parts else 0
    if parts and parts[-1].role != "user" and place == end and not has_tail:
        last = parts.pop()
        place = end - 1
        if last.first < place:
            parts.append(last._replace(end=place))
    if parts and parts[-1].role == "user":
        parts[-1] = parts[-1]._replace(end=end)
    else:
        parts.append(RolePart("user", place, end))
    return parts
