"""What the user of a suite should know before its runs begin, a sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.errors import printable
from loadgen.sessions.series.suite.mistakes import verdict_keys
from loadgen.sessions.series.suite.option import variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.sessions.series.suite.document import Suite
    from loadgen.sessions.series.suite.matrix import MatrixRun
    from loadgen.sessions.series.suite.source import SuiteSource


def remarks(source: SuiteSource, suite: Suite, entries: Sequence[MatrixRun]) -> Iterator[str]:
    """A table that has another name now, and options of the file that the environment overrides.

    A variable of the environment may have been set for another purpose.
    """
    if keys := verdict_keys(suite):
        yield printable(
            f"{source.path}: put {', '.join(keys)} into [gate]; [judge] configures the LLM that judges "
            "answers, and takes verdict keys for one more release only"
        )
    all_variables = {variable for names in variables().values() for variable in names}
    overruled = {
        (places[-1], name)
        for entry in entries
        for name, places in entry.merged.origins.items()
        if places[-1] in all_variables and len(places) > 1
    }
    for variable, name in sorted(overruled):
        yield printable(f"{variable} overrides the {name} of the file")
