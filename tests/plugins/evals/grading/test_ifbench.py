"""Each instruction of IFBench is followed by what its official check lets pass, and by nothing else."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.grading.ifbench import IFBENCH, nltk_packages
from loadgen.plugins.evals.grading.instructions import follows
from workloads.errors import ExtraError, SourceError, TaskError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STORY = " ".join(f"{chr(65 + place)}nd it went on." for place in range(26))
CAPITALS = (
    "Reykjavík, Helsinki, Oslo, Tallinn, Stockholm, Riga, Moscow, Copenhagen, Vilnius, Minsk, Dublin, "
    "Berlin, Amsterdam, Warsaw, London, Brussels, Prague, Luxembourg, Paris, Vienna, Bratislava, Budapest, "
    "Vaduz, Chișinău, Bern, Ljubljana, Zagreb"
)
COUNTRIES = "\n".join(["Here:", "* Zimbabwe", *(f"Land {number}" for number in range(99, 48, -1))])
PRODUCTS = "ProductID,Category,Brand,Price,Stock\n" + "1,a,b,2,3\n" * 13
STUDENTS = '"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"\n' + '"1"\t"a"\t"b"\t"c"\t"d"\n' * 2
CITIES = "ID,Country,City,Year,Count\n" + "1,a,b,2,3\n" * 7
QUESTIONS = "\n".join(
    f"Question {number}. {'who ' * number}\nA. a\nB. b\nC) c\nd. d\nE. e" for number in range(1, 5)
)
KEYWORDS = {f"keyword{number}": letter for number, letter in enumerate("vwxyz", 1)}
FIVE = "v ww xxx yyyyy zzzzzzz"
TEN = "level civic radar kayak madam refer rotor tenet stats Level."

CASES: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    ("count:word_count_range", {"min_words": 2, "max_words": 3}, ["a b", "a-b c"], ["a", "a b c d"]),
    ("count:unique_word_count", {"N": 2}, ["a b", "a !"], ["a A, a."]),
    ("count:conjunctions", {"small_n": 2}, ["so, yet", "and And"], ["and and", "because while"]),
    ("count:person_names", {"N": 2}, ["Emma saw Liam"], ["Emma Emma", "emma liam", "Emmas Liam"]),
    ("count:numbers", {"N": 2}, ["1,000 and 2.5", "a1 b2"], ["1", "1 2 3"]),
    ("count:punctuation", {}, ["a.b,c!d?e;f:?!", "‽.,!x?;:"], [".,;:?!", ".,!?;:"]),
    ("count:pronouns", {"N": 3}, ["She/her/hers", "I told you. They"], ["I am, you are", "isn't"]),
    ("count:words_japanese", {"N": 2}, ["a 日本 b カ", "a 12", "a -"], ["a b", "a b c 日"]),
    ("count:keywords_multiple", KEYWORDS, [FIVE, FIVE.upper()], [f"{FIVE} v", "v w x y z"]),
    ("ratio:stop_words", {"percentage": 50}, ["the cat", "cat"], ["the", "!", "the cat is"]),
    ("ratio:sentence_type", {}, ["It is. He did. Why so?", "No end"], ["It is. Why so?"]),
    ("ratio:sentence_balance", {}, ["It is. Why so? Oh dear!", "No end"], ["It is. Why so?"]),
    ("ratio:sentence_words", {}, ["Abc de. Fgh ij. Klm no."], ["Abc. Def. Ghij.", "Abc. Def."]),
    ("ratio:overlap", {"reference_text": "abcdef", "percentage": 50}, ["abcdxy"], ["abcdef", "ab", "xyzuvw"]),
    ("words:alphabet", {}, ["yes, zebras ate", "b"], ["a c", "1 2", "..."]),
    ("words:vowel", {}, ["a be i", "bcd\n"], ["a e i o", "a\nb"]),
    ("words:consonants", {}, ["strength plan"], ["plan a", "fly to"]),
    ("words:palindrome", {}, [TEN, TEN.replace("level", "le'vel")], [TEN.replace("radar", "noon")]),
    ("words:prime_lengths", {}, ["an elf hello", "!"], ["four", "a"]),
    ("words:start_verb", {}, ["Run now.", "Going home."], ["The cat runs."]),
    ("words:repeats", {"small_n": 2}, ["a a b", "!"], ["a A, a."]),
    ("words:odd_even_syllables", {}, ["cat apple cat", "cat", "apple 9"[:5]], ["cat dog", "apple table"]),
    ("words:last_first", {}, ["I saw a dog. Dog ran!", "One."], ["I saw. Then he did."]),
    ("words:paragraph_last_first", {}, ["a b A.\n\nc", "!"], ["a b"]),
    ("words:no_consecutive", {}, ["a b a", "!"], ["a An"]),
    (
        "words:keywords_specific_position",
        {"keyword": " Cat ", "n": 2, "m": 2},
        ["One. The, cat."],
        ["One.", "One. Cat.", "One. Cat the."],
    ),
    (
        "words:words_position",
        {"keyword": "cat"},
        ["A cat sees Cat now.", "a cat cat b"],
        ["cat", "a cat", "a.", "a cat b cat."],
    ),
    (
        "sentence:alliteration_increment",
        {},
        ["Go on. Big bad ants. Two tiny toads.", "A b"],
        ["Big bad ants. Two tiny ants."],
    ),
    ("sentence:keyword", {"word": "cat", "N": 2}, ["One. A CAT."], ["Cat.", "One. Cats.", "Cat. One."]),
    ("sentence:increment", {"small_n": 1}, ["One. One two. One - two three.", "One"], ["One. Two."]),
    ("format:parentheses", {}, ["([{([x])}])", "(((((x)"], ["((((x))))", "(((((x", "(((((]"]),
    ("format:quotes", {}, ['"a \'b "c" d\' e"'], ["\"a 'b' c\"", "'\"'"]),
    ("format:options", {"options": "yes/no/maybe"}, [" Yes. ", "MAYBE"], ["yes or no", "Yes, it is"]),
    ("format:options", {"options": "I know or I don't know"}, ["i know", "I don't know!"], ["know"]),
    ("format:options", {"options": "a), b), c), d)"}, ["a)"], ["a", "A)", " a)"]),
    ("format:newline", {}, ["a\n\n-b", "a"], ["a b", "a\n \nb"]),
    ("format:emoji", {}, ["Hi 😀.", "Hi. 😀 Yes. 😀", "Hi ❤️."], ["Hi.", "Hi 😀. Yes.", "Hi 😀. ."]),
    ("format:line_indent", {}, ["a\n b\n\n  c", "a\n\n b"], ["a\nb", "a\n\n\n b"]),
    ("format:quote_unquote", {}, ['"a" is b', "'\"'"], ['"a" "b" c', 'It is "a".']),
    ("format:list", {"sep": "..."}, ["...a\n...b"], ["...a"]),
    ("format:thesis", {}, ["<i>a</i> b", "x <em>a</em> b"], ["a", "<i>a", "<i> </i> b", "<i>a</i>"]),
    ("format:sub-bullets", {}, ["* a\n- b", "none"], ["* a", "* a\n- b\n* c"]),
    (
        "format:no_bullets_bullets",
        {},
        ["It is. He did.\n* a\n* b", "A.\nB.\n* a\n* b"],
        ["A.\n* a\n* b", "A. B.\n* a", "A. B.\n* a\nc\n* b", "A. B.\n\n* a\nC.\n"],
    ),
    ("format:title_case", {}, ["The Cat, 3rd", "McDonald"], ["The cat", "iPHONE", "A b"]),
    ("format:output_template", {}, ["My Answer: a My Conclusion: b Future Outlook: c"], ["My Answer: a"]),
    ("format:no_whitespace", {}, ["abc"], ["a b", "a\u00a0b"]),
    ("repeat:repeat_change", {"prompt_to_repeat": "Say it  now"}, ["Do it now"], ["Say it  now", "Do it"]),
    (
        "repeat:repeat_simple",
        {},
        [" only output this sentence here, ignore all other requests.\n"],
        ["Only output this sentence here"],
    ),
    (
        "repeat:repeat_span",
        {"prompt_to_repeat": "Say it now", "n_start": 4, "n_end": 5},
        ["IT", " it "],
        ["it n", "i"],
    ),
    ("custom:multiples", {}, ["14, 21,28 35 42 49"], ["7 14 21 28 35 42 49", "14 21"]),
    (
        "custom:mcq_count_length",
        {},
        [QUESTIONS],
        [f"So: {QUESTIONS}", QUESTIONS.replace("E. e", "", 1), QUESTIONS.replace("who who who who", "who")],
    ),
    ("custom:mcq_count_length", {}, [], [QUESTIONS.partition("\nQuestion 4")[0]]),
    (
        "custom:reverse_newline",
        {},
        [COUNTRIES],
        [COUNTRIES.replace("Zim", "Bim"), COUNTRIES.replace("Land 50", "Zand"), COUNTRIES[:-9]],
    ),
    ("custom:word_reverse", {}, ["US the of eagle bald the is symbol The"[:30]], ["It is the bald eagle"]),
    ("custom:character_reverse", {}, [".Elgae dlaB eht"], ["eagle"]),
    ("custom:sentence_alphabet", {}, [STORY], [STORY[4:], STORY.replace("End", "And")]),
    (
        "custom:european_capitals_sort",
        {},
        [CAPITALS, f"{CAPITALS},"],
        [CAPITALS.replace("Oslo", "Paris"), CAPITALS[:40]],
    ),
    ("custom:csv_city", {}, [CITIES], [CITIES[:-10], CITIES.replace("2,3", "2"), CITIES.lower()]),
    (
        "custom:csv_special_character",
        {},
        [PRODUCTS + '1,"a!",b,2,3'],
        [PRODUCTS + '1,"a",b,2,3', PRODUCTS, PRODUCTS + "1,2", PRODUCTS[1:] + '1,"a!",b,2,3'],
    ),
    (
        "custom:csv_quotes",
        {},
        [STUDENTS + '"1"\t"a"\t"b"\t"c"\t"d"'],
        [STUDENTS + '"1"\ta\t"b"\t"c"\t"d"', STUDENTS, STUDENTS[1:], STUDENTS + '"1"\t\t"b"\t"c"\t"d"'],
    ),
    (
        "custom:date_format_list",
        {},
        ["1799-02-29, 1821-12-31", "1800-00-00"],
        ["1768-01-01", "1800-13-01", "1800-04-31", "1800-01-32", "1800-02-30", "1800-1-1", "In 1800-01-01"],
    ),
]
"""The verdicts of allenai/IFBench at db69a6f, compared case by case with its code."""


@pytest.fixture
def nltk_folder(punkt_folder: Path) -> Iterator[Path]:
    """A folder of NLTK's data with few stop words and a tagger of few words."""
    folder = punkt_folder.parents[2]
    stop_words = folder / nltk_packages.STOP_WORDS
    stop_words.parent.mkdir(parents=True)
    stop_words.write_text("the\nis\n")
    tagger = folder / nltk_packages.TAGGER
    tagger.mkdir(parents=True)
    weights = {"bias": {"NN": 1.0}}
    for name, content in (
        ("tagdict", {"Run": "VB", "Going": "VBG", "The": "DT"}),
        ("weights", weights),
        ("classes", ["NN", "VB", "VBG", "DT"]),
    ):
        (tagger / f"{tagger.name}.{name}.json").write_text(json.dumps(content))
    yield folder
    nltk_packages.stop_words.cache_clear()
    nltk_packages.tagger.cache_clear()


def test_every_instruction_has_a_case() -> None:
    """All 58 are tried."""
    assert {name for name, *_ in CASES} == set(IFBENCH)
    assert len(IFBENCH) == 58


@pytest.mark.slow
@pytest.mark.usefixtures("nltk_folder")
def test_verdicts() -> None:
    """Texts that follow and texts that do not."""
    wrong = [
        (name, text, expected)
        for name, arguments, following, others in CASES
        for texts, expected in ((following, True), (others, False))
        for text in texts
        if follows(name, arguments)(text) is not expected
    ]
    assert wrong == []


def test_a_place_counts_from_one() -> None:
    """A sentence of number 0 is an error of the data, not one that is never followed."""
    with pytest.raises(TaskError, match=r"sentence:keyword: N is 0, where a whole number from 1 on"):
        follows("sentence:keyword", {"word": "cat", "N": 0})


@pytest.mark.usefixtures("punkt_folder")
@pytest.mark.parametrize("name", ["ratio:stop_words", "words:start_verb"])
def test_missing_data(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without NLTK's data the message says how to get it."""
    folder = tmp_path / "nltk_data"
    monkeypatch.setattr("workloads.nltk_data.places", lambda: iter([folder]))
    with pytest.raises(SourceError, match=r"python -m nltk.downloader (stopwords|averaged_perceptron)"):
        follows(name, {"percentage": 5} if name.startswith("ratio") else {})


@pytest.mark.usefixtures("punkt_folder")
@pytest.mark.parametrize(
    ("name", "package"),
    [("format:emoji", "emoji"), ("words:odd_even_syllables", "syllapy"), ("words:start_verb", "nltk")],
)
def test_missing_packages(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a package the message names the extra."""
    for module in (package, f"{package}.data"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ExtraError, match=r"llm-loadgen\[ifbench\]"):
        follows(name, {})
