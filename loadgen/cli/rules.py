"""`loadgen rules`: the demands of a ruleset, and validation of a ruleset file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from loadgen.cli.terminal.streams import end_with_the_reader, print_json
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.option import Argument, Option

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulesets.loading import Book
    from rulesets.ruleset import Ruleset


def show(
    name: Annotated[str, Argument(help="NAME, NAME@VERSION or a file.", show_default=False)],
    *,
    model: Annotated[
        str | None, Option(help="Only the rules for this model, by the endpoint's name for the model.")
    ] = None,
    scenario: Annotated[str | None, Option(help="Only this scenario: SCENARIO or MODEL/SCENARIO.")] = None,
    json: Json = False,
) -> None:
    """Show the rules of a ruleset: one line per model and scenario, or everything of the one that is chosen.

    [bold]Examples[/bold]

    loadgen rules show mlperf-inference

    loadgen rules show mlperf-inference@v6.1 --scenario gpt-oss-120b/server
    """
    from rulesets.loading import load, read

    end_with_the_reader()
    book = read(name)
    chosen: Sequence[Ruleset] = list(book.rulesets.values())
    if model is not None or scenario is not None:
        chosen = [load(name, model=model, scenario=scenario)]
    if json:
        contents = {
            "name": book.name,
            "version": book.version,
            "locked": book.locked,
            "rulesets": [ruleset.to_dict() for ruleset in chosen],
        }
        print_json(contents)
        return
    from loadgen.cli.terminal.rules_view import one_ruleset, overview

    _print(one_ruleset(chosen[0]) if len(chosen) == 1 else overview(book))


def check(
    files: Annotated[list[str], Argument(help="Files, or names of rulesets.", show_default=False)],
) -> None:
    """Check files of rules: exit 2 when one is invalid, with file, line, key and remedy.

    Likely mistakes are warnings: a target that follows from another one, a confidence that a valid run cannot
    reach, a test that can never find a change. Warnings do not change the exit code.

    [bold]Example[/bold]

    loadgen rules check rules/*.yaml
    """
    from rulesets.errors import RulesetError
    from rulesets.exit_codes import ExitCode
    from rulesets.loading import read

    end_with_the_reader()
    wrong = False
    for file in files:
        try:
            _print(checked(file, read(file)))
        except RulesetError as error:
            wrong = True
            _print([f"error: {error}"], to_error=True)
    if wrong:
        raise SystemExit(ExitCode.USAGE)


def _print(lines: Iterable[str], *, to_error: bool = False) -> None:
    from loadgen.sessions.errors import printable

    for line in lines:
        typer.echo(printable(line, longest=None), err=to_error)


def checked(file: str, book: Book) -> Iterable[str]:
    """A file of rules in a line, and a line for each warning."""
    from reporter.number_text import counted
    from rulesets.linting import warnings

    where: dict[str, list[str]] = {}
    for (model, scenario), ruleset in book.rulesets.items():
        for warning in warnings(ruleset):
            where.setdefault(warning, []).append(f"{model}/{scenario}")
    count = len(book.rulesets)
    title = f"{file}: {book.name} {book.version}: {counted(count, 'scenario')}"
    yield f"{title}, {counted(len(where), 'warning') if where else 'no warnings'}"
    for warning, places in where.items():
        yield f"  warning: {warning}" + f"  [{', '.join(places)}]" * (count > 1)
