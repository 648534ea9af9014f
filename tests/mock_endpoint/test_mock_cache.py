"""The mock's cache of answers: what was asked before comes at once, and the truth says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loadgen.mock_endpoint import MockOptions, MockOptionsError, MockProcess, answer_cache, start_mock
from loadgen.mock_endpoint.ask import MockRequest
from loadgen.mock_endpoint.script import Script

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Wire

MS = 1_000_000


def ask(prompt: Any = "one", max_tokens: int | None = 4, model: str = "mock") -> MockRequest:
    """A request."""
    return MockRequest(model, "one", 1, max_tokens, stream=True, include_usage=False, prompt=prompt)


def test_what_was_asked_before_comes_at_once_and_nothing_else() -> None:
    """The same words, model and limit: the same answer, without any time; anything else is new."""
    script = Script(MockOptions(cache=True, ttft="50ms", itl="uniform:5ms..15ms", tokens="8"))
    first, again = script.answer(ask()), script.answer(ask())
    assert (first.cached, first.ttft_s) == (False, 0.05)
    assert (again.cached, again.ttft_s, again.last_due_s(), again.tokens) == (True, 0, 0, first.tokens)
    others = [ask("two"), ask(max_tokens=5), ask(model="other"), ask([{"role": "user", "content": "one"}])]
    assert [script.answer(other).cached for other in others] == [False] * 4


def test_without_a_cache_everything_is_new() -> None:
    """An answer is as slow, however often it is asked for."""
    script = Script(MockOptions(ttft="50ms"))
    assert [script.answer(ask()).ttft_s for _ in range(3)] == [0.05] * 3


def test_a_full_cache_takes_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has it keeps; what is new then is new whenever it comes."""
    monkeypatch.setattr(answer_cache, "MOST_QUESTIONS", 1)
    full = answer_cache.Cache()
    assert [full.takes(ask(prompt)) for prompt in ("a", "b", "b", "a")] == [True, True, True, False]


def test_a_scenario_has_no_cache() -> None:
    """What a scenario sends, and when, it says itself."""
    with pytest.raises(MockOptionsError, match=r"leave out cache"):
        MockOptions(scenario="crlf", cache=True)


def test_the_truth_says_which_answers_were_cached(connect: Callable[[MockProcess], Wire]) -> None:
    """With either engine; the first one took its time, and the second did not."""
    with start_mock(cache=True, ttft="700ms", itl="0", tokens="2") as mock:
        wire = connect(mock)
        for _ in range(2):
            wire.ask()
            wire.read_head()
            wire.read_events()
        first, again = mock.truth(2)
    assert (first.cached, again.cached) == (False, True)
    assert first.chunk_ns[0] - first.received_ns >= 700 * MS > again.chunk_ns[0] - again.received_ns
