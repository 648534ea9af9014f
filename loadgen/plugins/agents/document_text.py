"""The text of documents in a sandbox, extracted by a program that runs in the sandbox."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

_OFFICE: Final = r"""
import re, sys
from xml.etree import ElementTree
from zipfile import ZipFile

def nodes(root, name):
    return [node for node in root.iter() if node.tag.endswith("}" + name)]

def text(root):
    return "".join(node.text or "" for node in nodes(root, "t"))

def number(reference):
    column = 0
    for letter in re.match("[A-Z]*", reference)[0]:
        column = 26 * column + ord(letter) - 64
    return column

def rows(sheet, shared):
    for row in nodes(sheet, "row"):
        cells = []
        for cell in nodes(row, "c"):
            cells += [""] * (number(cell.get("r", "")) - 1 - len(cells))
            value = "".join(node.text or "" for node in nodes(cell, "v")) or text(cell)
            cells.append(shared[int(value)] if cell.get("t") == "s" else value)
        yield "\t".join(cells)

with ZipFile(sys.argv[1]) as document:
    def parsed(pattern):
        names = [name for name in document.namelist() if re.fullmatch(pattern, name)]
        names.sort(key=lambda name: [int(digits) for digits in re.findall(r"\d+", name)])
        return [ElementTree.fromstring(document.read(name)) for name in names]

    shared = [text(item) for root in parsed(r"xl/sharedStrings\.xml") for item in nodes(root, "si")]
    names = [sheet.get("name") for root in parsed(r"xl/workbook\.xml") for sheet in nodes(root, "sheet")]
    for place, sheet in enumerate(parsed(r"xl/worksheets/sheet\d+\.xml")):
        print("#", *names[place:place + 1] or [place + 1])
        print(*rows(sheet, shared), sep="\n")
    for place, slide in enumerate(parsed(r"ppt/slides/slide\d+\.xml"), 1):
        print("# slide", place)
        print(*map(text, nodes(slide, "p")), sep="\n")
    for root in parsed(r"word/document\.xml"):
        print(*map(text, nodes(root, "p")), sep="\n")
"""


def text_command(path: str) -> list[str] | None:
    """The command that prints the text of a document; None for a file that is text itself.

    Sheets are tab-separated rows. A PDF needs `pdftotext` in the sandbox.
    """
    match PurePath(path).suffix.lower():
        case ".docx" | ".pptx" | ".xlsx":
            return ["python3", "-I", "-c", _OFFICE, path]
        case ".pdf":
            return ["pdftotext", "-layout", path, "-"]
    return None
