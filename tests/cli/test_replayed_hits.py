"""Sessions hit the mock's prefix cache as often as their blocks allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.agentic.prefix_hits import prefix_hits
from loadgen.plugins.agentic.reading import read_sessions
from tests.plugins.agentic.weka_files import with_two_agents, written

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """The folder of a tokenizer with a token for each word, as the mock counts."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))  # noqa: S106 (no password)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    folder = tmp_path / "words"
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="?").save_pretrained(folder)  # noqa: S106 (no password)
    return folder


def test_hits_are_the_theoretical_ones(loadgen: Any, tmp_path: Path, words: Path) -> None:
    """Two sessions at a time, each with two subagents, on a cache without bound: block by block."""
    trace = written(
        tmp_path / "trace.jsonl", *({**with_two_agents(0), "id": f"session {n}"} for n in range(5))
    )
    corpus = read_sessions(trace)
    theory = [prefix_hits(corpus.tree(number)) for number in range(len(corpus))]
    with start_mock(cache_blocks=0, block_tokens=4, ttft="2ms", itl="0") as server:
        common = ("--url", server.url, "--model", "mock", "-q", "--on-invalid", "warn", "--out", "run")
        replay = ("--trace", trace, "--trace-speed", "1000", "--tokenizer", words)
        done = loadgen("perf", *common, *replay, "-c", 2)
        assert done.returncode == 0, done.stderr
        truths = server.truth(len(theory) * len(corpus.tree(0).turns))
    assert sum(truth.hit_blocks for truth in truths) == sum(hits for hits, _ in theory) > 0
    assert sum(truth.input_tokens // 4 for truth in truths) == sum(blocks for _, blocks in theory)


def test_hits_of_made_up_sessions(loadgen: Any, words: Path) -> None:
    """Two sessions of one theme, one after the other: prompts of exact lengths, and shared system prompts."""
    form = "sessions=2 themes=1 turns=3 system=128 task=64 result=64 output=64 user=0 fanout=0 tool=0s"
    with start_mock(cache_blocks=0, block_tokens=64, ttft="2ms", itl="0") as server:
        common = ("--url", server.url, "--model", "mock", "-q", "--on-invalid", "warn", "--out", "run")
        done = loadgen("perf", *common, "--agentic", form, "--tokenizer", words, "-c", 1, "--sessions", 2)
        assert done.returncode == 0, done.stderr
        truths = server.truth(6)
    assert [truth.input_tokens for truth in truths] == 2 * [192, 320, 448]
    # Of the second session, the first prompt finds the two blocks of the system prompt.
    assert [truth.hit_blocks for truth in truths] == [0, 3, 5, 2, 3, 5]
