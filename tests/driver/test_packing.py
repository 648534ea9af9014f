"""A request source on its way to a worker: it asks the same there, and nothing travels without need."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.load import Closed
from loadgen.driver.plan import Plan
from loadgen.driver.requests.request_source import RequestSource
from loadgen.driver.workers.framing import packed, unpacked
from workloads.conversation_sample import ConversationSample, FollowUp
from workloads.sample import Sample

texts = st.text(max_size=5)
messages = st.tuples(st.fixed_dictionaries({"role": st.just("user"), "content": texts}))
answers = st.fixed_dictionaries({"role": st.just("assistant"), "content": texts})
some = st.integers(1, 99) | st.none()
questions = st.lists(
    st.builds(Sample, st.integers(0, 9), texts)
    | st.builds(
        Sample,
        st.integers(0, 9),
        prompt=texts,
        system=texts | st.none(),
        chat=messages | st.none(),
        token_ids=st.tuples(st.integers(0, 9)) | st.none(),
        tools=st.just(()) | st.just(({"type": "function"},)),
        max_tokens=some,
        temperature=st.floats(0, 2) | st.none(),
        tags=st.dictionaries(texts, texts, max_size=1),
    )
    | st.builds(
        ConversationSample,
        st.integers(0, 9),
        prompt=texts,
        chat=messages | st.none(),
        follow_ups=st.lists(st.builds(FollowUp, messages, answers, some), max_size=2).map(tuple),
    ),
    min_size=1,
    max_size=5,
)


def plan_of(requests: int | None = None, **more: Any) -> Plan:
    """A plan with these limits."""
    limits = {"duration_s": 1.0, "warmup": 0} | more
    load = Closed(1)
    return Plan(
        load, requests, generation=Generation("m"), protocol="chat", seed=3, timeouts=Timeouts(60), **limits
    )


def arrived(source: RequestSource, plan: Plan) -> RequestSource:
    """What a worker gets."""
    return unpacked(pickle.loads(pickle.dumps(packed(source, plan))))  # noqa: S301 (made right here)


@given(questions, st.booleans())
def test_what_arrives_is_what_was_sent(asked: list[Sample], conversations: bool) -> None:  # noqa: FBT001 (drawn)
    """Every field of every sample; recorded answers only where they are asked for."""
    source = RequestSource(asked, conversations)
    assert arrived(source, plan_of(history="recorded")) == replace(source, samples=tuple(asked))
    without = tuple(
        replace(item, follow_ups=tuple(replace(turn, recorded=None) for turn in item.follow_ups))
        if isinstance(item, ConversationSample)
        else item
        for item in asked
    )
    assert arrived(source, plan_of()) == replace(source, samples=without)


def test_the_numbers_arrive() -> None:
    """Weights, times and what is left."""
    samples = [Sample(0), Sample(1)]
    source = RequestSource(samples, weights=(1.0, 2.5), offsets_ns=(0, 10**15), left=[0, 5], elapsed_ns=7)
    got = arrived(source, plan_of(order="weighted"))
    assert (got.weights, got.elapsed_ns) == ((1.0, 2.5), 7)
    assert (list(got.offsets_ns or ()), list(got.left or ())) == ([0, 10**15], [0, 5])


@pytest.mark.parametrize(
    ("plan", "left", "travel"),
    [
        (plan_of(3), None, 3),
        (plan_of(3, warmup=2), None, 5),
        (plan_of(99), None, 10),
        (plan_of(None, sessions=4), None, 4),
        (plan_of(3, warmup=1), [0, 2, 6], 8),
        (plan_of(3, order="shuffle"), None, 10),
        (plan_of(3, warmup_s=1.0), None, 10),
        (plan_of(None), None, 10),
    ],
)
def test_only_what_can_be_asked_travels(plan: Plan, left: list[int] | None, travel: int) -> None:
    """In order, from the first on, that is known; else all of them."""
    source = RequestSource([Sample(index) for index in range(10)], left=left)
    assert len(arrived(source, plan).samples) == travel
