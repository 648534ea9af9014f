"""Prompts of session trees: exact lengths, equal text for equal ids, and the order of roles."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loadgen.plugins.agentic.prompt_texts import TreeTexts
from loadgen.plugins.agentic.reading import read_sessions
from loadgen.plugins.agentic.session_tree import AgentStream, AgentTurn, History, SessionTree
from tests.plugins.agentic.weka_files import conversation, request, with_two_agents, written
from tests.workloads.conftest import KINDS
from workloads.errors import PromptError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from workloads.sample import Message

TEXTS = TreeTexts(7)
SIZE = 16


def _count(kind: str) -> Callable[[str], int]:
    tokenizer = KINDS[kind]()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False))


def _roles(messages: tuple[Message, ...]) -> list[str]:
    return [message["role"] for message in messages]


def _tree(*prompts: list[int], system: int = 0, out: int = SIZE, tail: int = 0) -> SessionTree:
    """A session of one stream, each prompt of which extends the one before."""
    turns = []
    for number, ids in enumerate(prompts):
        before = prompts[number - 1] if number else []
        shared = next((n for n, pair in enumerate(zip(before, ids, strict=False)) if len({*pair}) > 1), None)
        turns.append(
            AgentTurn(
                0,
                (number - 1,) if number else (),
                input_tokens=SIZE * len(ids) + tail,
                output_tokens=out,
                blocks=tuple(ids),
                extends=number - 1 if number else None,
                kept_blocks=min(len(before), len(ids)) if shared is None else shared,
            )
        )
    streams = (AgentStream("main", system_tokens=system * SIZE),)
    return SessionTree("one", streams, tuple(turns), History.CUMULATIVE, SIZE)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "llama2"])
def test_exact_lengths(kind: str) -> None:
    """With a tokenizer each prompt has exactly its tokens, and so has each message of blocks."""
    count = _count(kind)
    tree = _tree([*range(20)], [*range(31)], [*range(5), *range(40, 52)], system=3, tail=11)
    prompts = TreeTexts(1, count).begin(tree)
    for number, turn in enumerate(tree.turns):
        messages = prompts.messages(number)
        assert sum(count(message["content"]) for message in messages) == turn.input_tokens
        assert all(count(message["content"]) % SIZE == 0 for message in messages[:-1])


def test_blocks_that_do_not_survive() -> None:
    """A tokenizer that merges across words is refused, with the remedy."""
    with pytest.raises(PromptError, match="do not survive tokenising; leave the tokenizer out"):
        TreeTexts(1, _count("llama2"))


def test_roles(tmp_path: Path) -> None:
    """System prompt, then answers as the assistant's and the rest as the user's; a compaction cuts."""
    tree = read_sessions(
        written(
            tmp_path / "one.jsonl",
            conversation(
                request(0, [1, 2, 3], tail=1),
                request(5, [1, 2, 3, 4, 5, 6]),
                request(9, [1, 2, 3, 4, 70]),
                request(12, [1, 2, 3, 4, 70]),
            ),
        )
    ).tree(0)
    prompts = TEXTS.begin(tree)
    assert _roles(prompts.messages(0)) == ["system", "user"]
    assert _roles(prompts.messages(1)) == ["system", "user", "assistant", "user"]
    assert _roles(prompts.messages(2)) == ["system", "user", "assistant", "user"]
    # The same prompt again: nothing is new.
    assert prompts.messages(3) == TEXTS.begin(tree).messages(2)


def test_sessions_share_nothing() -> None:
    """Ids are those of a session, unless the input shares them; seeds and salts make other texts."""
    first_tree, other_tree = (SessionTree(name, *_parts([1, 2, 3])) for name in ("one", "other"))
    first = {
        TreeTexts(seed, salt=salt).begin(tree).messages(0)[0]["content"]
        for seed, salt, tree in (
            (1, 0, first_tree),
            (1, 0, other_tree),
            (2, 0, first_tree),
            (1, 5, first_tree),
        )
    }
    assert len(first) == 4
    shared = TreeTexts(1, shares_ids=True)
    assert shared.begin(first_tree).messages(0) == shared.begin(other_tree).messages(0)


def _parts(ids: list[int]) -> tuple[tuple[AgentStream, ...], tuple[AgentTurn, ...], History, int]:
    tree = _tree(ids)
    return tree.streams, tree.turns, tree.history, tree.block_tokens


def test_made_up_messages() -> None:
    """A message of which only the length is recorded gets a text of that length."""
    count = _count("gpt2")
    given_text = {"role": "user", "content": "Go on."}
    turn = AgentTurn(
        0,
        messages=({"role": "system", "tokens": 40}, given_text),
        answer={"role": "assistant", "tokens": 9},
    )
    tree = SessionTree("one", (AgentStream("main"),), (turn,), History.RECORDED)
    prompts = TreeTexts(1, count).begin(tree)
    system, user = prompts.messages(0)
    assert (system["role"], count(system["content"])) == ("system", 40)
    assert user == given_text
    answer = prompts.answer(0)
    assert answer is not None
    assert count(answer["content"]) == 9
    assert answer["content"] not in system["content"]


_PROMPTS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(lambda pair: sum(pair) > 0),
    min_size=1,
    max_size=8,
)


@example([(0, 1), (1, 2), (2, 0)], 0, 1, 0)
@given(_PROMPTS, st.integers(0, 4), st.integers(0, 80), st.integers(0, SIZE - 1))
def test_equal_ids_are_equal_text(steps: list[tuple[int, int]], system: int, out: int, tail: int) -> None:
    """Text is equal as far as ids are, whatever a session keeps and adds."""
    prompts: list[list[int]] = []
    fresh = 0
    for keep, add in steps:
        shared = prompts[-1][:keep] if prompts else []
        ids = [*shared, *range(fresh, fresh + add)] or [fresh]
        fresh += add + 1
        prompts.append(ids)
    tree = _tree(*prompts, system=system, out=out, tail=tail)
    played = TEXTS.begin(tree)
    made = [played.messages(number) for number in range(len(prompts))]
    assert made == [TEXTS.begin(tree).messages(number) for number in range(len(prompts))]
    for messages in made:
        assert messages[-1]["role"] == "user"
        assert all(role != other for role, other in pairwise(_roles(messages)))
        assert all(message["content"].strip() == message["content"] != "" for message in messages)
    texts = ["".join(f" {message['content']}" for message in messages).split() for messages in made]
    words = len(TEXTS.text(b"", 0, SIZE, first=True).split())
    for number, turn in enumerate(tree.turns):
        if turn.extends is not None:
            shared = turn.kept_blocks * words
            assert texts[number][:shared] == texts[turn.extends][:shared]


def test_streams_that_share_a_system_prompt(tmp_path: Path) -> None:
    """Subagents with equal first blocks begin with equal text."""
    tree = read_sessions(written(tmp_path / "one.jsonl", with_two_agents(0))).tree(0)
    prompts = TEXTS.begin(tree)
    a, b = prompts.messages(1), prompts.messages(2)
    assert a[0] == b[0] == {"role": "system", "content": a[0]["content"]}
    assert a[1] != b[1]
