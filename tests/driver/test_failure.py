"""The taxonomy: names that are stable, and a side that each one blames."""

from __future__ import annotations

import pickle
from typing import get_args

import orjson

from loadgen.driver.client.failure import Failure, Side
from tests.for_each import for_each


def test_the_names_are_those_of_the_log() -> None:
    """They never change: logs and rulesets know them."""
    assert [name.value for name in Failure] == [
        *("refused", "dns", "tls", "connect_timeout", "first_byte_timeout", "idle_timeout", "total_timeout"),
        *("reset", "unasked_response", "truncated", "aborted", "error_frame"),
        *("malformed_frame", "empty_answer", "empty_response"),
        "wrong_results",
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
    assert name.blames in get_args(Side)
