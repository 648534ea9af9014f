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


def test_a_system_prompt_goes_first() -> None:
    """Before the question's own, after a blank line; and before a chat that has none."""
    assert Sample(0, "?").with_system("Be brief.").system == "Be brief."
    assert Sample(0, "?", "Be kind.").with_system("Be brief.").system == "Be brief.\n\nBe kind."
    system, user = {"role": "system", "content": "Be kind."}, {"role": "user", "content": "?"}
    assert Sample(0, chat=(user,)).with_system("x").chat == ({"role": "system", "content": "x"}, user)
    both = Sample(0, chat=(system, user)).with_system("x").chat
    assert both == ({"role": "system", "content": "x\n\nBe kind."}, user)
