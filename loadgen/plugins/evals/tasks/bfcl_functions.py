"""Functions of the leaderboard for a model: as tools, or in a system prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from loadgen.plugins.evals.prompts import prompt

Function = Mapping[str, Any]
"""`name`, `description` and `parameters`, a JSON schema with the types of the function's language."""

_SYNTAX: Final = {"python": "Python 3", "java": "Java 8 SDK", "javascript": "JavaScript"}
_NAMES: Final = {"java": "Java", "javascript": "JavaScript"}
_ELEMENTS: Final = {"java": frozenset({"Array", "ArrayList"}), "javascript": frozenset({"array"})}

_PROMPT: Final = prompt("bfcl", "prompt")

_OPENAI_TYPES: Final = {
    name: kind
    for kind, names in {
        "integer": "integer byte short long Bigint",
        "number": "number float double",
        "string": "string",
        "boolean": "boolean bool",
        "array": "array list tuple ArrayList Array Queue Stack",
        "object": "object dict HashMap Hashtable",
    }.items()
    for name in names.split()
}
"""What is not here is a `string`."""


def system_prompt(functions: Sequence[Function]) -> str:
    """The instructions for a model that answers in text."""
    return f"{_PROMPT}{json.dumps(functions, indent=4)}\n"


def as_tools(functions: Sequence[Function]) -> tuple[Mapping[str, Any], ...]:
    """Functions as tools of a request in OpenAI's format; a dot in a name becomes an underscore."""
    return tuple({"type": "function", "function": _tool(function)} for function in functions)


def _tool(function: Function) -> dict[str, Any]:
    parameters = function["parameters"]
    cast = {**parameters, "type": "object", "properties": _cast(parameters["properties"])}
    return {**function, "name": function["name"].replace(".", "_"), "parameters": cast}


def _cast(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with the types of JSON schemas."""
    return {name: _cast_one(schema) for name, schema in properties.items()}


def _cast_one(schema: Mapping[str, Any]) -> dict[str, Any]:
    cast = {**schema, "type": _OPENAI_TYPES.get(schema.get("type", "string"), "string")}
    if schema.get("type") == "float":
        cast["format"] = "float"
        cast["description"] = f"{schema.get('description', '')} This is a float type value."
    if cast["type"] in {"array", "object"}:
        if "properties" in schema:
            cast["properties"] = _cast(schema["properties"])
        elif "items" in schema:
            cast["items"] = _cast_items(schema["items"])
    return cast


def _cast_items(items: Mapping[str, Any]) -> dict[str, Any]:
    """The elements of an array: lists by type only, objects with all members."""
    cast = {**items, "type": _OPENAI_TYPES.get(items["type"], "string")}
    if cast["type"] == "array" and "items" in items:
        cast["items"] = {**items["items"], "type": _OPENAI_TYPES.get(items["items"]["type"], "string")}
    elif cast["type"] == "object" and "properties" in items:
        cast["properties"] = _cast(items["properties"])
    return cast


def with_hints(function: Function, language: str) -> Function:
    """A function with a note on the language; values are source code in languages other than Python."""
    says = f"{function['description']} Note that the provided function is in {_SYNTAX[language]} syntax."
    if language == "python":
        return {**function, "description": says}
    parameters = function["parameters"]
    properties = {name: _as_source(schema, language) for name, schema in parameters["properties"].items()}
    return {**function, "description": says, "parameters": {**parameters, "properties": properties}}


def _as_source(schema: Mapping[str, Any], language: str) -> dict[str, Any]:
    """A parameter given as source code; nested parts are described in words."""
    name, declared, left_out = _NAMES[language], schema["type"], ""
    if declared == "any":
        says = f" This parameter can be of any type of {name} object in string representation."
    else:
        says = f" This is {name} {declared} type parameter in string representation."
    if declared in _ELEMENTS[language]:
        element, left_out = schema["items"]["type"], "items"
        says += f" The list elements are of type {element}; they are not in string representation."
    elif declared == "dict" and "properties" in schema and language == "javascript":
        members, left_out = json.dumps(schema["properties"]), "properties"
        says += (
            " The dictionary entries have the following schema; they are not in string representation. "
            + members
        )
    hinted = {**schema, "type": "string", "description": f"{schema['description']}{says}"}
    return {key: value for key, value in hinted.items() if key != left_out}


def signature(function: Function) -> dict[str, Any]:
    """The signature for a grader: see `loadgen.plugins.evals.grading.bfcl.checking.Function`."""
    parameters = function["parameters"]
    types = {
        name: [schema.get("type"), (schema.get("items") or {}).get("type")]
        for name, schema in parameters["properties"].items()
    }
    return {"name": function["name"], "required": parameters.get("required", []), "types": types}
