"""The files that `loadgen init` writes: suites to begin with."""

from __future__ import annotations

import sys
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.suite.option_values import options
from loadgen.sessions.series.suite.suite_model import Suite

if TYPE_CHECKING:
    from pathlib import Path

STARTER: Final = "starter"
FILE: Final = "suite.toml"


def write_template(path: Path, name: str = STARTER) -> Path:
    """Write a suite to begin with."""
    if path.is_dir():
        path /= FILE
    if path.suffix != ".toml":
        raise UsageError(f"{path}: the suite is written in TOML: give it a name that ends in .toml")
    text = files(__package__ or "").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} exists already, and nothing is overwritten: name another file") from None
    except FileNotFoundError:
        raise UsageError(
            f"{path}: the folder {path.parent} does not exist; create it, or name another one"
        ) from None
    except NotADirectoryError:
        raise UsageError(f"{path}: {path.parent} is not a folder; name another one") from None
    return path


def schema() -> dict[str, Any]:
    """The schema, in draft 2020-12; each option is defined once, for all tables that take it."""
    model_schema = Suite.model_json_schema()
    tables: dict[str, Any] = model_schema["$defs"]
    shared = {f"option_{name}": option.schema() for name, option in options().items()}
    for table in (*tables.values(), model_schema):
        for name, value in table["properties"].items():
            value.pop("title", None)
            value.pop("default", None)
            if {**value} == shared.get(f"option_{name}"):
                table["properties"][name] = {"$ref": f"#/$defs/option_{name}"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **model_schema,
        "title": "A suite of loadgen runs",
        "$defs": {**tables, **shared},
    }


def text() -> str:
    """The schema as it is published."""
    return orjson.dumps(schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


if __name__ == "__main__":
    sys.stdout.write(text())
