"""Which questions are drawn: by seed and id, with the same chance each, in proportion to their groups."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from workloads.question import Question
from workloads.question_loading import drawn, load
from workloads.sample import Sample
from workloads.task import parse

if TYPE_CHECKING:
    from pathlib import Path

SIZES = {"algebra": 60, "law": 30, "logic": 9, "virology": 1}


def questions() -> list[Question]:
    """A hundred, sorted by subject as the files of benchmarks are."""
    subjects = [subject for subject, size in SIZES.items() for _ in range(size)]
    return [
        Question(str(number), Sample(number, "?", tags={"subject": subject}), {})
        for number, subject in enumerate(subjects)
    ]


def chosen(count: int, seed: int = 0, groups: tuple[str, ...] = ("subject",)) -> set[int]:
    """The places of the questions that are drawn."""
    places, total = drawn(questions(), count, seed, "quiz", groups)
    assert total == 100
    return places


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("count", [1, 7, 20, 99])
def test_each_group_has_its_share(count: int, seed: int) -> None:
    """Rounded up or down, whatever the seed; never more questions than are wanted."""
    places = chosen(count, seed)
    assert len(places) == count
    asked = questions()
    result = Counter(asked[place].sample.tags["subject"] for place in places)
    for subject, size in SIZES.items():
        assert abs(result[subject] - count * size / 100) < 1


def test_each_question_has_the_same_chance() -> None:
    """Also the only one of its group, and the first of the file."""
    times = Counter(place for seed in range(1000) for place in chosen(10, seed))
    assert len(times) == 100
    assert all(60 < count < 145 for count in times.values())


def test_the_draw_is_of_the_seed_and_the_ids_alone() -> None:
    """The same again, another with another seed, and the same questions from a file in another order."""
    assert chosen(20) == chosen(20)
    assert len({frozenset(chosen(20, seed)) for seed in range(10)}) == 10
    backwards = questions()[::-1]
    places, _ = drawn(backwards, 20, 0, "quiz", ("subject",))
    assert {backwards[place].id for place in places} == {str(place) for place in chosen(20)}
    assert chosen(20, groups=()) != chosen(20)


def test_no_more_than_there_are() -> None:
    """All of them, and of nothing nothing."""
    assert chosen(1000) == set(range(100))
    assert drawn([], 5, 0, "quiz", ()) == (set(), 0)


def test_a_benchmark_is_asked_in_the_order_of_its_file(tmp_path: Path) -> None:
    """Of what is drawn; what was drawn from how many is kept."""
    rows = [
        {"question": f"{n}?", "choices": ["a", "b", "c", "d"], "answer": 0, "subject": f"s{n // 50}"}
        for n in range(100)
    ]
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    first = load(parse("mmlu"), tmp_path, count=4)
    assert [question.id for question in first.questions] == ["0", "1", "2", "3"]
    assert "drawn" not in first.facts
    some = load(parse("mmlu"), tmp_path, count=4, seed=1)
    places = [int(question.id) for question in some.questions]
    assert places == sorted(places)
    assert [place // 50 for place in places] == [0, 0, 1, 1]
    assert some.facts["drawn"] == {"seed": 1, "groups": ["category", "subject"], "of": 100}
    assert some.facts["rows"] == 100
    after = load(parse("mmlu"), tmp_path, count=4, seed=1, offset=50)
    assert {int(question.id) // 50 for question in after.questions} == {1}
