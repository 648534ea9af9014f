"""Measure LLM serving endpoints: sessions, runs and verdicts as Python functions and values.

    import loadgen

    run = loadgen.perf(url="http://127.0.0.1:8000", model="llama", concurrency=16, requests=200)
    print(run.report().ttft_ms.p99)
    assert run.gate(["ttft:p(99)<500ms"]).status == "PASS"

Nothing is written to the terminal: warnings go to the logger `loadgen`, progress to a callback, and errors
are `LoadgenError`. docs/python.md has the rest. A name is imported when it is first used.
"""

from importlib import import_module

TYPE_CHECKING = False  # `typing` takes time to import
if TYPE_CHECKING:
    from loadgen.background import Progress
    from loadgen.measure import accuracy, perf, run_suite, score, search, sweep
    from loadgen.mock_endpoint import MockProcess, mock
    from loadgen.plots import DrawnPlot, plot
    from loadgen.plugins.tool_selection.optimize_tools import OptimizationResult, optimize_tools
    from loadgen.plugins.tool_selection.run_benchmark import run_benchmark
    from loadgen.run import Run, open_run
    from loadgen.series import SearchResult, SuiteResult, SweepResult
    from loadgen.sessions.errors import LoadgenError, RunError, SetupError, UsageError

__all__ = [
    "DrawnPlot",
    "LoadgenError",
    "MockProcess",
    "OptimizationResult",
    "Progress",
    "Run",
    "RunError",
    "SearchResult",
    "SetupError",
    "SuiteResult",
    "SweepResult",
    "UsageError",
    "accuracy",
    "mock",
    "open_run",
    "optimize_tools",
    "perf",
    "plot",
    "run_benchmark",
    "run_suite",
    "score",
    "search",
    "sweep",
]

_HOMES = {
    "background": ("Progress",),
    "measure": ("accuracy", "perf", "run_suite", "score", "search", "sweep"),
    "mock_endpoint": ("MockProcess", "mock"),
    "plots": ("DrawnPlot", "plot"),
    "run": ("Run", "open_run"),
    "series": ("SearchResult", "SuiteResult", "SweepResult"),
    "plugins.tool_selection.optimize_tools": ("OptimizationResult", "optimize_tools"),
    "plugins.tool_selection.run_benchmark": ("run_benchmark",),
    "sessions.errors": ("LoadgenError", "RunError", "SetupError", "UsageError"),
}
"""The modules that the names live in."""


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
