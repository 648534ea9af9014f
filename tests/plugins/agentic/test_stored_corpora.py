"""Large inputs are read once, and again when anything has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.plugins.agentic import stored_corpora
from loadgen.plugins.agentic.readers import weka
from loadgen.plugins.agentic.reading import read_sessions
from tests.plugins.agentic.weka_files import conversation, request, with_two_agents, written

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from loadgen.plugins.agentic.session_tree import SessionTree


def _plain(tree: SessionTree) -> list[object]:
    return [(*turn.blocks[:], turn.after, turn.delay_ns, turn.extends) for turn in tree.turns]


def test_an_input_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stored corpus has the same sessions; a change, or a damaged corpus, is read again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(stored_corpora, "LARGE", 0)
    monkeypatch.setattr(stored_corpora, "MOST_STORED", 2)
    passes = []

    class Counted(weka._Reading):
        def add(self, document: object) -> None:
            passes.append(document)
            super().add(document)  # type: ignore[arg-type]

    monkeypatch.setattr(weka, "_Reading", Counted)
    trace = written(tmp_path / "one.jsonl", with_two_agents(0))
    first, again = read_sessions(trace), read_sessions(trace)
    assert len(passes) == 1
    assert again.facts == first.facts
    assert _plain(again.tree(0)) == _plain(first.tree(0))
    (stored,) = (tmp_path / "cache/loadgen/sessions").iterdir()
    stored.write_bytes(b"damaged")
    assert len(read_sessions(trace)) == 1
    assert len(passes) == 2
    for number in range(3):
        written(trace, *(conversation(request(0, [1]), name=str(each)) for each in range(number + 2)))
        assert len(read_sessions(trace)) == number + 2
    assert len(list(stored.parent.iterdir())) == 2


def test_without_a_home_nothing_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be made does not end the run."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setattr(stored_corpora, "LARGE", 0)
    assert len(read_sessions(written(tmp_path / "one.jsonl", with_two_agents(0)))) == 1
