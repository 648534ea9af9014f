"""A question becomes chat messages."""

from __future__ import annotations

from workloads.sample import Sample


def test_prompt_alone() -> None:
    """Without a system prompt there is one message, the user's."""
    assert Sample(0, "Why?").messages() == [{"role": "user", "content": "Why?"}]


def test_system_prompt_goes_first() -> None:
    """A system prompt comes before the user's text."""
    assert Sample(0, "Why?", "Be brief.").messages() == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why?"},
    ]
