"""The tree of errors is drawn, and names are suggested only when they are near."""

from __future__ import annotations

import pytest

from workloads import errors


def test_tree_is_drawn() -> None:
    """Every error is in the module's drawing and is a WorkloadError."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert len(kinds) > 1
    for kind in kinds:
        assert issubclass(kind, errors.WorkloadError)
        assert kind.__name__ in (errors.__doc__ or "")


@pytest.mark.parametrize(
    ("name", "suggestion"), [("qestion", "; did you mean 'question'?"), ("prompt", ""), ("", "")]
)
def test_nearest_name(name: str, suggestion: str) -> None:
    """A near name is suggested, a far one is not."""
    assert errors.did_you_mean(name, ["answer", "question"]) == suggestion
