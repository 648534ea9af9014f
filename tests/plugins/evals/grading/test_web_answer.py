"""WebChoreArena's rules of answers and addresses, on small cases."""

from __future__ import annotations

from typing import Any

import pytest

from loadgen.plugins.evals.grading import english
from loadgen.plugins.evals.grading.web_answer import string_score, url_score
from workloads.errors import MalformedError


@pytest.mark.parametrize(
    ("answer", "references", "score"),
    [
        (" 'Blue' ", {"exact_match": "blue"}, 1.0),
        ("blue shirt", {"exact_match": "blue"}, 0.0),
        ("Red, green", {"must_include": ["red", "green", "blue", "grey"]}, 0.5),
        ("It costs 12 USD", {"must_include": ["$12 |OR| 12 usd"]}, 1.0),
        ("It costs 13", {"must_include": ["$12 |OR| 12 usd", "13"]}, 0.5),
        ("10", {"must_include": ["0", "1"]}, 1.0),
        ("anything", {"must_include": ["7 |OR| 8"]}, 1.0),
        ("red", {"exact_match": "red", "must_include": ["red", "blue"]}, 0.5),
        ("", {}, 1.0),
    ],
)
def test_answers(answer: str, references: dict[str, Any], score: float) -> None:
    """Partial credit for phrases, the product over rules; and an official quirk."""
    assert string_score(answer, references) == score


def test_a_single_character_is_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is the only phrase: 1 is not in 10."""
    monkeypatch.setattr(english, "words", str.split)
    assert [string_score(answer, {"must_include": ["1"]}) for answer in ("10", "it is 1")] == [0, 1]


@pytest.mark.parametrize("references", [{"fuzzy_match": "x"}, {"must_include": []}])
def test_what_cannot_be_judged(references: dict[str, Any]) -> None:
    """A judge's rule, and no phrase."""
    with pytest.raises(MalformedError):
        string_score("x", references)


@pytest.mark.parametrize(
    ("address", "reference", "score"),
    [
        ("http://shop/Cart/", "http://shop/cart", 1.0),
        ("http://shop/cart/1", "http://shop/cart", 1.0),
        ("http://shop/", "http://shop/cart", 0.0),
        ("http://shop/c?a=1&b=2", "http://shop/c?b=2", 1.0),
        ("http://shop/c?b=3", "http://shop/c?b=2", 0.0),
        ("http://shop/c?b=3", "http://shop/c?b=2 |OR| http://shop/d?b=3", 1.0),
    ],
)
def test_addresses(address: str, reference: str, score: float) -> None:
    """Path and query, with alternatives."""
    assert url_score(address, reference) == score
