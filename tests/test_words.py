"""Plain words: docs, and the names and prose of the code, avoid what stops a reader who knows the field."""

from __future__ import annotations

import ast
import re
import tokenize
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.messages import ROOMS, messages_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name != "cli.md"),
]
"""The pages that are written by hand; docs/cli.md is made of the help texts."""

AVOIDED = {
    r"comes? to\b": "name the result",
    r"tells? of\b": "reports, describes",
    r"told\b": "reported, given",
    r"la(id|ys?) \w* ?beside\b": "compared with",
    r"beside\b": "next to, in addition to",
    r"(go|goes|gone|going) on with\b": "resumed, continued",
    r"anew\b": "again",
    r"so many\b": "N, this many",
    r"nobody\b": "no client, no process, none",
    r"somebody\b": "a user, a process",
    r"(whoever|whosoever)\b": "name who it is",
    r"(?<!there )(is|are) (no (?!longer\b|more\b)|(?-i:none\b))": "is not a, is not one",
    r"there (is|are) no such\b": "does not exist",
    r"\w*Error: there (is|are) (no|none|not)\b": "the subject first: `No metric has this name`",
    r"(requests|tokens|chunks|events|answers|questions) a second\b": "per second, /s",
    r"for ever\b": "without limit",
    r"what (be)?came of\b": "the outcome of",
    r"(own|whose|server's|client's) doing\b": "caused by",
    r"(own|client's) (share|delay)\b": "client overhead",
    r"(hold|holds|held) against\b": "compared with, evaluated by",
    r"stands? (in(?! for\b|$)|at|there|here|below|above|nowhere|beside)\b": "is in, is at",
    r"(is|are|be) said (of|to|in|with)\b": "says, is described in",
    r"most_severe\b": "most severe",
    r"sittings?\b": "segment",
    r"takes? its time\b": "is slow",
    r"last word\b": "precedence",
    r"likes? it or not\b": "in any case",
    r"seen to\b": "processed",
    r"at the door\b": "caused by",
    r"on the spot\b": "at once",
    r"likewise\b": "the same, as above, also",
    r"of (its|their|your) own\b(?! \w)": "its own …, a separate …",
    r"tells? apart\b": "distinguished",
    r"turn(s|ed)? to it\b": "issued, processed",
    r"g(a|i)ve(s|n)? out\b": "failed, reached its limit",
}
"""Phrases as regular expressions, in any case, with what to write instead."""

VAGUE = frozenset({"told", "said", "found", "known", "kept", "given", "beside", "one", "its", "most", "at"})
"""Names of variables, constants, parameters, attributes and functions that do not say what they hold."""

VAGUE_PARTS = frozenset({"told", "said", "beside", "anew"})
"""Words that no name has as a part, in Python and in SQL."""

OTHER_UNITS = frozenset(
    {
        "loadgen/plugins/calibration/command.py",
        "loadgen/plugins/exports/benchmark_report.py",
        "loadgen/plugins/exports/flat_figures.py",
        "rulesets/meant.py",
    }
)
"""Files with other spellings: figures of earlier programs, keys and units of JSON, what users type."""

KEYS_OF_REPORT = frozenset(
    {
        ("reporter/report.py", "found"),
        ("reporter/run_facts.py", "at"),
        ("reporter/compare/comparison.py", "most"),
    }
)
"""Words that are keys of report.json or of `compare --json`, by the modules whose fields have their names."""

_ANY_PHRASE = re.compile("|".join(rf"(?:\b{phrase})" for phrase in AVOIDED), re.IGNORECASE)
_SQL = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|CREATE|FROM|WHERE|CASE)\b")


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page that its author chose: not code, not headings, not what is made of the code."""
    is_code = is_made = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            is_code = not is_code
        elif marker := re.fullmatch(r"<!-- (/?)\w+ -->", line):
            is_made = not marker[1]
        elif not is_code and not is_made and not line.startswith(("    ", "#")):
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)


def test_the_pages_are_written_plainly() -> None:
    """No page has one of the phrases."""
    phrases = [
        f"{page.name}:{number}: {hit[0]!r}: {instead}"
        for page in PAGES
        for number, line in prose(page.read_text(encoding="utf-8"))
        for phrase, instead in AVOIDED.items()
        if (hit := re.search(rf"\b{phrase}", line, re.IGNORECASE))
    ]
    assert not phrases, "\n".join(phrases)


@pytest.mark.parametrize(
    ("line", "is_avoided"),
    [
        ("Nobody knows.", True),
        ("It is no stream.", True),
        ("It is no longer open, and there is no other.", False),
        ("The view `sittings` has a row.", False),
        ("40 requests a second", True),
    ],
)
def test_what_is_avoided(line: str, is_avoided: bool) -> None:  # noqa: FBT001 (a case of a table)
    """Phrases are found whole, and not in code."""
    ((_, text),) = prose(line)
    assert is_avoided == any(re.search(rf"\b{phrase}", text, re.IGNORECASE) for phrase in AVOIDED)


def code_prose(path: Path, nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """The comments, docstrings and messages of a module.

    SQL does not count, nor do texts of several lines, as prompts are, nor the data of tests.
    """
    # Only a line with a `#` can have a comment, and few have both it and a phrase; tokens take long.
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "#" in line]
    if any(_ANY_PHRASE.search(line) or _ANY_PHRASE.search(without_code(line)) for line in lines):
        with path.open("rb") as file:
            for token in tokenize.tokenize(file.readline):
                if token.type == tokenize.COMMENT:
                    yield token.start[0], token.string
    inside = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    is_test = path.is_relative_to(ROOT / "tests")
    bare = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr) and not is_test:
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            if not _SQL.search(text := "".join(parts)):
                yield node.lineno, text
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            if id(node) in bare:
                yield from enumerate(node.value.splitlines(), start=node.lineno)
            elif (
                not is_test
                and " " in node.value
                and "\n" not in node.value.strip()
                and not _SQL.search(node.value)
            ):
                yield node.lineno, node.value


def vague(name: str, *, exempt: frozenset[str] = frozenset()) -> bool:
    """Whether a name does not say what it holds: `found`, `KEPT`, `told_output`, `names_found`."""
    words = name.strip("_").lower().split("_")
    return (
        "_".join(words) in VAGUE - exempt
        or not VAGUE_PARTS.isdisjoint(words)
        or (len(words) > 1 and words[-1] == "found" and words[-2] != "not")
    )


def without_code(text: str) -> str:
    """A text without its parts between backticks."""
    return re.sub(r"`[^`]*`", "", text)


def bound_names(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """The variables, parameters and attributes that a module binds."""
    for node in nodes:
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.MatchAs | ast.ExceptHandler) and node.name:
            yield node.lineno, node.name


def defined_names(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """The functions and classes that a module defines."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def faults_of(path: Path) -> Iterator[str]:
    """What is not plain in a module, with its place."""
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    name = path.relative_to(ROOT).as_posix()
    for line, text in code_prose(path, nodes):
        hit = _ANY_PHRASE.search(without_code(text))
        if hit and (name, hit[0]) not in KEYS_OF_REPORT:
            yield f"{name}:{line}: {hit[0]!r}"
    for line, variable in bound_names(nodes):
        if vague(variable) and (name, variable) not in KEYS_OF_REPORT:
            yield f"{name}:{line}: the name {variable!r}"
    for line, defined in defined_names(nodes):
        is_vague = not defined.startswith("test_") and vague(defined, exempt=frozenset({"at"}))
        if is_vague or _ANY_PHRASE.search(defined.strip("_").replace("_", " ")):
            yield f"{name}:{line}: the name {defined!r}"


@pytest.mark.slow
def test_the_code_is_written_plainly() -> None:
    """Every module, of the product and of the tests, has plain names and prose."""
    rooms = (
        "benchmarks",
        "examples",
        "lazy_dataclasses",
        "loadgen",
        "recorder",
        "reporter",
        "rulesets",
        "tests",
        "workloads",
    )
    modules = sorted(path for room in rooms for path in (ROOT / room).rglob("*.py"))
    faults = [fault for path in modules for fault in faults_of(path)]
    assert not faults, "\n".join(faults)


def test_the_sql_is_written_plainly() -> None:
    """So have the files of SQL: their comments, and the words of their names."""
    faults = [
        f"{path.relative_to(ROOT)}:{number}: {hit!r}"
        for path in sorted((ROOT / "reporter").rglob("*.sql"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for hit in faults_of_sql(line)
    ]
    assert not faults, "\n".join(faults)


def faults_of_sql(line: str) -> Iterator[str]:
    """Phrases of a line's comment, and names of its code."""
    code, _, comment = line.partition("--")
    if phrase := _ANY_PHRASE.search(without_code(comment)):
        yield phrase[0]
    yield from (
        name for name in re.findall(r"\w+", code) if not VAGUE_PARTS.isdisjoint(name.lower().split("_"))
    )


def test_rates_have_one_spelling() -> None:
    """Tables, pages, messages and docs have `req/s` and `tok/s`, as the units of metrics."""
    sources = [path for room in (*ROOMS, "benchmarks") for path in (ROOT / room).rglob("*.*")]
    faults = [
        f"{name}:{number}: {hit[0]!r}"
        for path in sorted([*sources, *(ROOT / "docs").glob("*.md"), ROOT / "README.md"])
        if path.suffix in {".js", ".md", ".py", ".pyi", ".sql", ".toml"}
        and (name := path.relative_to(ROOT).as_posix()) not in OTHER_UNITS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (hit := re.search(r"\b(requests?|tokens?)/s\b", line, re.IGNORECASE))
    ]
    assert not faults, "\n".join(faults)


LEANING = re.compile(
    r"\b(it|its|they|them|their|what|who|whose|whom|the same|likewise|one of them|itself|themselves)\b",
    re.IGNORECASE,
)
"""Words with which a first line leans on its neighbours instead of naming its subject."""

MOST_LEANING = 0.1


def test_first_lines_name_their_subject() -> None:
    """Of the first lines of the product's docstrings, less than a tenth lean on a pronoun."""
    definitions = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    firsts = [
        (f"{path.relative_to(ROOT)}: {docstring.splitlines()[0]}")
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, definitions) and (docstring := ast.get_docstring(node))
    ]
    leaning = [first for first in firsts if LEANING.search(first.partition(": ")[2])]
    assert len(leaning) < MOST_LEANING * len(firsts), "\n".join(leaning)


MOST_WORDS = 20

NOT_MESSAGES = frozenset({"loadgen/mock_endpoint/script.py", "workloads/synthetic/word_prompts.py"})
"""Modules whose texts are answers and prompts."""

_REMEDY_OR_SENTENCE = re.compile(r"[.?!;] +")
"""The end of a message's first part: a remedy follows a semicolon, or is a sentence."""

_SENTENCE_OR_CLAUSE_END = re.compile(r"[.?!:;] +")
_PRONOUN_FIRST = re.compile(r"(it|they|what|this|others)\b", re.IGNORECASE)
_LEANING_PHRASE = re.compile(r"\b(likewise|one of them|of its own|that of)\b", re.IGNORECASE)


def faults_of_message(message: str) -> Iterator[str]:
    """The reasons why a message is read twice; a text in backticks or braces is one word."""
    plain = re.sub(r"`[^`]*`|\{[^{}]*\}", "X", message)
    words = [word for word in _REMEDY_OR_SENTENCE.split(plain)[0].split() if re.search(r"\w", word)]
    if len(words) > MOST_WORDS:
        yield f"{len(words)} words before the remedy"
    for clause in _SENTENCE_OR_CLAUSE_END.split(plain):
        if pronoun := _PRONOUN_FIRST.match(clause.lstrip()):
            yield f"a sentence or clause begins with {pronoun[0]!r}"
    if phrase := _LEANING_PHRASE.search(plain):
        yield repr(phrase[0])


def test_messages_are_short_and_name_their_subject() -> None:
    """A message has at most 20 words before its remedy, and no pronoun for a noun of another sentence."""
    faults = [
        f"{name}: {fault}: {message}"
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        if (name := path.relative_to(ROOT).as_posix()) not in NOT_MESSAGES
        for message in messages_of(path)
        for fault in faults_of_message(message)
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("message", "faults"),
    [
        ("It took the recorder up to {wait_ms} ms to commit an event; a killed run loses as much.", 1),
        ("Failed requests are excluded. They are in no latency: others use the server, likewise.", 3),
        ("{path}: this is a log, and a log is never overwritten", 1),
        (f"{'word ' * 21}.", 1),
        (f"{'word ' * 20}. Check `it. they what`, or {{one of them}}.", 0),
        ("Events reached the disk up to {wait_ms} ms late; a kill can lose that much.", 0),
    ],
)
def test_what_makes_a_message_hard(message: str, faults: int) -> None:
    """Pronouns are found at the start of sentences and clauses, long sentences by their words."""
    assert len(list(faults_of_message(message))) == faults
