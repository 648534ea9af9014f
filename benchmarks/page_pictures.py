"""Screenshots of a run's page for the README, made by `python benchmarks/page_pictures.py`.

Measures a mock endpoint for 35 s, and takes the beginning of the page in both color schemes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from PIL import Image
from playwright.sync_api import sync_playwright

import loadgen

DOCS: Final = Path(__file__).parent.parent / "docs"
TARGETS: Final = ("ttft:p(99)<150ms", "tpot:p(50)<20ms", "error<1%")


def main() -> None:
    """Measure, make the page, and take both pictures."""
    with TemporaryDirectory() as folder:
        run, page = Path(folder) / "run", Path(folder) / "page.html"
        with loadgen.mock(ttft="lognormal:60ms,0.3", itl="8ms", tokens="uniform:16..96", slots=24) as server:
            loadgen.perf(
                url=server.url,
                model="demo",
                rate="12",
                warmup="5s",
                duration="30s",
                seed=7,
                require=TARGETS,
                out=run,
            )
        # Its exit status is that of the verdict.
        subprocess.run(
            [sys.executable, "-m", "loadgen", "report", run, "--format", "html", "--output", page],
            check=False,
        )
        for scheme in ("light", "dark"):
            take(page, scheme, DOCS / f"report-html-{scheme}.png")


def take(page: Path, scheme: Literal["light", "dark"], picture: Path) -> None:
    """Write the beginning of a page in a color scheme as a picture."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = chromium.new_page(viewport={"width": 1100, "height": 1180}, color_scheme=scheme)
        tab.goto(page.as_uri())
        tab.wait_for_selector(".canvas svg")
        tab.screenshot(path=picture)
        chromium.close()
    Image.open(picture).convert("RGB").quantize(256).save(picture, optimize=True)


if __name__ == "__main__":
    main()
