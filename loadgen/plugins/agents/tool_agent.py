"""An agent with tools of this program: `--agent-command "@tools bash,calculator"`."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from loadgen.plugins.agents.calculation import calculated
from loadgen.plugins.agents.terminal import COMMAND_S, bash_tool, cut, shown
from loadgen.plugins.agents.tool_loop import Tool, tool_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.plugins.agents.episode import Ask, EpisodeResult
    from loadgen.plugins.sandbox.opening import SandboxOnDemand
    from workloads.sample import Sample

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

_READS: Final = (
    "Read a file in the working folder: a text, or the text of a document (docx, pptx, xlsx, pdf)."
)


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


class AgentTool(NamedTuple):
    """A tool of the agent.

    Attributes:
        of: Makes the tool for an episode, with the sandbox of the episode.
        in_sandbox: Whether its calls run there.
    """

    of: Callable[[SandboxOnDemand], Tool]
    in_sandbox: bool = True


def calculator(_: SandboxOnDemand) -> Tool:
    """A tool that evaluates arithmetic."""

    def calculate(expression: str) -> str:
        return str(calculated(expression))

    text = "Evaluate an arithmetic expression of numbers, + - * / // **, and parentheses."
    return Tool(_schema("calculator", text, expression="The expression, such as (2 + 3) * 4."), calculate)


def file_read(sandbox: SandboxOnDemand) -> Tool:
    """A tool that reads a file of the sandbox, documents as text."""

    async def read(path: str) -> str:
        if command := text_command(path):
            return shown(await sandbox.exec(command, COMMAND_S))
        return cut((await sandbox.get_file(path)).decode(errors="replace"))

    return Tool(_schema("file_read", _READS, path="Its path."), read)


def file_write(sandbox: SandboxOnDemand) -> Tool:
    """A tool that writes a file of the sandbox."""

    async def write(path: str, content: str) -> str:
        await sandbox.put_files({path: content.encode()})
        return f"{path}: {len(content)} characters written"

    text = "Write a text file in the working folder; a file of this path is replaced."
    return Tool(_schema("file_write", text, path="Its path.", content="The whole text."), write)


TOOLS: Final[Mapping[str, AgentTool]] = {
    "bash": AgentTool(bash_tool),
    "calculator": AgentTool(calculator, in_sandbox=False),
    "file_read": AgentTool(file_read),
    "file_write": AgentTool(file_write),
}


async def answer_with_tools(
    sample: Sample, ask: Ask, sandbox: SandboxOnDemand, tools: Sequence[str]
) -> EpisodeResult:
    """Let the model call tools of these names until an answer without a call; see `tool_loop`."""
    return await tool_loop(ask, sample.messages(), [TOOLS[name].of(sandbox) for name in tools])


def _schema(name: str, description: str, **parameters: str) -> Mapping[str, Any]:
    """A tool whose parameters are texts, all required."""
    properties = {
        parameter: {"type": "string", "description": text} for parameter, text in parameters.items()
    }
    required = {"type": "object", "properties": properties, "required": list(parameters)}
    function = {"name": name, "description": description, "parameters": required}
    return {"type": "function", "function": function}
