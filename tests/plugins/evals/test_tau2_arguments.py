"""tau2's tools take arguments as the models of tau2 do.

`tau2_calls.jsonl` has calls with results of tau2's own tools (sierra-research/tau2-bench at a2c02472) on the
databases of `tau2_worlds`, call by call in one world of each domain.
"""

from __future__ import annotations

import json
import re
from copy import deepcopy
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.plugins.evals.tau2_worlds import BOOKING, world_of

if TYPE_CHECKING:
    from loadgen.plugins.evals.environments.tau2.world import World

_LINES: Final = Path(__file__).with_name("tau2_calls.jsonl").read_text(encoding="utf-8").splitlines()
_CALLS: Final = [json.loads(line) for line in _LINES]
_RELEASE: Final = re.compile(r"(?<=https://errors.pydantic.dev/)[\d.]+")
_JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
_LISTS: Final = ("flights", "passengers", "payment_methods")


@pytest.mark.parametrize(
    ("domain", "calls"),
    [(domain, list(calls)) for domain, calls in groupby(_CALLS, lambda call: call["domain"])],
)
def test_tools_answer_as_those_of_tau2(domain: str, calls: list[dict[str, Any]]) -> None:
    """Each result is tau2's, but for the release of pydantic that a link names."""
    world = world_of(domain)
    for call in calls:
        observation = world.call(call["requestor"], call["name"], call["arguments"])
        assert _RELEASE.sub("", observation.text) == call["text"], call
        assert observation.failed == call["text"].startswith("Error: ")


def booked(**changes: Any) -> World:
    """A world after a booking, which succeeds."""
    world = world_of("airline")
    assert not world.call("assistant", "book_reservation", {**deepcopy(BOOKING), **changes}).failed
    return world


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(_LISTS), st.dictionaries(st.sampled_from(["price", "cabin", "x"]), _JSON, min_size=1))
def test_further_members_change_nothing(name: str, further: dict[str, Any]) -> None:
    """Members that a model does not have are dropped."""
    (given_object,) = BOOKING[name]
    assert booked(**{name: [{**given_object, **further}]}).digest() == booked().digest()


@pytest.mark.parametrize("amount", [100.0, "100", "100.0"])
def test_whole_amounts_are_integers(amount: float | str) -> None:
    """A number with a zero fraction, or a text of one, pays as the integer does."""
    payment = {"payment_id": "gift", "amount": amount}
    assert booked(payment_methods=[payment]).digest() == booked().digest()


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(_CALLS), st.data(), _JSON)
def test_any_value_of_one_argument_has_a_result(
    call: dict[str, Any], data: st.DataObject, value: Any
) -> None:
    """A tool answers or refuses, and the databases keep a digest."""
    world = world_of(call["domain"])
    name = data.draw(st.sampled_from([*call["arguments"], "further"]))
    observation = world.call(call["requestor"], call["name"], {**call["arguments"], name: value})
    assert observation.failed == observation.text.startswith("Error: ")
    assert len(world.digest()) == 64
