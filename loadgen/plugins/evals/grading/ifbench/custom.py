"""Instructions of IFBench that belong to one prompt each: `custom:…`."""

from __future__ import annotations

import csv
import io
import re
import string
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.english import model, sentences
from loadgen.plugins.evals.grading.ifbench.text import EDGES, ascii_letters, bare
from loadgen.plugins.evals.grading.instruction import Instruction, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

_MULTIPLES: Final = [str(number) for number in range(14, 51, 7)]
_QUESTION: Final = re.compile(r"\n*(?:Question \d+[\.|\):;]?\s*)")
_OPTION: Final = re.compile(r"^[A-Ea-e][\.|\)]\s*\w+")
_QUESTIONS: Final = 4
_OPTIONS: Final = 5
_COUNTRIES: Final = 52
_CAPITALS: Final = (
    "Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin Amsterdam "
    "Warsaw London Brussels Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz Chisinau Bern Ljubljana "
    "Zagreb"
)
_CITY: Final = ["ID", "Country", "City", "Year", "Count"]
_PRODUCT: Final = ("ProductID", "Category", "Brand", "Price", "Stock")
_STUDENT: Final = ("StudentID", "Subject", "Grade", "Semester", "Score")
_SPECIAL: Final = re.compile(r'".*[^\d\w\s].*"')
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_DAYS: Final = dict.fromkeys((1, 3, 5, 7, 8, 10, 12), 31) | dict.fromkeys((4, 6, 9, 11), 30) | {2: 29}
_NAPOLEON: Final = range(1769, 1822)


def _choices(text: str) -> bool:
    if not text.startswith("Question"):
        return False
    questions = [part.strip() for part in _QUESTION.split(text) if part.strip()]
    if len(questions) != _QUESTIONS:
        return False
    lengths = []
    for question in questions:
        lines = [line.strip() for line in question.split("\n")]
        options = [place for place, line in enumerate(lines) if _OPTION.match(line)]
        if len(options) != _OPTIONS:
            return False
        lengths.append(len(" ".join(lines[: options[0]]).strip()))
    return all(before < after for before, after in pairwise(lengths))


def _reverse_newline(text: str) -> bool:
    lines = [line.strip(EDGES) for line in text.split("\n") if line.strip(EDGES)]
    start = next((place for place, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    countries = [ascii_letters(line) for line in lines[start:]]
    return len(countries) >= _COUNTRIES and countries == sorted(countries, reverse=True)


def _word_reverse(text: str) -> bool:
    forwards = " ".join(bare(text.lower().strip()).split()[::-1])
    return "bald eagle" in forwards and sentences(forwards) == [forwards]


def _sentence_alphabet(text: str) -> bool:
    firsts = [sentence.split()[0].lower()[0] for sentence in sentences(text)]
    return "".join(firsts) == string.ascii_lowercase


def _capitals(text: str) -> bool:
    listed = [part.strip() for part in ascii_letters(text).split(",") if part.strip()]
    return listed == _CAPITALS.split()


def _csv_city(text: str) -> bool:
    rows = _rows(text, ",")
    return len(rows) == 1 + 7 and rows[0] == _CITY and all(len(row) == len(_CITY) for row in rows)


def _csv_special_character(text: str) -> bool:
    if not _has_header(text, _PRODUCT, r",[ \t]*"):
        return False
    rows = _quoted_rows(text, ",")
    if len(rows) != 1 + 14:
        return False
    for row in rows[1:]:
        # The official code looks no further than the first row that has such a field.
        if len(row) != len(_PRODUCT):
            return False
        if any(map(_SPECIAL.match, row)):
            return True
    return False


def _csv_quotes(text: str) -> bool:
    if not _has_header(text, _STUDENT, r"\t *"):
        return False
    rows = _quoted_rows(text, "\t")
    fields = [field.strip() for row in rows for field in row]
    return (
        len(rows) == 1 + 3
        and all(len(row) == len(_STUDENT) for row in rows)
        and all(field.startswith('"') and field.endswith('"') for field in fields)
    )


def _has_header(text: str, columns: tuple[str, ...], separator: str) -> bool:
    pattern = separator.join(rf'({column}|"{column}")' for column in columns)
    return re.match(rf"^{pattern}$", text.split("\n", maxsplit=1)[0].strip()) is not None


def _quoted_rows(text: str, delimiter: str) -> list[list[str]]:
    """The rows, with the quotes around a field kept in the field."""
    return _rows(text.replace('"', '"""'), delimiter)


def _rows(text: str, delimiter: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error:
        return []


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    year, month, day = map(int, text.split("-"))
    # Month and day 0 pass in the official code.
    return year in _NAPOLEON and month <= 12 and day <= _DAYS.get(month, day)  # noqa: PLR2004


CUSTOM: Final[Mapping[str, Instruction]] = {
    "custom:multiples": plain(lambda text: re.findall(r"\d+", text) == _MULTIPLES),
    "custom:mcq_count_length": plain(_choices),
    "custom:reverse_newline": plain(_reverse_newline),
    "custom:word_reverse": plain(_word_reverse, requires=model),
    "custom:character_reverse": plain(lambda text: "elgae dlab" in text.lower()),
    "custom:sentence_alphabet": plain(_sentence_alphabet, requires=model),
    "custom:european_capitals_sort": plain(_capitals),
    "custom:csv_city": plain(_csv_city),
    "custom:csv_special_character": plain(_csv_special_character),
    "custom:csv_quotes": plain(_csv_quotes),
    "custom:date_format_list": plain(
        lambda text: all(_is_date(part.strip()) for part in text.strip().split(","))
    ),
}
