"""Files of stages: four formats, one meaning, and errors that name the file, the stage and the key."""

import json
from pathlib import Path

import pytest

from loadgen.driver.arrivals.stages_file import read_stages
from loadgen.driver.errors import StagesError

YAML = """
- {name: morning, duration: 60s, rate: 5}
- {name: noon, duration: 30, rate: "ramp:5..50,30s"}
- {start: 2m, duration: 500ms, rate: 20.5}
"""
TOML = """
[[stages]]
name = "morning"
duration = "60s"
rate = 5

[[stages]]
name = "noon"
duration = 30
rate = "ramp:5..50,30s"

[[stages]]
start = "2m"
duration = "500ms"
rate = 20.5
"""
CSV = """name,start,duration,rate
morning,,60s,5
noon,,30,"ramp:5..50,30s"
,2m,500ms,20.5
"""
JSON = json.dumps(
    [
        {"name": "morning", "duration": "60s", "rate": 5},
        {"name": "noon", "duration": 30, "rate": "ramp:5..50,30s"},
        {"start": "2m", "duration": "500ms", "rate": 20.5},
    ]
)


def write(folder: Path, name: str, content: str) -> Path:
    """A file with that content."""
    path = folder / name
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.yaml", YAML),
        ("a.YML", "stages:" + YAML),
        ("a.json", JSON),
        ("b.json", f'{{"stages": {JSON}}}'),
        ("a.toml", TOML),
        ("a.csv", CSV),
        ("b.csv", "\ufeff" + CSV),
    ],
)
def test_every_format_says_the_same(tmp_path: Path, name: str, content: str) -> None:
    """A stage begins where the one ahead of it ended, or at its start."""
    assert [stage.settings() for stage in read_stages(write(tmp_path, name, content)).stages] == [
        {"name": "morning", "start_s": 0.0, "duration_s": 60.0, "rate": "5"},
        {"name": "noon", "start_s": 60.0, "duration_s": 30.0, "rate": "ramp:5..50,30s"},
        {"name": None, "start_s": 120.0, "duration_s": 0.5, "rate": "20.5"},
    ]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.yaml", "", "has no stages: give at least one"),
        ("a.json", "[]", "has no stages"),
        ("a.csv", "name,duration,rate\n", "has no stages"),
        ("a.toml", "", "has no stages"),
        ("a.txt", "x", "stages are in a file named *.yaml, *.yml, *.json, *.toml, *.csv"),
        ("a.yaml", "a: [", "is not YAML"),
        ("a.json", "[,]", "is not JSON"),
        ("a.toml", "x", "is not TOML"),
        ("a.csv", 'duration,rate\n"60,5\n', "is not CSV"),
        ("a.csv", "duration,rate\n60,5,7\n", "stage 1: has more cells than the first line has keys"),
        ("a.yaml", "just text", "is not a list of stages"),
        ("a.yaml", "stges: []", "unknown key 'stges' next to a list of stages; did you mean 'stages'?"),
        ("a.yaml", "[5]", "stage 1: is not a table of keys and values"),
        ("a.yaml", "[{duration: 5, rate: 5}, {rate: 5}]", "stage 2: has no duration"),
        ("a.yaml", "[{name: x}]", "stage 1 ('x'): has no duration and no rate"),
        ("a.yaml", "[{duration: 5, rat: 5}]", "stage 1: unknown key 'rat'; did you mean 'rate'?"),
        ("a.yaml", "[{duration: 0, rate: 5}]", "stage 1: a time of 0 s: must be above 0 s"),
        ("a.yaml", "[{duration: -5s, rate: 5}]", "stage 1: a time of -5 s: must be above 0 s"),
        ("a.yaml", "[{duration: 5 parsecs, rate: 5}]", "stage 1: duration: '5 parsecs' is not a duration"),
        ("a.yaml", "[{duration: .nan, rate: 5}]", "stage 1: duration: 'nan' is not a duration"),
        ("a.yaml", "[{duration: 5, rate: -5}]", "stage 1: rate: '-5': a rate of -5: must be from 0"),
        ("a.yaml", "[{duration: 5, rate: fast}]", "stage 1: rate: 'fast': 'fast' is not a number"),
        ("a.yaml", "[{duration: 5, rate: yes}]", "stage 1: rate: True is neither a number nor a text"),
        ("a.yaml", "[{duration: 5, rate: 5, name: [x]}]", "stage 1: name: ['x'] is not a text"),
        (
            "a.yaml",
            "[{duration: 5, rate: 'ramp:1..2,60s'}]",
            "stage 1: rate: ramp:1..2,60s takes longer than the stage, which lasts 5 s",
        ),
        (
            "a.yaml",
            "[{duration: 10, rate: 5}, {name: late, start: 9, duration: 1, rate: 5}]",
            "stage 2 ('late'): start 9 s: overlaps the stage ahead of it, which ends at 10 s",
        ),
        ("a.yaml", "[{start: -1, duration: 10, rate: 5}]", "stage 1: start -1 s: is before the beginning"),
        ("a.yaml", "[{duration: 10, rate: 0}]", "no stage has a rate above 0"),
        ("a.yaml", "[{duration: 1, rate: 1, rate: 2}]", "the key 'rate' stands twice"),
        ("a.json", '[{"duration": 1, "rate": 1, "rate": 2}]', "the key 'rate' stands twice"),
        ("a.csv", "duration,rate,rate\n1,2,3\n", "the key 'rate' stands twice"),
        ("a.csv", "duration,rat\n1,2\n", "unknown key 'rat'; did you mean 'rate'?"),
        ("a.csv", "rate\n" + "1\n" * 100_001, "has more than 100,000 stages"),
        ("a.yaml", f"[{{duration: 5, rate: 0x{'f' * 5000}}}]", "line 1: a number of 5,002 characters"),
        ("a.yaml", f"[{{duration: 5, rate: 1{':59' * 2000}.5}}]", "line 1: a number of 6,003 characters"),
        ("a.yaml", "- {duration: 5,\n   rate: !!int ''}", "line 2: '' cannot be read as int"),
        ("a.yaml", "- &a {duration: 5, rate: 1}\n- *a", "line 2: no aliases: write out what *a stands for"),
        ("a.yaml", "[" * 100, "line 1: nested deeper than 32 levels"),
        ("a.yaml", " " * 300_000, "has more than 262,144 bytes; write this many stages as .csv or .json"),
        ("a.json", "[" * 100, "line 1: nested deeper than 32 levels"),
        ("a.json", f'[{{"duration": 5, "rate": {"9" * 5000}}}]', "line 1: a number of 5,000 characters"),
        ("a.json", f'[{{"duration": 5, "rate": {"9" * 100}}}]', "does not fit into 64 bits"),
        ("a.toml", f"{'.'.join('a' * 20_000)} = 1", "line 1: nested deeper than 32 levels"),
        (
            "a.toml",
            f"[[stages]]\nduration = 5\nrate = 0x{'f' * 5000}",
            "line 3: a number of 5,002 characters",
        ),
    ],
)
def test_an_invalid_file_of_stages_is_refused(
    tmp_path: Path, name: str, content: str, complaint: str
) -> None:
    """The message names the file, the stage and the key."""
    path = write(tmp_path, name, content)
    with pytest.raises(StagesError) as caught:
        read_stages(path)
    assert str(caught.value).startswith(str(path))
    assert complaint in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """Missing, a folder, or no text."""
    with pytest.raises(StagesError, match="cannot be read"):
        read_stages(tmp_path / "nowhere.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(StagesError, match="cannot be read"):
        read_stages(tmp_path / "folder.yaml")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StagesError, match="is not text in UTF-8"):
        read_stages(tmp_path / "bytes.csv")
