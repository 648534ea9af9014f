"""Plain values as the bytes of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def as_json(content: Mapping[str, Any]) -> bytes:
    """JSON that people can read."""
    import orjson

    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def as_yaml(content: Mapping[str, Any]) -> bytes:
    """YAML with keys in the given order."""
    import yaml

    return yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True, encoding="utf-8")
