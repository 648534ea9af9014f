"""The format of ruleset files as JSON schema, for editors: docs/ruleset.schema.json.

It is made of the shapes that files are read by. What one key has to do with another far from it (ids that
stand twice, locks, contradictions, units of a metric) only the reader knows.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rulesets.markdown_text import without_links
from rulesets.reading.keys import DEMANDS, FLAT, WHOLE

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES: Final = {id(shape.schema): name for name, shape in DEMANDS.items()}
"""What is at the top of a flat file and in scenarios, by identity: it is described once."""


def schema() -> Mapping[str, Any]:
    """The schema, draft 2020-12."""
    whole = _referring(WHOLE.schema)
    values = key_values()
    described = {
        key: {**part, "description": without_links(values[key])} for key, part in whole["properties"].items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A ruleset of llm-loadgen",
        **whole,
        "properties": described,
        "if": {"required": ["models"]},
        "then": {"properties": dict.fromkeys(FLAT, False)},
        "$defs": {name: shape.schema for name, shape in DEMANDS.items()},
    }


def key_values() -> Mapping[str, str]:
    """The values that each key of a file takes, in Markdown."""
    return tomllib.loads(Path(__file__).with_name("ruleset_keys.toml").read_text(encoding="utf-8"))


def _referring(part: Any) -> Any:
    """A schema with references in place of named parts."""
    if id(part) in _NAMES:
        return {"$ref": f"#/$defs/{_NAMES[id(part)]}"}
    if isinstance(part, dict):
        return {name: _referring(value) for name, value in part.items()}
    return part
