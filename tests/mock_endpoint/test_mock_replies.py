"""The file of scripted replies."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.mock_endpoint.errors import RepliesError
from loadgen.mock_endpoint.replies import load, split

if TYPE_CHECKING:
    from pathlib import Path


@given(st.text())
def test_tokens_join_to_the_text(text: str) -> None:
    """Splitting loses nothing and makes no empty token."""
    assert "".join(split(text)) == text
    assert all(split(text))


def test_a_token_is_a_word_with_the_space_before_it() -> None:
    """Words keep their leading white space; what trails is a token of its own."""
    assert split("The answer  is\n42 ") == ("The", " answer", "  is", "\n42", " ")


def test_a_file_is_read(tmp_path: Path) -> None:
    """Each line is one reply; empty lines are skipped; what is absent has its default."""
    file = tmp_path / "replies.jsonl"
    file.write_text('{"match": "2+2", "reply": "It is 4", "ttft": "1s", "itl": "2ms"}\n\n{"status": 503}\n')
    first, second = load(file)
    assert (first.match, first.tokens, first.status) == ("2+2", ("It", " is", " 4"), None)
    assert first.ttft is not None
    assert first.itl is not None
    rng = Random(0)  # noqa: S311 (reproducible draws, no secrets)
    assert (first.ttft(rng), first.itl(rng)) == (1.0, 0.002)
    assert (second.match, second.tokens, second.ttft, second.itl) == ("", (), None, None)
    assert (second.status, second.error) == (503, "a scripted failure")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ('{"replay": "x"}', "there is no key 'replay'; possible are match, reply"),
        ('{"reply": 7}', "reply is not a text"),
        ('{"status": "429"}', "status is not a whole number"),
        ('{"status": 200}', "status 200 is not a failure"),
        ('{"match": "x"}', "either a reply or a status"),
        ('{"reply": "x", "status": 429}', "either a reply or a status"),
        ('{"reply": "x", "ttft": "5"}', "'5' has no unit"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    """The message names the file, the line, and what is wrong."""
    file = tmp_path / "replies.jsonl"
    file.write_text(f'{{"reply": "fine"}}\n\n{line}\n')
    with pytest.raises(RepliesError) as raised:
        load(file)
    assert f"{file}, line 3" in str(raised.value)
    assert complaint in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A file that is not there is named, with the reason."""
    with pytest.raises(RepliesError, match=r"none\.jsonl cannot be read: No such file"):
        load(tmp_path / "none.jsonl")
