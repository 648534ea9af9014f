"""PaperArena's tools over a folder of papers, without those that need a second model or the web.

The names and parameters are those of Melmaphother/PaperArena at 35e4a83d, `paperarena_hub/tools`. Where that
code asks a model (to find passages, expand keywords, match citations, read figures), words are compared.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.tool_loop import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

MOST_CHARACTERS: Final = 2_000

_CONFERENCES: Final = ("icml", "iclr", "nips", "cvpr", "www")
_RANKS: Final = {
    "top": frozenset({"Oral", "Award Candidate"}),
    "medium": frozenset({"Spotlight", "Highlight"}),
    "standard": frozenset({"Poster"}),
}
_ALL: Final = "all"
_SHOWN_PAPERS: Final = 3
_HEADING: Final = re.compile(r"^(?:#+\s*)?references\s*$", re.IGNORECASE | re.MULTILINE)
_NEXT_HEADING: Final = re.compile(r"^#+\s+", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
_KINDS: Final = {
    "figure": ("image", "image_caption", r"(?:figure|fig\.?)"),
    "table": ("table", "table_caption", r"(?:table|tab\.?)"),
}


def tools(folder: Path) -> list[Tool]:
    """The tools.

    Args:
        folder: With `sampled_jsons/NAME/auto/NAME.md` and `NAME_content_list.json` for each paper, and
            `selected_papers/CONFERENCEYEAR.json`.
    """
    name = {"pdf_name": _text("The name of the PDF file, without .pdf.")}

    def beginning(pdf_name: str) -> str:
        return _cut(_markdown(folder, pdf_name))

    def passages(pdf_name: str, query: str) -> str:
        parts = re.split(r"\n\s*\n", _markdown(folder, pdf_name))
        wanted = _words(query)
        ranked = sorted(parts, key=lambda part: -len(wanted & _words(part)))
        return _cut("\n\n".join(part for part in ranked if wanted & _words(part))) or "No passage fits."

    def citation(pdf_name: str, citation_key: str) -> str:
        return _citation(_markdown(folder, pdf_name), citation_key)

    def search(conference: str, year: int, status: str, keywords: str) -> str:
        return _search(folder, conference.lower(), int(year), status.lower(), keywords.lower())

    def shown(pdf_name: str, content_type: str, index: int) -> str:
        return _content(folder, pdf_name, content_type.lower(), int(index))

    of_database = {
        "conference": _text("One of " + ", ".join(_CONFERENCES) + "."),
        "year": {"type": "integer", "description": "Of the conference."},
        "status": _text("top, medium, standard or all."),
        "keywords": _text("What titles or abstracts must have, one of several separated by commas."),
    }
    of_content = {
        "content_type": _text("figure or table."),
        "index": {"type": "integer", "description": "Its number."},
    }
    return [
        _tool("pdf_extractor", "The beginning of a paper.", name, beginning),
        _tool(
            "pdf_extractor_with_query",
            "The passages of a paper that fit a query best.",
            {**name, "query": _text("Words.")},
            passages,
        ),
        _tool(
            "cross_ref_lookup",
            "What the references of a paper say of a citation.",
            {**name, "citation_key": _text("Such as `Thudi et al., 2024`.")},
            citation,
        ),
        _tool("database_search", "How many papers of a conference fit keywords.", of_database, search),
        _tool(
            "data_analyzer", "A table of a paper, or the caption of a figure.", {**name, **of_content}, shown
        ),
    ]


def _tool(name: str, description: str, properties: Mapping[str, Any], function: Callable[..., str]) -> Tool:
    parameters = {"type": "object", "properties": dict(properties), "required": list(properties)}
    declared = {"name": name, "description": description, "parameters": parameters}
    return Tool({"type": "function", "function": declared}, function)


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


def _parsed(folder: Path, pdf_name: str, suffix: str) -> Path:
    """A file of a paper.

    Raises:
        LookupError: The folder has no such paper.
    """
    papers = {path.name: path for path in (folder / "sampled_jsons").iterdir()}
    name = pdf_name.removesuffix(".pdf")
    path = papers[name] / "auto" / f"{name}{suffix}" if name in papers else None
    if path is None or not path.is_file():
        raise LookupError(f"no paper {pdf_name}")
    return path


def _markdown(folder: Path, pdf_name: str) -> str:
    return _parsed(folder, pdf_name, ".md").read_text(encoding="utf-8")


def _cut(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n\n... (cut at {MOST_CHARACTERS} characters)"


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _citation(text: str, key: str) -> str:
    """The reference with the most words of a key, of the last section of references."""
    headings = list(_HEADING.finditer(text))
    if not headings:
        return "The paper has no section of references."
    section = text[headings[-1].end() :]
    following = _NEXT_HEADING.search(section)
    lines = [
        line for line in section[: following.start() if following else None].splitlines() if line.strip()
    ]
    wanted = _words(key) - {"et", "al", "and"}
    best = max(lines, key=lambda line: len(wanted & _words(line)), default="")
    return best if wanted & _words(best) else f"No reference fits {key}."


def _search(folder: Path, conference: str, year: int, status: str, keywords: str) -> str:
    if conference not in _CONFERENCES:
        raise ValueError(f"conference must be one of {', '.join(_CONFERENCES)}")
    if status not in {*_RANKS, _ALL}:
        raise ValueError(f"status must be one of {', '.join((*_RANKS, _ALL))}")
    path = folder / "selected_papers" / f"{conference}{year}.json"
    if not path.is_file():
        raise LookupError(f"no database of {conference} {year}")
    papers: Sequence[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    terms = [term.strip() for term in keywords.split(",") if term.strip()]
    fitting = [
        paper
        for paper in papers
        if (status == _ALL or paper.get("status") in _RANKS[status])
        and any(term in f"{paper.get('title', '')} {paper.get('abstract', '')}".lower() for term in terms)
    ]
    counts: dict[str, int] = {}
    for paper in fitting:
        counts[str(paper.get("status"))] = counts.get(str(paper.get("status")), 0) + 1
    lines = [
        f"Papers in the database: {len(papers)}",
        f"Papers that fit: {len(fitting)}",
        *(f"- {name}: {count}" for name, count in sorted(counts.items())),
        *(f"[{paper.get('status')}] {paper.get('title')}" for paper in fitting[:_SHOWN_PAPERS]),
    ]
    return "\n".join(lines)


def _content(folder: Path, pdf_name: str, kind: str, index: int) -> str:
    """A table with caption, or the caption of a figure (images are not shown)."""
    if kind not in _KINDS:
        raise ValueError(f"content_type must be one of {', '.join(_KINDS)}")
    block_type, captions, word = _KINDS[kind]
    blocks = json.loads(_parsed(folder, pdf_name, "_content_list.json").read_text(encoding="utf-8"))
    named = re.compile(rf"{word}\s*{index}[\s:.]", re.IGNORECASE)
    for block in blocks:
        if block.get("type") == block_type and any(map(named.search, block.get(captions) or ())):
            return _cut("\n".join([*block[captions], str(block.get("table_body", ""))]).strip())
    raise LookupError(f"no {kind} {index} in {pdf_name}")
