"""The taxonomy: names that are stable, and a side that each one blames."""

from __future__ import annotations

import pickle

import orjson
import pytest

from loadgen.driver.client.failure import Failure, blame, http
from tests.for_each import for_each


def test_the_names_are_those_of_the_log() -> None:
    """They never change: logs and rulesets know them."""
    assert [name.value for name in Failure] == [
        *("refused", "dns", "tls", "connect_timeout", "first_byte_timeout", "idle_timeout", "total_timeout"),
        *("reset", "unasked_response", "truncated", "error_frame", "malformed_frame", "empty_response"),
        "too_large",
        *("decode_error", "cancelled", "client_limit", "worker_lost", "agent_error", "client_bug"),
    ]


@for_each("name", Failure)
def test_each_is_a_word_with_a_meaning(name: Failure) -> None:
    """A string like any other on its way into the log, and a sentence that says what it is."""
    assert (str(name), orjson.loads(orjson.dumps(name))) == (name.value, name.value)
    assert pickle.loads(pickle.dumps(name)) is name  # noqa: S301 (just pickled)
    assert name.meaning[0].isupper()
    assert name.meaning.endswith(".")
    assert blame(name) == blame(name.value) == name.blames


@pytest.mark.parametrize(
    ("status", "side"),
    [(302, "server"), (400, "client"), (404, "client"), (408, "server"), (429, "server"), (503, "server")],
)
def test_a_status_blames_who_can_do_something(status: int, side: str) -> None:
    """Most client errors, by their number, are about what was asked."""
    assert blame(http(status)) == side
