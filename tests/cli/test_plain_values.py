"""Plain values of options are taken without a validator: as the validator takes them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path  # noqa: TC003 (typer reads the annotations when it runs)
from typing import Annotated, Any, Final, Literal

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st
from typer.main import get_command

from loadgen.cli.help import HelpedCommand


def _with_a_full_stop(text: str) -> str:
    if not text:
        raise typer.BadParameter("nothing before the full stop")
    if text == "x":
        raise ValueError("not an x")
    return f"{text}."


def _options(
    text: str = "a",
    needed: Annotated[str, typer.Option()] = ...,  # type: ignore[assignment]  # typer's mark of what must be given
    count: int | None = None,
    bounded: Annotated[int, typer.Option(min=1, max=99)] = 5,
    share: Annotated[float, typer.Option(min=0, max=1)] = 0.5,
    order: Annotated[Literal["random", "listed"], typer.Option()] = "random",
    out: Path | None = None,
    dotted: Annotated[str | None, typer.Option(parser=_with_a_full_stop)] = None,
    several: Annotated[list[str] | None, typer.Option()] = None,
    counts: Annotated[list[int] | None, typer.Option(min=2)] = None,
    *,
    flag: bool = False,
) -> None:
    del text, needed, count, bounded, share, order, out, dotted, several, counts, flag


def _command() -> Any:
    app = typer.Typer(add_completion=False)
    app.command(cls=HelpedCommand)(_options)
    return get_command(app)


COMMAND: Final = _command()
CONTEXT: Final = COMMAND.make_context("options", ["--needed", "x"])
PARAMETERS: Final = {parameter.name: parameter for parameter in COMMAND.get_params(CONTEXT)}
TEXTS: Final = st.one_of(
    st.integers(-1000, 1000).map(str),
    st.floats(-3, 3).map(str),
    st.text(max_size=5),
    st.sampled_from(
        ["", "-", "x", "1_0", " 7 ", "1.0", "1e2", "inf", "nan", "random", "RANDOM", "/", "/nowhere"]
    ),
)


def _outcome(process: Any, value: Any) -> Any:
    try:
        result = process(CONTEXT, value)
    except typer.BadParameter as error:
        return str(error)
    return (type(result), result)


@given(st.sampled_from(sorted(PARAMETERS)), TEXTS | st.none())
@example("count", "9" * 30)
@example("needed", None)
@example("dotted", "x")
def test_values_are_those_of_the_validator(name: str, value: str | None) -> None:
    """Whatever is written after an option, its value, or its error, is that of the validator."""
    parameter = PARAMETERS[name]
    if value is not None and parameter.multiple:
        value = [value, value]  # type: ignore[assignment]
    if value is not None and "\0" in str(value):
        return
    if isinstance(value, str) and name == "flag":
        return
    validated = type(parameter).process_value.__get__(parameter)
    assert _outcome(parameter.process_value, value) == _outcome(validated, value)


@pytest.mark.parametrize("name", ["bounded", "share", "order", "text", "flag", "several", "counts"])
def test_defaults_are_those_of_the_validator(name: str) -> None:
    """So are defaults."""
    parameter = PARAMETERS[name]
    validated = type(parameter).process_value.__get__(parameter)
    assert _outcome(parameter.process_value, parameter.default) == _outcome(validated, parameter.default)


WITHOUT_A_VALIDATOR: Final = """
import sys
from typer.main import get_command
from loadgen.cli.app import application
program = get_command(application("perf"))
context = program.make_context("loadgen", ["perf", "--url", "http://a", "--model", "m", "-n", "9", "-q"])
perf = program.commands["perf"]
perf.make_context("perf", ["--url", "http://a", "--model", "m", "-c", "3", "-n", "9", "-q"], parent=context)
sys.exit("pydantic" in sys.modules)
"""


def test_a_usual_command_needs_no_validator() -> None:
    """A start of `perf` does not import it."""
    subprocess.run([sys.executable, "-c", WITHOUT_A_VALIDATOR], check=True)
