"""Random damage of files by their kind: JSON, YAML, TOML and CSV by value, SQLite by cell, others by byte."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import tomllib
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    import random
    from pathlib import Path

VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 7, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**40),
    *(0.5, -0.5, 1e-300, 1e18, 1e300, float("nan"), float("inf"), float("-inf")),
    *(
        "",
        " ",
        "x",
        "0",
        "1e5",
        "nan",
        "\x00",
        "\u202e",
        "\ud800",
        "\U0001f600",
        "\ufeff",
        "..",
        "../..",
        "/",
    ),
    *("2024-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59Z", "x" * 5000, "%s", "a\nb"),
    *([], {}, [None], [[]], [1, "x"], {"": None}, {"x": 1}, [{}]),
)
_TEXTS: Final = tuple(str(value) for value in VALUES if isinstance(value, str | int | float))
_BYTES: Final = (
    b"\x00",
    b"\xff",
    b"\xed\xa0\x80",
    b"{",
    b"}",
    b"[",
    b'"',
    b"\n",
    b",",
    b"9" * 30,
    b"\xef\xbb\xbf",
)
_STORED: Final[tuple[Any, ...]] = (
    *(
        None,
        0,
        1,
        -1,
        2**53,
        2**62,
        2**63 - 1,
        -(2**63),
        1.5,
        1e300,
        float("inf"),
        "",
        "x",
        "7",
        "\x00",
        b"",
        b"\xff",
    ),
    *("null", "[]", "{}", "7", '"x"', '{"a":', "[" * 3000 + "]" * 3000, "\u202e"),
)
_MOST_CHANGES: Final = 3


def damage(folder: Path, rng: random.Random) -> None:
    """Change some of the files of a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for _ in range(rng.randint(1, _MOST_CHANGES)):
        path = rng.choice(files)
        by_value = _BY_SUFFIX.get(path.suffix, _by_byte)
        if rng.random() < 0.15:
            by_value = _by_byte
        with suppress(Exception):  # a second change may find no value any more
            by_value(path, rng)


def changed(value: Any, rng: random.Random) -> Any:
    """A value with a change anywhere in it."""
    places = list(_places(value))
    if not places or rng.random() < 0.03:
        return rng.choice(VALUES)
    holder, key = rng.choice(places)
    match rng.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[rng.choice(_TEXTS)] = holder.pop(key)
        case 1:
            holder.insert(key, holder[key])
        case 2:
            # A value from another place has the right look.
            other, other_key = rng.choice(places)
            holder[key] = json.loads(json.dumps(other[other_key], default=str))
        case 3 if isinstance(holder[key], str):
            # Many texts hold JSON.
            holder[key] = _in_text(holder[key], rng)
        case _:
            holder[key] = rng.choice(VALUES)
    return value


def _places(value: Any) -> Any:
    """Each place in a value, by what holds it and the key there."""
    if isinstance(value, dict | list):
        for key, member in list(value.items() if isinstance(value, dict) else enumerate(value)):
            yield value, key
            yield from _places(member)


def _in_text(text: str, rng: random.Random) -> str:
    with suppress(ValueError):
        inner = json.loads(text)
        if isinstance(inner, dict | list):
            return json.dumps(changed(inner, rng))
    place = rng.randint(0, len(text))
    return text[:place] + rng.choice(_TEXTS) + text[place + rng.randint(0, 3) :]


def _json(path: Path, rng: random.Random) -> None:
    path.write_text(json.dumps(changed(json.loads(path.read_text()), rng)), errors="surrogatepass")


def _json_lines(path: Path, rng: random.Random) -> None:
    lines = path.read_text().splitlines()
    place = rng.randrange(len(lines))
    lines[place] = json.dumps(changed(json.loads(lines[place]), rng))
    path.write_text("\n".join(lines), errors="surrogatepass")


def _yaml(path: Path, rng: random.Random) -> None:
    path.write_text(
        yaml.safe_dump(changed(yaml.safe_load(path.read_text()), rng), sort_keys=False),
        errors="surrogatepass",
    )


def _toml(path: Path, rng: random.Random) -> None:
    path.write_text(_as_toml(changed(tomllib.loads(path.read_text()), rng)), errors="surrogatepass")


def _as_toml(document: Any) -> str:
    """Each value in one line; what TOML has no word for is left as JSON has it."""
    if not isinstance(document, dict):
        return json.dumps(document)
    return "".join(f"{json.dumps(key)} = {_toml_value(value)}\n" for key, value in document.items())


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(key)} = {_toml_value(member)}" for key, member in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, default=str)


def _csv(path: Path, rng: random.Random) -> None:
    rows = list(csv.reader(io.StringIO(path.read_text())))
    row = rng.choice(rows)
    match rng.randrange(4):
        case 0:
            row.pop()
        case 1:
            row.append(rng.choice(_TEXTS))
        case _:
            row[rng.randrange(len(row))] = rng.choice(_TEXTS)
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    path.write_text(text.getvalue(), errors="surrogatepass")


def _sqlite(path: Path, rng: random.Random) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as log:
        tables = [name for (name,) in log.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = rng.choice(["events", *tables])
        column = rng.choice([row[1] for row in log.execute(f"PRAGMA table_info({table})")])
        keys = [key for (key,) in log.execute(f"SELECT {_key(table)} FROM {table}")]  # noqa: S608 (a log's names)
        where = f"WHERE {_key(table)} = ?"
        key = rng.choice(keys)
        ((stored,),) = log.execute(f"SELECT {column} FROM {table} {where}", (key,))  # noqa: S608
        match rng.randrange(5):
            case 0:
                log.execute(f"DELETE FROM {table} {where}", (key,))  # noqa: S608
            case 1 | 2 | 3 if isinstance(stored, str) and stored[:1] in "{[":
                value = json.dumps(changed(json.loads(stored), rng))
                log.execute(f"UPDATE {table} SET {column} = ? {where}", (value, key))  # noqa: S608
            case _:
                log.execute(f"UPDATE {table} SET {column} = ? {where}", (rng.choice(_STORED), key))  # noqa: S608


def _key(table: str) -> str:
    return "session_id" if table == "session" else "rowid"


def _by_byte(path: Path, rng: random.Random) -> None:
    content = path.read_bytes()
    place = rng.randint(0, len(content))
    if rng.randrange(3):
        content = content[:place] + rng.choice(_BYTES) + content[place + rng.randint(0, 4) :]
    else:
        content = content[:place]
    path.write_bytes(content)


_BY_SUFFIX: Final = {
    ".json": _json,
    ".jsonl": _json_lines,
    ".yaml": _yaml,
    ".toml": _toml,
    ".csv": _csv,
    ".db": _sqlite,
}
