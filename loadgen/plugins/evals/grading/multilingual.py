"""Instructions of Multi-IF that are judged otherwise than IFEval's: lengths and quotation marks by language.

The definition is facebookresearch/Multi-IF at 1cdb53ed, `ifeval.py`. The language is that of the answer, as
langdetect tells it, with a seed. Thai is split by PyThaiNLP; Chinese and Japanese are counted by characters.
"""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.english import model, sentences
from loadgen.plugins.evals.grading.ifeval_instructions import IFEVAL
from loadgen.plugins.evals.grading.instruction import Instruction, compare, plain
from loadgen.plugins.evals.grading.language import language, languages
from workloads.errors import ExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping

_BY_CHARACTERS: Final = frozenset({"zh", "zh-cn", "zh-tw", "ja"})
_THAI: Final = "th"
_QUOTES: Final = frozenset({'""', "“”", "「」"})
_MARKS: Final = frozenset("\\.!?．/_,{}<>:;$%^&*(+\"'—！，。？、`~@#￥…（）：；《》“”)[]»〔〕-「」")  # noqa: RUF001 (marks of Chinese and Japanese)
_CHARACTER: Final = re.compile(r"[\u4E00-\u9FFF\u3400-\u4DBF\u3040-\u309f\u30a0-\u30ff\uAC00-\uD7AF]")


def sentence_count(text: str) -> int:
    """The number of sentences in a text, by the rules of the text's language."""
    match language(text):
        case "th":
            return sum(len(_package("pythainlp.tokenize").sent_tokenize(line)) for line in text.splitlines())
        case "hi":
            return sum(bool(part.strip()) for part in re.split(r"(?<=[।!?])\s*", text))
        case code if code in _BY_CHARACTERS:
            return sum(len(re.findall(r"[^!?。.！？．\n]+", line.strip())) for line in text.splitlines())  # noqa: RUF001 (marks of Chinese and Japanese)
    return len(sentences(text))


def word_count(text: str) -> int:
    """The number of words in a text, by the rules of the text's language."""
    code = language(text)
    if code == _THAI:
        return len(_package("pythainlp.tokenize").word_tokenize(text))
    return _characters_and_words(text) if code in _BY_CHARACTERS else len(re.findall(r"\w+", text))


def _characters_and_words(text: str) -> int:
    """Characters of Chinese, Japanese and Korean, emoji, and words of other scripts."""
    plain = "".join(character for character in text if character not in _MARKS)
    emoji = _package("emoji")
    pictures: int = emoji.emoji_count(plain)
    plain = emoji.replace_emoji(plain, "")
    return pictures + len(_CHARACTER.findall(plain)) + len(_CHARACTER.sub(" ", plain).split())


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ExtraError(
            f"multi_if takes {name.partition('.')[0]}: pip install 'llm-loadgen[multi-if]'"
        ) from error


def _require() -> None:
    languages()
    _package("pythainlp.tokenize")
    _package("pycrfsuite")
    _package("emoji")


def _require_sentences() -> None:
    _require()
    model()


_OWN: Final[Mapping[str, Instruction]] = {
    "length_constraints:number_sentences": plain(
        lambda text, *, num_sentences, relation: compare(relation, sentence_count(text), num_sentences),
        requires=_require_sentences,
    ),
    "length_constraints:number_words": plain(
        lambda text, *, num_words, relation: compare(relation, word_count(text), num_words),
        requires=_require,
    ),
    "startend:quotation": plain(lambda text: len(text := text.strip()) > 1 and text[0] + text[-1] in _QUOTES),
}

MULTILINGUAL: Final[Mapping[str, Instruction]] = {
    name: replace(instruction, follows=_OWN.get(name, instruction).follows)
    for name, instruction in IFEVAL.items()
}
"""Every instruction by its id."""
