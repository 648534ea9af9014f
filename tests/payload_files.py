"""Generated from the table of payload keys: the columns of compiled code, and the keys in docs/log.md."""

from __future__ import annotations

import inspect
import re
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, get_args, get_type_hints, is_typeddict

from recorder import EventType, payload_check, payloads, tree_payloads
from reporter.log.requests_table import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPE_OR_ROW: Final = re.compile(r'(?:class )?(\w+)(?: = TypedDict)?\(.*|\s+"?(\w+)"?: .*?(?:  #: (.+))?')


def header(text: str) -> str:
    """reporter/log/_columns.h, with a column for each key that has one."""
    lists = []
    for group, columns in COLUMNS.items():
        fields = " ".join(f"X({key},\0{column.kind})" for key, column in columns.items())
        lines = (f"    {line}".replace("\0", " ") for line in wrap(fields, 112))
        lists.append(" \\\n".join((f"#define OF_{group}(X)", *lines)) + "\n")
    return _between(text, "/* keys of recorder/payloads.py */", "".join(lists), "/* end of keys */")


def log_page(text: str) -> str:
    """docs/log.md, with the events and their keys."""
    rows = (f"| `{kind.name}` | {kind.value} | {kind.meaning} |" for kind in EventType)
    table = "\n".join(("\n| event | code | what happened |", "|---|---|---|", *rows, "\n"))
    text = _between(text, "<!-- events -->", table, "<!-- /events -->")
    shared = dict.fromkeys((payloads.Complete, payloads.Failed, payloads.Cancelled))
    events: dict[tuple[type, ...], list[str]] = {}
    for event, kind in sorted(payloads.PAYLOADS.items()):
        events.setdefault(tuple(shared) if kind in shared else (kind,), []).append(event.name)
    tables = [
        "\n".join((f"\n#### {', '.join(names)}\n", "| key | value | meaning |", "|---|---|---|", *rows, ""))
        for kinds, names in events.items()
        if (rows := dict.fromkeys(row for kind in kinds for row in _rows(kind)))
    ]
    return _between(text, "<!-- keys -->", "".join(tables) + "\n", "<!-- /keys -->")


def meanings() -> dict[tuple[str, str], str | None]:
    """The meaning of each key, by its type and its name; None for a row that has none."""
    meant: dict[tuple[str, str], str | None] = {}
    payload = ""
    table = inspect.getsource(tree_payloads) + inspect.getsource(payloads).partition("\nPAYLOADS")[0]
    for line in table.splitlines():
        if match := _TYPE_OR_ROW.fullmatch(line):
            payload = match[1] or payload
            if match[2]:
                meant[payload, match[2]] = match[3]
    return meant


def _rows(payload: Any, inside: str = "") -> Iterator[str]:
    """The rows of the table of a payload; a key with its own keys has theirs."""
    meant = meanings()
    rules, required = payload_check._keys(payload)
    for key, hint in get_type_hints(payload).items():
        if nested := [part for part in get_args(hint) if is_typeddict(part)]:
            yield from _rows(nested[0], f"{key}.")
        else:
            places = ((name, key) for name in (payload.__name__, "Response", "Arrivals"))
            meaning = next((meant[place] for place in places if place in meant), None)
            value = f"{rules[key].expected}{'; required' * (key in required)}"
            yield f"| `{inside}{key}` | {value} | {meaning} |"


def _between(text: str, begin: str, made: str, end: str) -> str:
    before, _, rest = text.partition(f"{begin}\n")
    return f"{before}{begin}\n{made}{end}{rest.partition(end)[2]}"
