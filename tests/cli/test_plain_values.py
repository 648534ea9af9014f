"""Plain values of options are taken without a validator: as the validator takes them."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 (typer reads the annotations when it runs)
from typing import Annotated, Any, Final, Literal

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st
from typer.main import get_command

from loadgen.cli.help import HelpedCommand
from loadgen.cli.plain_command import plain_command
from loadgen.cli.typer_application import run


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


PLAIN: Final = {
    "perf": "--url http://a --url http://b --model=m -c 3 -n 9 -q --warmup 5s --max-response 10MB --json",
    "check": "--url http://a",
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_command_line_has_the_settings_that_typer_reads(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plain reader and typer read equal options, also from the environment."""
    monkeypatch.setenv("LOADGEN_API_KEY", "sk-key")
    words = [name, *PLAIN[name].split()]
    plain: Any = plain_command(words)
    read: list[Any] = []
    module = plain.func.__module__
    monkeypatch.setattr(f"{module}.{plain.func.__name__}", read.append)
    run(words)
    assert read == list(plain.args)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "report RUN",
        "sweep --concurrency 1,2 --model m",
        "perf --help",
        "perf --model m --no-json",
        "perf --model m -n",
        "perf --model m -n 1.5",
        "perf --model m -n -1",
        "perf --model m -n=1",
        "perf --model m --json=1",
        "perf --model m more",
        "mock --help-all",
    ],
)
def test_typer_reads_what_is_not_plain(words: str) -> None:
    """Typer reads help, mistakes, and commands with options of another form."""
    assert plain_command(words.split()) is None
