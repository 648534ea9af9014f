"""Sets of tools: the callable tools, descriptions, and the operation of each tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field, replace
from loadgen.plugins.tool_selection.tool_files import available, members, read
from workloads.errors import MalformedError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

OWN: Final = "own"
"""The descriptions that a tool set has itself."""

DEFAULT: Final = "default"
"""The same, unless there is a file of this name."""

OPERATIONS: Final = (
    *("insert_before", "insert_after", "append", "replace", "delete"),
    *("move_before", "move_after", "move_to_end"),
)
"""What packaged scenarios may take; a tool set need not have a tool for each."""

FORMATS: Final = ("compact", "minimal", "full")
"""How a tool is described: in running text, by `what` alone, or with labels (`WHAT:` and so on)."""

_SET: Final = ("name", "tool_count", "tools", "tool_mapping")
_STYLE: Final = ("name", "style", "tools")
_WORDS: Final = ("what", "when", "returns")
_TOOL: Final = ("name", *_WORDS, "parameters", "schema")
_TYPES: Final = ("string", "integer", "number", "boolean", "array", "object")


@dataclass(frozen=True, slots=True)
class DescribedTool:
    """A tool."""

    name: str
    words: Mapping[str, str]
    parameters: Mapping[str, Any]

    def description(self, form: str = "compact") -> str:
        """The description for the model, in one of `FORMATS`."""
        words = [(word, self.words[word]) for word in _WORDS if word in self.words]
        if form == "minimal":
            return self.words["what"]
        if form == "full":
            return "\n".join(f"{word.upper()}: {text}" for word, text in words)
        return " ".join(text for _, text in words)

    def for_request(self, form: str = "compact") -> Mapping[str, Any]:
        """As an element of `tools` in OpenAI's format."""
        function = {"name": self.name, "description": self.description(form), "parameters": self.parameters}
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class ToolSet:
    """Tools that are there together.

    Attributes:
        tools: In the order of the file.
        operations: The tool of each operation, by the operation's name.
        notes: What a reader of a score should know about the files.
    """

    tools: tuple[DescribedTool, ...]
    operations: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def tool_of(self, step: str) -> str | None:
        """The tool for an operation, or of that name; None where there is none."""
        if step in self.operations:
            return self.operations[step]
        return step if any(tool.name == step for tool in self.tools) else None


def load_tool_set(name: str, data: Path | None = None, descriptions: str = OWN) -> ToolSet:
    """Load a tool set.

    Args:
        name: Of the packaged `2-tool`, `4-tool`, `8-tool`, or of a file in `data`.
        data: A folder with `tool_sets/NAME.yaml` or `tool_sets__NAME.yaml`.
        descriptions: Whose words describe the tools, the name of a file of `descriptions`: tools that it does
            not describe keep their words; `own` changes none, nor does `default` without a file of that name.

    Raises:
        SourceError: The file does not exist, or the descriptions are of none of the tools.
        MalformedError: A file is not what it should be.
    """
    path, fields = read("tool_sets", name, data)
    members(path, "", fields, _SET)
    tools = tuple(_tools(path, fields, _TOOL))
    count = fields.get("tool_count", len(tools))
    notes = (
        []
        if count == len(tools)
        else [f"{path.name}: tool_count is {count}, the file has {len(tools)} tools"]
    )
    names = [tool.name for tool in tools]
    operations = members(path, "tool_mapping", fields.get("tool_mapping", {}), ())
    for operation, tool in operations.items():
        if tool not in names:
            raise MalformedError(
                f"{path}: tool_mapping.{operation}: {tool!r} is not one of the tools: {', '.join(names)}"
            )
    tools_set = ToolSet(tools, operations, tuple(notes))
    unchanged = descriptions == OWN or (
        descriptions == DEFAULT and DEFAULT not in available("descriptions", data)
    )
    return tools_set if unchanged else _in_the_words(tools_set, name, descriptions, data)


def _in_the_words(original: ToolSet, name: str, style: str, data: Path | None) -> ToolSet:
    path, fields = read("descriptions", style, data)
    members(path, "", fields, _STYLE)
    words = {tool.name: tool.words for tool in _tools(path, fields, ("name", *_WORDS))}
    if words.keys().isdisjoint(tool.name for tool in original.tools):
        raise SourceError(f"{path}: describes none of the tools of {name}")
    return replace(
        original,
        tools=tuple(replace(tool, words=words.get(tool.name, tool.words)) for tool in original.tools),
    )


def _tools(path: Path, fields: Mapping[str, Any], operations: tuple[str, ...]) -> Iterator[DescribedTool]:
    listed = fields.get("tools")
    if not isinstance(listed, list) or not listed:
        raise MalformedError(f"{path}: tools: must be a list of tools")
    seen = set()
    for index, entry in enumerate(listed):
        tool = _tool(path, f"tools[{index}]", members(path, f"tools[{index}]", entry, operations))
        if tool.name in seen:
            raise MalformedError(f"{path}: tools[{index}].name: {tool.name!r} stands twice")
        seen.add(tool.name)
        yield tool


def _tool(path: Path, key: str, fields: Mapping[str, Any]) -> DescribedTool:
    for word in ("name", "what"):
        if word not in fields:
            raise MalformedError(f"{path}: {key}: the key {word!r} is missing")
    for word in ("name", *_WORDS):
        if word in fields and not (isinstance(fields[word], str) and fields[word].strip()):
            raise MalformedError(f"{path}: {key}.{word}: must be text")
    words = {word: fields[word].strip() for word in _WORDS if word in fields}
    if "schema" in fields:
        if "parameters" in fields:
            raise MalformedError(f"{path}: {key}: has parameters and schema; leave one out")
        return DescribedTool(fields["name"], words, members(path, f"{key}.schema", fields["schema"], ()))
    place = f"{key}.parameters"
    parameters = members(path, place, fields.get("parameters", {}), ())
    return DescribedTool(fields["name"], words, _schema(path, place, parameters))


def _schema(path: Path, key: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON schema of parameters: `index: integer`, `where: [before, end]`, `text?: string`."""
    properties = {
        name.removesuffix("?"): _kind(path, f"{key}.{name}", type_name) for name, type_name in fields.items()
    }
    required = [name for name in fields if not name.endswith("?")]
    return {"type": "object", "properties": properties, "required": required}


def _kind(path: Path, key: str, type_name: object) -> Mapping[str, Any]:
    if isinstance(type_name, dict):
        return type_name
    if isinstance(type_name, list) and type_name and all(isinstance(choice, str) for choice in type_name):
        return {"type": "string", "enum": type_name}
    if type_name not in _TYPES:
        raise MalformedError(
            f"{path}: {key}: must be one of {', '.join(_TYPES)}, a list of texts, or a JSON schema"
        )
    return {"type": type_name}
