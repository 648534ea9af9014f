"""Reasoning in the text of answers."""

from __future__ import annotations

import pytest

from workloads.thinking import TAGS, answer_start, without_thinking


@pytest.mark.parametrize(("opening", "closing"), TAGS.items())
def test_reasoning_in_tags_is_not_the_answer(opening: str, closing: str) -> None:
    """Of every model's tags, also twice, after white space, or cut before the end."""
    assert without_thinking(f"{opening}Answer: A?{closing}\n\nB") == "B"
    assert without_thinking(f"\n{opening}a{closing}\n{opening}b{closing} B\n") == "B\n"
    assert without_thinking(f"{opening}Answer: A? But") == ""


@pytest.mark.parametrize("tag", ["</think>", "[/THINK]"])
def test_the_prompt_may_have_the_opening_tag(tag: str) -> None:
    """Then the text begins with reasoning, up to the closing tag."""
    assert without_thinking(f"Answer: A? No.{tag}B") == "B"


@pytest.mark.parametrize(
    "text", ["", " B ", "Use <think>…</think> tags", "B <think>A</think>", "a < b", "<thin", "</thinking>"]
)
def test_other_texts_are_answers(text: str) -> None:
    """Tags that an answer mentions are a part of it."""
    assert (without_thinking(text), answer_start(text)) == (text, 0)
