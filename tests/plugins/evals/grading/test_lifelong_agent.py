"""LifelongAgentBench: rows that an answer has, and sets with their F1."""

from __future__ import annotations

import pytest

from loadgen.plugins.evals.grading.lifelong_agent import rows_match, set_match


@pytest.mark.parametrize(
    ("answer", "rows", "right"),
    [
        ("[(1, 'a'), (2, 'b')]", [(1, "a"), (2, "b")], True),
        ("[(2, 'b'), (1, 'a')]", [(1, "a"), (2, "b")], False),
        ("[(1,), (2,)]", [(1,), (2,)], True),
        ("[(Decimal('5.50'), 'x')]", [(5.5, "x")], True),
        ("(1.0000001)", [(1,)], True),
        ("(1.1)", [(1,)], False),
        ("('-55')", [(-55,)], False),
        ("(55 kg)", [(55,)], True),
        ("(1e400)", [(1,)], False),
        ('("it\'s")', [("it's",)], True),
        ("(a b)", [("a b",)], True),
        ("3", [(3,)], True),
        ("3, x", [(3, "x")], True),
        ("3", [(3,), (4,)], False),
        ("", [], True),
        ("[]", [], True),
        ("(1", [(1,)], False),
        ("1)", [(1,)], False),
        ("(1, 2)", [(1,)], False),
    ],
)
def test_rows(answer: str, rows: list[tuple[float | str, ...]], *, right: bool) -> None:
    """In order, numbers within a tolerance, texts with or without quotes."""
    assert rows_match(answer, rows) is right


def test_sets() -> None:
    """Exact match and F1; no answer has neither."""
    assert set_match(["a", "b", "b"], {"a", "b"}) == (True, 1.0)
    assert set_match(["a", "c"], {"a", "b"}) == (False, 0.5)
    assert set_match(["c"], {"a"}) == (False, 0.0)
    assert set_match(None, {"a"}) == (False, 0.0)
