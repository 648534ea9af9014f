"""Write a page as one file of HTML, with inline style, script and data.

The policy in its head allows exactly these: no other script, no network, no evaluation of text.
"""

from __future__ import annotations

import base64
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from reporter.plots.phases import PHASES, in_words
from reporter.render.html.page import Plots, Samples
from reporter.render.html.plot_data import as_json, as_tables
from reporter.render.html.response_timeline import bar, parts, words
from reporter.render.html.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment

    from reporter.render.html.page import Page

_ROOM: Final = "reporter.render.html"


def write(page: Page) -> str:
    """The page as HTML."""
    from markupsafe import Markup

    plots = [section for section in page.sections if isinstance(section, Plots)]
    has_script = bool(plots or page.command) or any(isinstance(section, Samples) for section in page.sections)
    style, charts, script = (asset(name) for name in ("page.css", "charts.min.js", "page.js"))
    data = as_json(plots)
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            policy=_policy(style, *((charts, script) if has_script else ())),
            style=Markup(style),  # noqa: S704 (a file of this package, like the next two)
            charts=Markup(charts),  # noqa: S704
            script=Markup(script) if has_script else "",  # noqa: S704
            data=Markup(data),  # noqa: S704 (`as_json` leaves no character that ends the element)
        )
    )


def cell_output(page: Page) -> str:
    """The page as the output of a notebook's cell: tables and texts, without a script or a style sheet."""
    return _environment().get_template("notebook.html.j2").render(page=page)


@cache
def asset(name: str) -> str:
    """A file of the folder `assets`."""
    return (files(_ROOM) / "assets" / name).read_text(encoding="utf-8")


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
        "bar": bar,
        "timeline_words": words,
        "timeline_parts": parts,
        "phases": in_words,
    }
    environment.globals["phases_sql"] = PHASES
    return environment
