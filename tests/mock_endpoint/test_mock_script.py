"""What is answered to which request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.mock_endpoint import MockOptions, MockOptionsError
from loadgen.mock_endpoint.ask import MockRequest, read_completion
from loadgen.mock_endpoint.script import PlannedResponse, Script

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.mock_endpoint.token import Token

VARIED = MockOptions(ttft="exponential:50ms", itl="uniform:5ms..15ms", tokens="uniform:1..40")


def ask(question: str = "", max_tokens: int | None = None) -> MockRequest:
    """Make a request."""
    return MockRequest("mock", question, 1, max_tokens, stream=True, include_usage=False)


def answer(options: MockOptions, request: MockRequest | None = None) -> PlannedResponse:
    """Make the first answer of a script."""
    return Script(options).answer(request or ask())


def pieces(made: PlannedResponse, size: int) -> list[tuple[float, Token]]:
    """The pieces of an answer, each with the time at which it is due."""
    return list(zip(made.dues_s(size), made.texts(size), strict=False))


@pytest.mark.parametrize(
    ("limit", "length", "reason"),
    [(None, 8, "stop"), (9, 8, "stop"), (8, 8, "stop"), (7, 7, "length"), (1, 1, "length")],
)
def test_the_limit_cuts(limit: int | None, length: int, reason: str) -> None:
    """An answer is cut at the client's limit, and says so only then."""
    made = answer(MockOptions(tokens="8"), ask(max_tokens=limit))
    assert (len(made.tokens), made.finish_reason) == (length, reason)


@pytest.mark.parametrize(
    ("asked", "length", "reason"),
    [
        ({"ignore_eos": True, "max_tokens": 20}, 20, "length"),
        ({"ignore_eos": True, "max_tokens": 8}, 8, "length"),
        ({"ignore_eos": True}, 8, "stop"),
        ({"ignore_eos": False, "max_tokens": 20}, 8, "stop"),
        ({"min_tokens": 20}, 20, "stop"),
        ({"min_tokens": 20, "max_tokens": 20}, 20, "stop"),
        ({"min_tokens": 3, "max_tokens": 5}, 5, "length"),
    ],
)
def test_an_answer_can_be_drawn_out(asked: dict[str, Any], length: int, reason: str) -> None:
    """To `min_tokens` at least; with `ignore_eos` it goes on until the limit cuts it."""
    made = answer(MockOptions(tokens="8"), read_completion(orjson.dumps({"prompt": "a", **asked}), ()))
    assert (len(made.tokens), made.finish_reason) == (length, reason)


@given(st.integers(0, 1000), st.integers(1, 50))
def test_however_it_is_cut_an_answer_is_the_same(seed: int, size: int) -> None:
    """Pieces join to the text, hold all tokens, and come in the order of time, the first at the TTFT."""
    options = MockOptions(ttft="exponential:50ms", itl="exponential:5ms", tokens="uniform:1..40", seed=seed)
    whole = answer(options)
    dues, texts = zip(*pieces(whole, size), strict=True)
    assert "".join(texts) == "".join(whole.tokens)
    assert len(texts) == -(-len(whole.tokens) // size)
    assert dues[0] == whole.ttft_s
    assert list(dues) == sorted(dues)


@given(st.integers(0, 1000), st.integers(2, 9))
def test_a_piece_is_due_with_the_first_of_its_tokens(seed: int, size: int) -> None:
    """Cutting differently moves no token's time: each piece is due when its first token would be alone."""
    options = MockOptions(ttft="exponential:50ms", itl="exponential:5ms", tokens="uniform:1..40", seed=seed)
    alone = [due for due, _ in pieces(answer(options), 1)]
    together = [due for due, _ in pieces(answer(options), size)]
    assert together == pytest.approx(alone[::size])
    assert answer(options).last_due_s() == pytest.approx(alone[-1])


def test_token_k_is_due_k_gaps_after_the_first() -> None:
    """With constant times the schedule is exact."""
    made = answer(MockOptions(ttft="50ms", itl="10ms", tokens="4"))
    assert [due for due, _ in pieces(made, 1)] == pytest.approx([0.05, 0.06, 0.07, 0.08])


def test_the_same_seed_answers_the_same() -> None:
    """Two servers with one seed answer request n alike, and requests differ."""
    script, other = Script(VARIED), Script(VARIED)
    first = [(made.ttft_s, pieces(made, 1)) for made in (script.answer(ask()) for _ in range(10))]
    second = [(made.ttft_s, pieces(made, 1)) for made in (other.answer(ask()) for _ in range(10))]
    assert first == second
    assert len({ttft for ttft, _ in first}) == 10


def test_one_answer_draws_nothing_from_another() -> None:
    """What request 2 gets does not depend on how long the answer to request 1 was."""
    first, other = Script(VARIED), Script(VARIED)
    first.answer(ask(max_tokens=1))
    pieces(other.answer(ask()), 1)
    assert pieces(first.answer(ask()), 1) == pieces(other.answer(ask()), 1)


def test_the_first_line_that_matches_wins(tmp_path: Path) -> None:
    """Lines are tried in order; what none matches gets the usual text; overrides take effect."""
    file = tmp_path / "replies.jsonl"
    file.write_text(
        '{"match": "2+2", "reply": "It is 4", "ttft": "1s", "itl": "2s"}\n'
        '{"match": "2", "reply": "two"}\n'
        '{"match": "bad", "status": 429, "error": "slow down", "ttft": "3s"}\n',
    )
    script = Script(MockOptions(replies=file, tokens="5", ttft="7ms"))
    arithmetic = script.answer(ask("what is 2+2?"))
    assert pieces(arithmetic, 1) == [(1.0, "It"), (3.0, " is"), (5.0, " 4")]
    two = script.answer(ask("say 2"))
    assert (two.tokens, two.ttft_s) == (("two",), 0.007)
    assert len(script.answer(ask("else")).tokens) == 5
    refusal = script.answer(ask("bad")).refusal
    assert refusal is not None
    assert (refusal.status, refusal.message) == (429, "slow down")
    assert script.answer(ask("bad")).ttft_s == 3.0


def test_a_scripted_reply_is_cut_too(tmp_path: Path) -> None:
    """The client's limit holds for scripted replies."""
    file = tmp_path / "replies.jsonl"
    file.write_text('{"reply": "one two three"}')
    made = answer(MockOptions(replies=file), ask(max_tokens=2))
    assert (made.tokens, made.finish_reason) == (("one", " two"), "length")


@pytest.mark.parametrize("name", ["ttft", "itl", "tokens"])
def test_a_bad_distribution_names_its_option(name: str) -> None:
    """The message starts with the option that holds the bad text."""
    with pytest.raises(MockOptionsError, match=f"^{name}: 'x'"):
        Script(MockOptions(**{name: "x"}))
