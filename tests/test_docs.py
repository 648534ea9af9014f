"""What exists is documented: every command, option, event, failure, metric and view."""

import ast
import re
import textwrap
from importlib import import_module
from pathlib import Path

import pytest

from loadgen.driver.client.failure import HTTP_BLAMES, HTTP_MEANING, Failure
from loadgen.driver.client.protocols import PROTOCOLS, ProtocolEntry, codec_of
from loadgen.sessions.settings.endpoint_options import EndpointSettings
from loadgen.sessions.vocabulary import events, failures, loads, metrics, protocols, views
from reporter.report import Report
from tests import doc_pages, golden
from tests.command_reference import COMMANDS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = "\n".join(page.read_text() for page in PAGES)
MOST_WORDS = 42_000
LONGEST_OPENING = 40
ROOMS = {"lazy_dataclasses", "recorder", "reporter", "rulesets", "workloads"}


def imports_of(page: Path) -> list[ast.ImportFrom | ast.Import]:
    """The imports in a page's blocks of Python."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    trees = [
        ast.parse(textwrap.dedent(block)) for block in blocks if not block.lstrip().startswith('"capitals"')
    ]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return [node for node in nodes if isinstance(node, ast.ImportFrom | ast.Import)]


def described(word: str) -> bool:
    """Whether a word is in the docs as code."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", TEXT) is not None


def test_every_command_is_documented() -> None:
    """It has help, and a place in the docs."""
    assert [name for name, command in COMMANDS.items() if not command.help] == []
    assert [name for name in COMMANDS if not described(f"loadgen {name}")] == []


def test_what_the_pages_import_is_under_loadgen() -> None:
    """Of this project's packages; only pages about changing the code itself import others."""
    pages = [page for page in PAGES if not page.name.startswith("adding-")]
    imports = [(page.name, node) for page in pages for node in imports_of(page)]
    modules = {(page, getattr(node, "module", "") or node.names[0].name) for page, node in imports}
    assert {(page, name) for page, name in modules if name.partition(".")[0] in ROOMS} == set()
    taken = [node for _, node in imports if isinstance(node, ast.ImportFrom) and node.module]
    ours = [node for node in taken if node.module and node.module.startswith("loadgen")]
    own = {"loadgen.rules", "loadgen.recording", "loadgen.data", "loadgen.grading"}
    assert {node.module for node in ours} >= own
    assert all(hasattr(import_module(str(node.module)), name.name) for node in ours for name in node.names)


def test_what_the_pages_name_is_under_loadgen() -> None:
    """In prose as well: a module of another package is named only where the code itself is the subject."""
    about_code = {"architecture.md", "api.md"}
    pages = [page for page in PAGES if not page.name.startswith("adding-") and page.name not in about_code]
    named = re.compile(rf"`(?:{'|'.join(sorted(ROOMS))})\.\w[\w.]*`")
    assert [(page.name, name) for page in pages for name in named.findall(page.read_text())] == []


def test_every_option_has_help() -> None:
    """So has every argument."""
    assert [
        f"{name} {parameter.name}"
        for name, command in COMMANDS.items()
        for parameter in command.params
        if not parameter.help
    ] == []


def test_every_option_that_a_remedy_names_is_there() -> None:
    """What a verdict or a finding says to do can be typed in."""
    existing = {
        flag for command in COMMANDS.values() for parameter in command.params for flag in parameter.opts
    }
    existing |= {
        flag
        for command in COMMANDS.values()
        for parameter in command.params
        for flag in parameter.secondary_opts
    }
    documented = {
        (path.name, option)
        for room in ("rulesets", "reporter")
        for path in (ROOT / room).rglob("*.py")
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+[a-z]", path.read_text())
    }
    assert [(page, option) for page, option in sorted(documented) if option not in existing] == []


WORDS = [
    *events(),
    *(name for name in failures() if "<" not in name),
    *loads(),
    *metrics(),
    *protocols(),
    *views(),
    *(field for field in Report.__dataclass_fields__ if field.endswith("_ms")),
]


@pytest.mark.slow
def test_every_word_of_the_log_and_the_report_is_documented() -> None:
    """Events, failures, loads, metrics, protocols, views, report keys."""
    assert [word for word in WORDS if not described(word)] == []


def test_the_failures_page_defines_every_failure() -> None:
    """The page has the side at fault and the definition of every failure; `make golden` writes the table."""
    named = [(f"`{failure}`", failure.blames, failure.meaning) for failure in Failure]
    rows = [*named, ("`http_<code>`", HTTP_BLAMES, HTTP_MEANING)]
    table = "".join(f"| {name} | the {blames} | {meaning} |\n" for name, blames, meaning in rows)
    head = "\n| name | blames | what it is |\n|---|---|---|\n"
    page = ROOT / "docs" / "failures.md"
    golden.check_part(page, "<!-- failures -->\n", "<!-- /failures -->", f"{head}{table}\n")


def test_the_protocols_page_lists_every_protocol() -> None:
    """With what it is, and the path of its requests, as the table of protocols has them."""
    page = (ROOT / "docs" / "protocols.md").read_text()
    default = EndpointSettings.__dataclass_fields__["protocol"].default
    rows = [
        f"| `{name}`{' (default)' * (name == default)} | {entry.title} | {requests_go_to(name, entry)} |"
        for name, entry in PROTOCOLS.items()
    ]
    assert "\n".join(rows) in page


def requests_go_to(name: str, entry: ProtocolEntry) -> str:
    """Where a protocol's requests go, as the page says it."""
    if entry.described:
        return "`POST` to `--path`"
    return f"`POST {'' if entry.rooted else '/v1'}{codec_of(name, {}).path}`"


def test_every_test_that_holds_a_promise_is_there() -> None:
    """docs/durability.md names one for each."""
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "durability.md").read_text()))
    written = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) >= 20
    assert {name for name in named if f"def {name}(" not in written} == set()


def test_every_link_leads_somewhere() -> None:
    """Links between pages name files that exist."""
    links = {
        (page, target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
        if "://" not in target
    }
    assert [
        f"{page.name}: {target}" for page, target in sorted(links) if not (page.parent / target).exists()
    ] == []


def test_every_anchor_is_a_heading() -> None:
    """Links to a part of a page name one of its headings, as GitHub writes them."""
    links = {
        (page, page.parent / target if target else page, anchor)
        for page in PAGES
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text())
    }
    assert [
        f"{page.name}: {target.name}#{anchor}"
        for page, target, anchor in sorted(links)
        if anchor not in anchors(target)
    ] == []


def test_every_page_is_in_the_index() -> None:
    """docs/README.md has a line for each."""
    index = (ROOT / "docs" / "README.md").read_text()
    missing = [page.name for page in (ROOT / "docs").glob("*.md") if f"]({page.name})" not in index]
    assert sorted(missing) == ["README.md", "index.md"], "index.md includes README.md"


def test_the_index_has_the_opening_line_of_each_page() -> None:
    """An opening line names readers and contents in at most 40 words; `make golden` writes the index."""
    golden.check(doc_pages.INDEX, doc_pages.index(doc_pages.INDEX.read_text()))
    pages = [page for page in doc_pages.written_pages() if page.parent == doc_pages.INDEX.parent]
    lines = {page.name: doc_pages.opening(page) for page in pages if page != doc_pages.INDEX}
    assert [name for name, line in lines.items() if not line.startswith("For ")] == []
    assert [name for name, line in lines.items() if len(line.split()) > LONGEST_OPENING] == []


def test_the_pages_stay_short() -> None:
    """README and docs together stay within the limit of hand-written words; a new page replaces others."""
    assert sum(map(doc_pages.words, doc_pages.written_pages())) <= MOST_WORDS


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings: lower case, without punctuation, hyphens for blanks."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
