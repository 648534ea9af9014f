"""The documentation site: `make docs` builds it from the pages of this folder, which are plain Markdown."""

import re
import tomllib
from pathlib import Path

from pygments.lexers.sql import SqlLexer
from sphinx.application import Sphinx
from sphinx.highlighting import lexers

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]

project = PROJECT["name"]
release = PROJECT["version"]
author = PROJECT["authors"][0]["name"]
project_copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["README.md"]  # index.md includes it
default_role = "code"
source_suffix = {".md": "markdown"}
# Links within a page, as code hosts make them.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

html_theme = "furo"
html_title = f"{project} {release}"
html_extra_path = ["report.schema.json", "ruleset.schema.json", "suite.schema.json"]
html_show_sphinx = False

autodoc_typehints = "description"
# Attributes are described in the docstring of their class.
napoleon_use_ivar = True
autodoc_member_order = "bysource"
# The prompt of a shell session is not part of the command.
copybutton_prompt_text = "$ "

lexers["sqlite"] = SqlLexer()

_PAGE = re.compile(r"^\| \[[\w-]+\]\(([\w-]+)\.md\)", re.MULTILINE)


def _navigation(_: Sphinx, name: str, source: list[str]) -> None:
    """Make the sidebar out of the tables of README.md: a group for each heading, a page for each row."""
    if name == "index":
        groups = (Path(__file__).parent / "README.md").read_text().split("\n## ")[1:]
        for title, _newline, body in (group.partition("\n") for group in groups):
            pages = "\n".join(_PAGE.findall(body))
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{pages}\n```\n"


def _reference(_: Sphinx, name: str, source: list[str]) -> None:
    """Add the whole docstrings to the page of the Python API, whose table has their first lines."""
    if name == "api":
        for module in re.findall(r"^## ([\w.]+)$", source[0], re.MULTILINE):
            members = f".. automodule:: {module}\n   :members:\n"
            source[0] += f"\n## {module} in full\n\n```{{eval-rst}}\n{members}```\n"


def _examples(_app: Sphinx, _kind: str, _name: str, _of: object, _set: object, lines: list[str]) -> None:
    """Show an indented block after a blank line as code: docstrings mark it in no other way."""
    code = [
        number
        for number in range(2, len(lines))
        if lines[number].startswith("    ") and not lines[number - 1] and lines[number - 2][:1].strip()
    ]
    for number in reversed(code):
        lines[number - 1 : number] = ["", "::", ""]


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _navigation)
    app.connect("source-read", _reference)
    # Before napoleon, which turns sections into lists.
    app.connect("autodoc-process-docstring", _examples, priority=400)
