"""docs/api.md: every name of the Python API, with signature, the docstring's first line, and an example."""

from __future__ import annotations

import inspect
import tomllib
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_origin

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES: Final = (
    *("loadgen", "loadgen.rules", "loadgen.recording", "loadgen.data", "loadgen.agents"),
    *("loadgen.grading", "loadgen.extensions"),
)
"""Those that people import from."""

EXAMPLES: Final[dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("api_examples.toml").read_text(encoding="utf-8")
)
"""An example of each name by module; tests/python/test_api_examples.py runs them."""

_LONGEST: Final = 16

_HEAD: Final = """# Python API reference

For callers: each public name with its signature, the first line of its docstring, and an example that runs.

`help(loadgen.perf)` has the rest, [python.md](python.md) whole programs. Options are those of the
[command line](cli.md). Examples of a module follow `from MODULE import *`, and use names of earlier ones.
"""


def reference() -> str:
    """The page."""
    return "\n".join([_HEAD, *(line for name in MODULES for line in _module(name))])


def _module(name: str) -> Iterator[str]:
    module = import_module(name)
    yield f"## {name}"
    yield ""
    yield _first_line(module)
    yield ""
    yield "| name | what it is |"
    yield "|---|---|"
    for member in module.__all__:
        yield from _rows(member, getattr(module, member))
    yield ""
    yield "<!-- fmt: off -->"
    yield "```python"
    yield from (line for example in _examples(name) for line in example)
    yield "```"
    yield "<!-- fmt: on -->"
    yield ""


def _examples(module: str) -> Iterator[list[str]]:
    """The examples of a module in the order of execution, below the names."""
    for name, example in EXAMPLES[module].items():
        if name != "setup":
            yield ["", f"# {name}", *example.strip().splitlines()]


def _rows(name: str, value: Any) -> Iterator[str]:
    if inspect.ismodule(value):
        yield _row(name, f"module: {_first_line(value)}")
    elif get_origin(value) is not None:
        yield _row(name, f"type: `{str(value).replace('typing.', '').replace('collections.abc.', '')}`")
    elif not inspect.isclass(value):
        yield _row(name + (_signature(value) if callable(value) else ""), _first_line(value))
    else:
        yield _row(name + _fields(value), _first_line(value))
        for method, function in vars(value).items():
            plain = function.__func__ if isinstance(function, classmethod | staticmethod) else function
            if not method.startswith("_") and inspect.isfunction(plain):
                yield _row(f"{name}.{method}{_signature(plain)}", _first_line(plain))


def _fields(kind: type) -> str:
    """The names of a dataclass's fields."""
    return f"({', '.join(field.name for field in fields(kind))})" if is_dataclass(kind) else ""


def _signature(function: Any) -> str:
    """The parameters without their annotations, and what is returned."""
    made = inspect.signature(function)
    shown = [
        parameter.replace(annotation=inspect.Parameter.empty, default=_default(parameter.default))
        for name, parameter in made.parameters.items()
        if name not in {"self", "cls"}
    ]
    plain = made.replace(parameters=shown, return_annotation=inspect.Signature.empty)
    returned = made.return_annotation
    return f"{plain}" if returned in {inspect.Signature.empty, "None"} else f"{plain} -> {returned}"


def _default(value: Any) -> Any:
    """The default, or dots where it takes more room than a literal."""
    short = value is inspect.Parameter.empty or len(repr(value)) <= _LONGEST
    return value if short else ...


def _first_line(value: Any) -> str:
    return (inspect.getdoc(value) or "").partition("\n")[0]


def _row(name: str, text: str) -> str:
    shown = name.replace("|", "\\|")
    return f"| `{shown}` | {text} |".replace("|  |", "| |")
