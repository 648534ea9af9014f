"""A small model of English sentences in the form of NLTK's data, and a small tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from loadgen.plugins.evals.grading import english

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PUNKT = {
    "abbrev_types.txt": "dr\netc\ne.g\nu.s\n",
    "collocations.tab": "##number##\tmain\nst\tlouis\n",
    "sent_starters.txt": "however\n",
    "ortho_context.tab": "the\t34\nsmith\t4\nmain\t4\nhe\t34\n",
}
"""A model of a few words in the form of `punkt_tab`: `the` and `he` begin sentences, `smith` never does."""


def write_punkt(data: Path) -> Path:
    """Write the model where a folder of NLTK's data has it; return its folder."""
    folder = data / english.MODEL
    folder.mkdir(parents=True)
    for name, text in PUNKT.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def punkt_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a small model of English sentences, which is the one that is found."""
    folder = write_punkt(tmp_path / "nltk_data")
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk_data"))
    english.model.cache_clear()
    yield folder
    english.model.cache_clear()


@pytest.fixture
def word_tokenizer(tmp_path: Path) -> Path:
    """A folder with a tokenizer that has a token for each word, in the form of the hub of Hugging Face."""
    from transformers import PreTrainedTokenizerFast

    words = ["?", "Please", "read", "(insert", "answer", 'here)".']
    expected = {word: index for index, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(expected, unk_token="?"))  # noqa: S106 (no password)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    folder = tmp_path / "tokenizer"
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="?").save_pretrained(folder)  # noqa: S106
    return folder
