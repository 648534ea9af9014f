"""An option is declared once: the command line, suites, Python and the log read the declaration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

import pytest
import typer
from typer.testing import CliRunner

from loadgen.cli.typer_options import command
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import fields_of, set_flags
from loadgen.sessions.settings.file_values import value_schema
from loadgen.sessions.settings.from_python import settings_of
from loadgen.sessions.settings.kinds import Rule, Seconds
from loadgen.sessions.settings.option import Option, Panel

PAUSES: Final = Panel("Pauses")
Quietly = Annotated[bool, Option("--quietly", "Say nothing.", stored=False)]


@dataclass(frozen=True, kw_only=True, slots=True)
class PauseSettings:
    """Options of each kind of declaration."""

    longest_pause: Seconds | None = PAUSES.option("The longest pause.", flags="-- -l")
    pause: Seconds = PAUSES.option("The usual pause.", 90.0)
    rules: list[Rule] = PAUSES.option("The rules.", [], "--rule")
    password: str | None = PAUSES.option("A password.", secret=True)
    eager: bool = PAUSES.switch("Do not pause.", "-e")
    quietly: Quietly = False
    breaks: int | None = PAUSES.option("How many breaks.", min=1, max=2_000)
    shares: list[float] = PAUSES.option("Shares of breaks.", [], "--share", min=0, max=1)


def made(*arguments: str) -> PauseSettings:
    """The settings of a command line."""
    taken: list[PauseSettings] = []
    app = typer.Typer()
    app.command()(command(PauseSettings, taken.append))
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return taken[0]


def test_a_declaration_is_that_of_its_field_and_of_its_kind() -> None:
    """The kind gives metavar, parser and spelling; the field's name gives the flag."""
    fields = fields_of(PauseSettings)
    longest, rules = fields["longest_pause"].declared, fields["rules"].declared
    assert (longest.flags, longest.metavar, longest.panel) == ("--longest-pause -l", "TIME", "Pauses")
    assert (fields["rules"].flag, fields["rules"].is_list, rules.metavar) == ("--rule", True, "RULE")
    assert (fields["eager"].declared.flags, fields["pause"].flag) == ("--eager -e", "--pause")
    assert [name for name, field in fields.items() if not field.declared.stored] == ["password", "quietly"]


def test_the_command_line_and_python_read_alike() -> None:
    """Durations and rules are read by the kind of value, wherever they are given."""
    typed = made("-l", "2m", "--rule", "accuracy.MMLU-Pro:value>0.5", "-e", "--quietly")
    values: dict[str, Any] = {"longest_pause": "2m", "rules": "accuracy.MMLU-Pro:value>0.5", "eager": True}
    assert typed.longest_pause == 120.0
    assert typed.rules == ["accuracy.mmlu_pro:value>0.5"]
    assert (typed.pause, typed.eager, typed.quietly) == (90.0, True, True)
    read = settings_of(PauseSettings, values)
    assert (read.longest_pause, read.rules, read.pause) == (typed.longest_pause, typed.rules, typed.pause)
    with pytest.raises(UsageError, match="pause: cannot be read"):
        settings_of(PauseSettings, {"pause": "soon"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"breaks": 0}, "breaks: must be at least 1, not 0"),
        ({"breaks": "2001"}, "breaks: must be at most 2,000, not 2,001"),
        ({"shares": [0.5, 1.5]}, "shares: must be at most 1, not 1.5"),
    ],
)
def test_bounds_hold_wherever_a_number_is_given(values: dict[str, Any], message: str) -> None:
    """Python and suites refuse what the command line refuses, and the schema of suites has the bounds."""
    assert made("--breaks", "2000", "--share", "0", "--share", "1").breaks == 2000
    assert settings_of(PauseSettings, {"breaks": 1, "shares": [0, 1.0]}).shares == [0.0, 1.0]
    with pytest.raises(UsageError, match=f"^{message}$"):
        settings_of(PauseSettings, values)
    schema = value_schema(fields_of(PauseSettings)["breaks"])
    assert (schema["type"], schema["minimum"], schema["maximum"]) == ("integer", 1, 2000)


def test_set_options_are_named_as_they_are_typed() -> None:
    """Those that differ from the default, in the order of the question; a secret is not shown."""
    settings = made("--rule", "error<1%", "-e", "--password", "sesame")
    assert set_flags(settings, "eager", "pause", "rules", "longest_pause") == ["--eager", "--rule"]
    assert "sesame" not in repr(settings)
