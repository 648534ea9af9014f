"""Write a page as one file of HTML, with inline style, script and data.

The policy in its head allows exactly these: no other script, no network, no evaluation of text.
"""

from __future__ import annotations

import base64
import gzip
import math
import re
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from reporter.number_text import figure, whole
from reporter.plots.marks import PHASES, in_words
from reporter.render.html.curve_values import LoadCurves
from reporter.render.html.page import Plots, Samples, SessionLanes
from reporter.render.html.plot_data import as_json, as_tables, curves_as_json
from reporter.render.html.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import Environment
    from markupsafe import Markup

    from reporter.render.html.page import Page, ResponseTimeline

_ROOM: Final = "reporter.render.html"
_CHARTS: Final = "charts.min.js"


def write(page: Page) -> str:
    """The page as HTML."""
    from markupsafe import Markup

    plots = [section for section in page.sections if isinstance(section, Plots)]
    lanes = [section for section in page.sections if isinstance(section, SessionLanes)]
    has_script = bool(plots or lanes or page.command) or any(
        isinstance(section, LoadCurves | Samples) for section in page.sections
    )
    has_curves = any(isinstance(section, LoadCurves) for section in page.sections)
    has_charts = has_curves or bool(plots)
    further = {"lanes.js": bool(lanes), "curves.js": has_curves}
    style = asset("page.css")
    script = asset("page.js") + "".join(asset(name) for name, has in further.items() if has)
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            policy=_policy(
                style, *([asset(_CHARTS)] if has_charts else []), *([script] if has_script else [])
            ),
            style=Markup(style),  # noqa: S704 (a file of this package, like the next one)
            charts=_packed_charts() if has_charts else "",
            script=Markup(script) if has_script else "",  # noqa: S704
            data=_packed(as_json(plots, lanes)) if plots or lanes else "",
        )
    )


def cell_output(page: Page) -> str:
    """The page as the output of a notebook's cell: tables and texts, without a script or a style sheet."""
    return _environment().get_template("notebook.html.j2").render(page=page)


@cache
def asset(name: str) -> str:
    """A file of the folder `assets`."""
    return (files(_ROOM) / "assets" / name).read_text(encoding="utf-8")


@cache
def _packed_charts() -> str:
    """The plotting library, compressed to a third."""
    return _packed(asset(_CHARTS))


def _packed(text: str) -> str:
    """A text as Base64 of gzip; the page's script unpacks the text."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _policy(style: str, *scripts: str) -> str:
    """The Content-Security-Policy: only this style and these scripts, by hash."""
    allowed = " ".join(map(_hash, scripts)) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def _shown(value: object) -> object:
    """A value for a template: texts made visible, then escaped; HTML of a template unchanged."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


_UNBROKEN: Final = re.compile(r"--[a-z][a-z-]*|(?:&lt;|&gt;)=? [\d.,]+(?: (?:ms|s|%))?")


def unbroken(text: str) -> Markup:
    """A text with unbroken options and bounds."""
    from markupsafe import Markup, escape

    return Markup(_UNBROKEN.sub(r'<span class="whole">\g<0></span>', str(escape(visible(text)))))  # noqa: S704 (escaped)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(_ROOM, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "tables": as_tables,
        "curves": curves_as_json,
        "bar": bar,
        "unbroken": unbroken,
        "timeline_words": words,
        "timeline_parts": parts,
        "phases": in_words,
    }
    environment.globals["phases_sql"] = PHASES
    return environment


_WIDTH: Final = 1000
"""Of the drawing, which is stretched to the page."""
_TOP: Final = 4
_HEIGHT: Final = 38
_SEEN: Final = 0.002
"""The least share of a drawing that can be seen."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Places from 0 to `_WIDTH`.

    Attributes:
        uploaded: Where its last byte had left; where the first one left if that was not seen.
        first: Where its first token arrived, or its end.
        chunks: The path of the lines.
    """

    sent: float
    uploaded: float
    first: float
    end: float
    chunks: str


def bar(timeline: ResponseTimeline) -> Bar:
    """The places of a timeline."""
    waited = max(timeline.waited_ms, 0.0)
    ends = max([timeline.ends_ms or 0.0, timeline.first_ms or 0.0, *timeline.chunks_ms, 1e-6])
    scale = _WIDTH / (waited + ends)

    def place(sent_ms: float) -> float:
        return round((waited + max(sent_ms, 0.0)) * scale, 1)

    lines = "".join(f"M{place(chunk_ms):g},{_TOP}v{_HEIGHT}" for chunk_ms in timeline.chunks_ms)
    first_ms = ends if timeline.first_ms is None else timeline.first_ms
    return Bar(
        place(0.0), place(min(timeline.upload_ms or 0.0, first_ms)), place(first_ms), place(ends), lines
    )


def parts(timeline: ResponseTimeline) -> Iterator[tuple[str, str]]:
    """Each color of the drawing, with the meaning and the duration."""
    yield "wait", f"until sent {figure(timeline.waited_ms)} ms"
    if timeline.upload_ms and timeline.upload_ms > _SEEN * (timeline.ends_ms or math.inf):
        yield "upload", f"upload {figure(timeline.upload_ms)} ms"
    if timeline.first_ms is None:
        yield "prefill", f"no token, ended after {figure(timeline.ends_ms)} ms"
        return
    yield "prefill", f"to the first token {figure(timeline.first_ms)} ms"
    shown = len(timeline.chunks_ms)
    thinned = f", {whole(shown)} of them drawn" if shown < timeline.chunks else ""
    yield "chunk", f"{whole(timeline.chunks)} chunks until {figure(timeline.ends_ms)} ms{thinned}"


def words(timeline: ResponseTimeline) -> str:
    """The timeline in a sentence."""
    return ", ".join(described for _, described in parts(timeline))
