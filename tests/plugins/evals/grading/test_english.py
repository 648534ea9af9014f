"""Sentences and words are grouped by punkt and by the rules of the Penn Treebank."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.plugins.evals.grading import english
from loadgen.plugins.evals.grading.english import treebank_words
from loadgen.plugins.evals.grading.punkt import PunktModel, read, sentences
from workloads import nltk_data
from workloads.errors import SourceError

if TYPE_CHECKING:
    from pathlib import Path

CUT = {
    "One. Two.": ["One.", "Two."],
    "He said so. the end": ["He said so.", "the end"],
    "Dr. Smith came. He left.": ["Dr. Smith came.", "He left."],
    "Cats, dogs etc. The rest.": ["Cats, dogs etc.", "The rest."],
    "Cats, dogs etc. However, no.": ["Cats, dogs etc.", "However, no."],
    "Turn to 3. main street": ["Turn to 3. main street"],
    "It is 5. The end": ["It is 5.", "The end"],
    "By J. Smith. Yes": ["By J. Smith.", "Yes"],
    "Wait... what? No!": ["Wait... what?", "No!"],
    "Wait... The end": ["Wait...", "The end"],
    'He asked "why?" Then left.': ['He asked "why?"', "Then left."],
    "(It is so.) Yes.": ["(It is so.)", "Yes."],
    "What?! No. . Yes": ["What?!", "No.", ".", "Yes"],
    "a.b.c d": ["a.b.c d"],
    "No end": ["No end"],
    "  \n ": [],
    "": [],
    "Line one\nline two. Three.\n\n": ["Line one\nline two.", "Three."],
}


@pytest.mark.parametrize("text", CUT)
def test_sentences(text: str, punkt_folder: Path) -> None:
    """A mark ends a sentence unless the model says otherwise of the words around it."""
    assert sentences(read(punkt_folder), text) == CUT[text]


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="aB1.?!\"') \n-,", max_size=40))
def test_no_letter_is_lost(text: str) -> None:
    """Sentences are the text again but for the blanks between them."""
    model = PunktModel(frozenset({"b"}), frozenset(), frozenset(), {})
    assert "".join("".join(sentences(model, text)).split()) == "".join(text.split())


WORDS = {
    "Don't stop.": ["Do", "n't", "stop", "."],
    "We CANNOT go, U.S. troops!": ["We", "CAN", "NOT", "go", ",", "U.S.", "troops", "!"],
    'He said "HI" (twice)': ["He", "said", "``", "HI", "''", "(", "twice", ")"],
    "A 3,5 B:C well-known -- $5": ["A", "3,5", "B", ":", "C", "well-known", "--", "$", "5"],
    "WORD\u2014WORD": ["WORD\u2014WORD"],
    "\u201cYES.\u201d": ["\u201c", "YES", ".", "\u201d"],
    "I'LL": ["I", "'LL"],
}


@pytest.mark.parametrize("text", WORDS)
def test_words(text: str) -> None:
    """Marks, quotes and the parts of contractions are their own words; dashes within words are not."""
    assert treebank_words(text) == WORDS[text]


def test_words_of_sentences(punkt_folder: Path) -> None:
    """A text is cut into sentences first: only the last full stop of one is its own word."""
    assert punkt_folder.is_dir()
    assert english.words("See Dr. Smith. He left.") == ["See", "Dr.", "Smith", ".", "He", "left", "."]


def test_a_folder_of_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, punkt_folder: Path) -> None:
    """The folder of `--data` is looked in after those that are named, and once however often offered."""
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "none"))
    punkt_folder.parents[2].rename(tmp_path / nltk_data.FOLDER)
    nltk_data.offer(tmp_path)
    nltk_data.offer(tmp_path)
    named = os.environ["NLTK_DATA"].split(os.pathsep)
    assert named == [str(tmp_path / "none"), str((tmp_path / nltk_data.FOLDER).resolve())]
    assert english.sentences("One. Two.") == ["One.", "Two."]


def test_nothing_to_offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of data without a model changes nothing."""
    monkeypatch.setenv("NLTK_DATA", "")
    nltk_data.offer(tmp_path)
    assert os.environ["NLTK_DATA"] == ""


def test_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a model the message says how to get it."""
    monkeypatch.setattr(nltk_data, "places", lambda: iter([tmp_path]))
    english.model.cache_clear()
    with pytest.raises(SourceError, match=r"python -m nltk\.downloader punkt_tab.*NLTK_DATA.*nltk_punkt"):
        english.sentences("One.")


def test_half_a_model(punkt_folder: Path) -> None:
    """A model that lacks a file, or has a line that is not one, is named."""
    (punkt_folder / "ortho_context.tab").write_text("the\n")
    with pytest.raises(SourceError, match="not punkt's English model"):
        english.sentences("One.")
    (punkt_folder / "ortho_context.tab").unlink()
    with pytest.raises(SourceError, match="No such file"):
        english.sentences("One.")
