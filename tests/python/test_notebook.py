"""Notebooks: the examples of docs/python.md in a Jupyter kernel without ipywidgets, and what cells show."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from jupyter_client.manager import KernelManager

import loadgen
from loadgen.rules import TTFT, Throughput
from tests.python.test_python_page import BLOCKS, SUITE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen import MockProcess, Run

_WITHOUT_WIDGETS = "import sys\nsys.modules['ipywidgets'] = None"
"""Where it is installed, the kernel behaves as if it were not."""


class Kernel:
    """A kernel that runs cells."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, code: str) -> tuple[str, str]:
        """Run a cell; return what it printed, or why it failed, and the HTML that it shows."""
        texts: list[str] = []
        shown: list[str] = []

        def take(message: dict[str, Any]) -> None:
            content = message["content"]
            texts.append(content.get("text", content.get("evalue", "")))
            shown.append(content.get("data", {}).get("text/html", ""))

        reply = self._client.execute_interactive(code, output_hook=take, timeout=120)
        assert reply["content"]["status"] == "ok", "".join(texts)
        return "".join(texts), "".join(shown)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    """A kernel of this interpreter, in a separate folder."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    manager = KernelManager(kernel_name="python3")
    manager.kernel_spec.argv[0] = sys.executable
    (tmp_path / "work").mkdir()
    manager.start_kernel(cwd=str(tmp_path / "work"))
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=120)
        yield Kernel(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.slow
def test_the_examples_run_in_a_notebook(kernel: Kernel) -> None:
    """Every block is a cell, under the kernel's event loop; runs and verdicts are shown as tables."""
    kernel.run(_WITHOUT_WIDGETS)
    texts = [kernel.run(block)[0] for block in BLOCKS if block is not SUITE]
    assert "TTFT p99" in texts[0]
    assert "performance" in texts[1]
    assert "<table" in kernel.run("run")[1]
    assert "PASS" in kernel.run("verdict")[1]
    assert "<img" in kernel.run("run.plot('ttft-cdf')")[1]


@pytest.fixture(scope="module")
def server() -> Iterator[MockProcess]:
    """A quick endpoint."""
    with loadgen.mock(ttft="5ms", itl="1ms", tokens="6") as mock:
        yield mock


@pytest.fixture(scope="module")
def run(server: MockProcess, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run whose model has markup for a name."""
    folder = tmp_path_factory.mktemp("notebook") / "run"
    return loadgen.perf(url=server.url, model="<script>m", concurrency=4, requests=40, out=folder)


def test_a_run_and_its_report(run: Run) -> None:
    """One table of latencies; a name is text; there is no script, and nothing is loaded."""
    html = run._repr_html_()
    assert html is not None
    assert html == run.report()._repr_html_()  # type: ignore[attr-defined]
    assert html.count("<table") == 1
    assert "&lt;script&gt;m" in html
    assert "40 of 40 completed" in html
    assert all(word not in html for word in ("<script", "<style", "http-equiv", "src=", "href="))


def test_a_verdict(run: Run) -> None:
    """A row for each rule, and the status of the whole."""
    verdict: Any = run.gate([TTFT(60_000), Throughput(10**9)], on_invalid="warn")
    html = verdict._repr_html_()
    assert html.count("<tr") == 1 + len(verdict.rows)
    assert "1 of 2 rules met" in html
    assert ">FAIL<" in html


def test_a_comparison(run: Run, server: MockProcess, tmp_path: Path) -> None:
    """The changes of the metrics that decide."""
    other = loadgen.perf(url=server.url, model="m", concurrency=4, requests=40, out=tmp_path / "run")
    comparison: Any = run.compare(other)
    html = comparison._repr_html_()
    assert html.count("<table") == 1
    assert "ttft:mean" in html
    both = loadgen.plot(run, other.folder, name="ttft-cdf")
    assert set(both.arrow()["group"].to_pylist()) == {str(run.folder), str(other.folder)}


def test_a_plot(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plot is a table of points, a figure, and a picture; without matplotlib the points are HTML."""
    plot = run.plot("ttft-cdf")
    points = plot.arrow()
    assert points["x"].to_pylist() == [x for series in plot.series for x in series.x]
    (axes,) = plot.figure().axes
    assert axes.get_title(loc="left") == plot.title
    assert axes.figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined, union-attr]
    assert plot._repr_html_().startswith(f'<img alt="{plot.title}" src="data:image/svg+xml;base64,')
    monkeypatch.setattr("loadgen.plots.find_spec", lambda _: None)
    html = plot._repr_html_()
    assert 1 < html.count("<tr") <= 1 + len(points)
    with pytest.raises(loadgen.UsageError, match=r"pip install pandas, or use arrow\(\)"):
        plot.df()
    for runs, name, message in (
        ((), "ttft-cdf", "at least one run"),
        ((run,), "ttft", "several plots; name one: ttft-histogram"),
        ((run,), "accuracy", "^accuracy: "),
    ):
        with pytest.raises(loadgen.UsageError, match=message):
            loadgen.plot(*runs, name=name)


def test_a_data_frame(run: Run) -> None:
    """The points of a plot as columns."""
    pytest.importorskip("pandas", reason="needs the extra `dev`")
    plot = run.plot("ttft-over-time")
    frame = plot.df()
    assert list(frame.columns) == ["series", "group", "x", "y", "low", "high", "label"]
    assert frame["x"].tolist() == [x for series in plot.series for x in series.x]


@pytest.mark.slow
def test_a_sweep_and_a_search(server: MockProcess, tmp_path: Path) -> None:
    """A row for each run."""
    load: dict[str, Any] = {"url": server.url, "model": "m", "concurrency": "1,2", "requests": 10}
    sweep = loadgen.sweep(**load, out=tmp_path / "sweep")
    html = sweep._repr_html_()
    assert html is not None
    assert html.count("<tr") == 3
    assert sweep.plot()._repr_html_().startswith("<img")


def test_a_run_that_is_gone(run: Run, tmp_path: Path) -> None:
    """A notebook shows the text instead of an error."""
    (tmp_path / "run").symlink_to(run.folder)
    gone = loadgen.open_run(tmp_path / "run")
    (tmp_path / "run").unlink()
    assert gone._repr_html_() is None
