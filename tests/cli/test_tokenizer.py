"""What counts the tokens of prompts: a tokenizer's own count, without the marks around a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from cli.errors import UsageError
from cli.made_to_length import made_to_length
from cli.perf_settings import PerfSettings
from cli.tokenizer import counter

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tokenizer: a token a word, marks around each text, and a bound on its length."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({"?": 0, "<s>": 1}, unk_token="?"))  # noqa: S106 (no password)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizer.enable_truncation(8)
    folder = tmp_path_factory.mktemp("words")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="?").save_pretrained(folder)  # noqa: S106 (no password)
    return folder


def test_only_the_text_is_counted(words: Path) -> None:
    """Neither marks at its beginning nor a bound that the tokenizer has for models change the count."""
    count = counter(str(words))
    assert count is not None
    assert count("one two three") == 3
    assert count("word " * 50) == 50
    assert counter(None) is None


def test_prompts_have_exactly_the_tokens_asked_for(words: Path) -> None:
    """From the options to the prompts."""
    settings = PerfSettings(
        url=["http://127.0.0.1:9"],
        model="m",
        input_tokens="uniform:20..90",
        output_tokens="fixed:7",
        tokenizer=str(words),
    )
    dataset = made_to_length(settings, 30)
    lengths = [len(sample.prompt.split()) for sample in dataset.samples]
    assert min(lengths) >= 20
    assert max(lengths) <= 90
    assert len(set(lengths)) > 5
    assert {sample.max_tokens for sample in dataset.samples} == {7}
    assert dataset.facts["lengths"] == {"by": "tokenizer", "messages_counted": 30, "off_by_at_most": 0}


def test_a_tokenizer_that_is_missing_is_told() -> None:
    """The option and the name are in the message."""
    with pytest.raises(UsageError, match=r"--tokenizer \./nowhere: cannot be loaded"):
        counter("./nowhere")
