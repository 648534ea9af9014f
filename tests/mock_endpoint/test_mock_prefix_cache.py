"""The mock's prefix cache: hits equal those of a plain model, and usage, truth, metrics and times agree."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.mock_endpoint import MockOptions, MockOptionsError, MockProcess, start_mock
from loadgen.mock_endpoint.ask import MockRequest, read_chat, read_completion
from loadgen.mock_endpoint.prefix_cache import PrefixCache
from loadgen.mock_endpoint.script import Script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conftest import Wire

MS = 1_000_000
USAGE = {"stream_options": {"include_usage": True}}
WORDS = st.lists(st.sampled_from("ab"), max_size=12).map(" ".join)


def ask(prompt: Any, model: str = "mock", salt: str | None = None) -> MockRequest:
    """A completion request."""
    words, sent = prompt.split(), {"stream": True, "include_usage": False, "cache_salt": salt}
    return MockRequest(model, prompt, len(words), 4, **sent, tokens=words)


def modelled(asked: Iterable[tuple[str, str, str | None]], capacity: int, size: int) -> list[int]:
    """The hits of each prompt by a plain model: prefixes with the time of their last use, the head's last."""
    used: dict[tuple[str, str | None, tuple[str, ...]], tuple[int, int]] = {}
    hits = []
    for number, (text, model, salt) in enumerate(asked):
        words = tuple(text.split())
        prefixes = [(model, salt, words[:end]) for end in range(size, len(words) + 1, size)]
        hits.append(next((place for place, each in enumerate(prefixes) if each not in used), len(prefixes)))
        used |= {each: (number, -place) for place, each in enumerate(prefixes)}
        while capacity and len(used) > capacity:
            del used[min(used, key=used.__getitem__)]
    return hits


@given(
    asked=st.lists(st.tuples(WORDS, st.sampled_from(["m", "n"]), st.sampled_from([None, "s"])), max_size=30),
    capacity=st.integers(0, 8),
    size=st.integers(1, 3),
)
def test_hits_equal_a_plain_model(asked: list[tuple[str, str, str | None]], capacity: int, size: int) -> None:
    """For any prompts, capacity and size of blocks."""
    cache = PrefixCache(capacity, size)
    assert [cache.take(ask(*each)) for each in asked] == modelled(asked, capacity, size)


@given(
    texts=st.lists(WORDS, min_size=1, max_size=4),
    ids=st.lists(st.integers(0, 9), min_size=1, max_size=9),
)
def test_tokens_are_those_that_usage_counts(texts: list[str], ids: list[int]) -> None:
    """Words of all messages in order, or token ids."""
    messages = b",".join(b'{"role":"user","content":"%b"}' % text.encode() for text in texts)
    chat = read_chat(b'{"messages":[%b]}' % messages, ())
    assert list(chat.tokens) == " ".join(texts).split()
    assert len(chat.tokens) == chat.input_tokens
    for prompt in (str(ids), str([ids])):
        assert list(read_completion(b'{"prompt":%b}' % prompt.encode(), ()).tokens) == ids


def test_uncached_tokens_cost_time() -> None:
    """The TTFT is the drawn one and the cost of what no cache has; a cache of answers costs nothing."""
    script = Script(MockOptions(cache_blocks=0, block_tokens=2, ttft="50ms", prefill="10ms"))
    times = [script.answer(ask(text)).ttft_s for text in ("a b c d e", "a b c d e", "a b x")]
    assert times == pytest.approx([0.1, 0.06, 0.06])
    assert Script(MockOptions(ttft="50ms", prefill="10ms")).answer(ask("a b")).ttft_s == pytest.approx(0.07)
    cached = Script(MockOptions(cache=True, cache_blocks=0, block_tokens=2, prefill="10ms"))
    answers = [cached.answer(ask("a b c")) for _ in range(2)]
    assert [(each.ttft_s, each.cached_tokens) for each in answers] == [(pytest.approx(0.08), 0), (0, 3)]


def test_other_requests_slow_an_answer_down() -> None:
    """By so much for each, whatever the distribution."""
    for itl in ("10ms", "uniform:10ms..10ms"):
        script = Script(MockOptions(ttft="0", itl=itl, tokens="3", slowdown="5ms"))
        assert [script.answer(ask("a"), others).last_due_s() for others in (0, 3)] == pytest.approx(
            [0.02, 0.05]
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cache_blocks": -1}, "-1 blocks cannot be"),
        ({"block_tokens": 0}, "0 tokens per block are too few"),
        ({"prefill": "5"}, "prefill: "),
        ({"slowdown": "fast"}, "slowdown: "),
        ({"scenario": "crlf", "cache_blocks": 0, "prefill": "1ms"}, "leave out cache_blocks, prefill"),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, Any], message: str) -> None:
    """The message names the option."""
    with pytest.raises(MockOptionsError, match=message):
        Script(MockOptions(**options))


def post(mock: MockProcess, path: str) -> int:
    """Make a request with an empty body; return the status."""
    connection = http.client.HTTPConnection(urlsplit(mock.url).netloc, timeout=120)
    try:
        connection.request("POST", path)
        return connection.getresponse().status
    finally:
        connection.close()


def cached_tokens(wire: Wire, **fields: Any) -> int:
    """Ask in a stream; the cached tokens by `usage`."""
    wire.ask(**USAGE, **fields)
    wire.read_head()
    cached: int = wire.read_events()[-1]["usage"]["prompt_tokens_details"]["cached_tokens"]
    return cached


def test_usage_truth_metrics_and_times_agree(connect: Callable[[MockProcess], Wire]) -> None:
    """Over several connections; a reset empties the cache, and a server without a cache has none to empty."""
    turns = ["a b c d e f", "a b c d x y", "a b c d e f g h"]
    with start_mock(cache_blocks=0, block_tokens=2, ttft="20ms", prefill="1ms", itl="0", tokens="1") as mock:
        wires = [connect(mock) for _ in range(3)]
        seen = [
            cached_tokens(wire, messages=[{"role": "user", "content": text}])
            for wire, text in zip(wires, turns, strict=True)
        ]
        wires[0].ask(stream=False, messages=[{"role": "user", "content": turns[0]}], cache_salt="s")
        salted = wires[0].read_json()[1]["usage"]["prompt_tokens_details"]["cached_tokens"]
        assert [post(mock, path) for path in ("/reset_prefix_cache", "/flush_cache")] == [200, 200]
        again = cached_tokens(wires[1], messages=[{"role": "user", "content": turns[0]}])
        truths = mock.truth(5)
        wires[2].send(b"", "/metrics")
        assert wires[2].read_json()[0] == 405
        connection = http.client.HTTPConnection(urlsplit(mock.url).netloc, timeout=120)
        connection.request("GET", "/metrics")
        figures = connection.getresponse().read().decode()
        connection.close()
    assert (seen, salted, again) == ([0, 4, 6], 0, 0)
    assert [truth.hit_blocks * 2 for truth in truths] == [truth.cached_tokens for truth in truths]
    assert [truth.cached_tokens for truth in truths] == [0, 4, 6, 0, 0]
    for truth in truths:
        if truth.chunk_ns:
            uncached = truth.input_tokens - truth.cached_tokens
            assert truth.chunk_ns[0] - truth.late_ns - truth.received_ns == (20 + uncached) * MS
    assert 'vllm:prefix_cache_queries_total{model_name="mock"} 32\n' in figures
    assert 'vllm:prefix_cache_hits_total{model_name="mock"} 10\n' in figures
    with start_mock() as mock:
        assert post(mock, "/reset_prefix_cache") == 404


def test_of_equal_prompts_at_once_one_is_new(connect: Callable[[MockProcess], Wire]) -> None:
    """Whichever of the connections is served first."""
    question = {"messages": [{"role": "user", "content": "a b c d"}]}
    with start_mock(cache_blocks=4, block_tokens=2, ttft="20ms", itl="0", tokens="1") as mock:
        wires = [connect(mock) for _ in range(8)]
        for wire in wires:
            wire.ask(**question)
        for wire in wires:
            wire.read_head()
            wire.read_events()
        truths = mock.truth(8)
    assert sorted(truth.hit_blocks for truth in truths) == [0] + [2] * 7


def test_the_truth_has_session_headers(connect: Callable[[MockProcess], Wire]) -> None:
    """Those that gateways route by, and no other."""
    with start_mock(ttft="0", itl="0", tokens="1") as mock:
        wire = connect(mock)
        body = b'{"messages":[{"role":"user","content":"a"}]}'
        wire.send(body, X_Session_ID="s1", X_Dynamo_Parent_Session_ID="p", X_Other="o")
        wire.read_json()
        (truth,) = mock.truth(1)
    assert truth.session == {"x-session-id": "s1", "x-dynamo-parent-session-id": "p"}
