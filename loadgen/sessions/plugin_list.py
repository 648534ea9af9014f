"""Plug-ins in a list: what each adds and needs, and whether the needs are met here."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution, requires
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from workloads.registry import KINDS, Entry, Plugin, added_by_packages, manifests, shadowed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_PROGRAM: Final = "llm-loadgen"
_REQUIREMENT: Final = re.compile(r"([\w.-]+)(?:\[([^\]]*)\])?.*?extra == ['\"]([\w-]+)['\"]")
_MOST_NAMED: Final = 8
_WIDTH: Final = 80
_INSTALL: Final = "pip install "
_GLUE: Final = "\u00a0"
"""A space at which `wrap` breaks no line."""


def plugins() -> Mapping[str, Mapping[str, Any]]:
    """The plug-ins of this program and of installed packages, as JSON has them.

    Returns:
        By name: `title`; `adds`, the names by kind; `needs`, other plug-ins; `extras`, the missing packages
        of each extra; `unused`, the names that this program has already, `KIND NAME`.
    """
    return {plugin.name: _facts(plugin) for plugin in (*manifests(), *_of_packages())}


def table() -> str:
    """The plug-ins as text of at most 80 columns."""
    lines: list[str] = []
    for name, facts in plugins().items():
        lines += _wrapped(f"{name}: {facts['title']}" if facts["title"] else name, "", "  ")
        for label, items in (
            ("adds", [_counted(kind, names) for kind, names in facts["adds"].items()]),
            ("not used, name taken", facts["unused"]),
            ("needs", facts["needs"]),
            ("extras", [_of_extra(extra, missing) for extra, missing in facts["extras"].items()]),
        ):
            if items:
                lines += _wrapped(f"{label}: {'; '.join(items)}", "  ", "    ")
    return "\n".join(lines).replace(_GLUE, " ")


def _wrapped(text: str, first: str, then: str) -> list[str]:
    """The lines of a text; a command stays on one line, so that it can be copied."""
    glued = text.replace(_INSTALL, _INSTALL.replace(" ", _GLUE))
    return wrap(glued, _WIDTH, initial_indent=first, subsequent_indent=then, break_on_hyphens=False)


def _of_packages() -> Iterator[Plugin]:
    by_package: dict[str, list[Entry]] = {}
    for kind in KINDS:
        for entry in added_by_packages(kind).values():
            by_package.setdefault(entry.origin, []).append(entry)
    for name, added in sorted(by_package.items()):
        package = added[0].package
        yield Plugin(name, (package and package.metadata["Summary"]) or "", (), (), tuple(added))


def _facts(plugin: Plugin) -> Mapping[str, Any]:
    adds = {
        kind: [entry.name for entry in plugin.entries if entry.kind == kind]
        for kind in KINDS
        if kind != "services"
    }
    unused = [
        f"{entry.kind} {entry.name}"
        for entry in plugin.entries
        if entry.package is not None and entry in shadowed(entry.kind)
    ]
    return {
        "title": plugin.title,
        "adds": {kind: names for kind, names in adds.items() if names},
        "needs": list(plugin.needs),
        "extras": {
            extra: [package for package in packages_of(extra) if not _is_installed(package)]
            for extra in plugin.extras
        },
        "unused": unused,
    }


def _counted(kind: str, names: list[str]) -> str:
    return f"{len(names)} {kind}" if len(names) > _MOST_NAMED else f"{kind} {', '.join(names)}"


def _of_extra(extra: str, missing: list[str]) -> str:
    return f"{extra} lacks {', '.join(missing)} (pip install '{_PROGRAM}[{extra}]')" if missing else extra


def packages_of(extra: str) -> list[str]:
    """The packages that an extra of this program installs, those of further extras included."""
    named: list[str] = []
    for line in requires(_PROGRAM) or ():
        requirement = _REQUIREMENT.match(line)
        if requirement is None or requirement[3] != extra:
            continue
        if requirement[1] == _PROGRAM:
            further = [name for inner in requirement[2].split(",") for name in packages_of(inner.strip())]
        else:
            further = [requirement[1]]
        named += [name for name in further if name not in named]
    return named


def _is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True
