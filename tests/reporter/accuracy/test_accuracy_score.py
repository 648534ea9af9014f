"""What a run scored: over the samples that were issued, with nothing silently 0 and nothing dropped."""

from __future__ import annotations

from statistics import fmean, median, pstdev
from typing import TYPE_CHECKING, Any

import jsonschema
import orjson
import pytest

from reporter import MetricsReporter
from reporter.accuracy.repeated import all_of, any_of
from reporter.errors import OptionError
from reporter.log.query import query
from reporter.report_schema import report_schema
from reporter.values.task_score import plain
from rulesets.statistics import clustered, wilson

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.accuracy.conftest import Benchmark
    from tests.reporter.conftest import Run


def test_a_run_of_no_benchmark_scores_nothing(a_run: Callable[..., Run]) -> None:
    """Its report has an empty list, none of the tables of scores is loaded, and it has no pass to show."""
    run = a_run().answers(5, 7).ends()
    folder = run.write()
    with MetricsReporter(folder) as reporter:
        assert reporter.create_report().accuracy == []
        tables = {name for (name,) in reporter.log.execute("SHOW TABLES").fetchall()}
        assert not tables & {"scores", "questions", "scored", "asked", "graded"}
        with pytest.raises(OptionError, match="unknown scoring pass 1: the run asked no benchmark"):
            reporter.create_report(scoring_pass=1)


def test_the_score_is_over_what_was_issued(asks: Callable[..., Benchmark]) -> None:
    """An answer that cannot be read and a request that failed are wrong, each under its name."""
    run = asks(questions=4).answers(0).answers(1).answers(2).fails(3)
    score = run.scored(1, 0, 1).score()
    assert score["value"] == 0.5
    assert score["issued"] == 4
    assert (score["scored"], score["missing"], score["unscored"]) == (3, 1, 0)
    low, high = wilson.interval(2, 4, 0.95)
    assert score["interval"] == {"low": low, "high": high, "level": 0.95, "method": "wilson"}
    assert score["best"] is None
    assert score["official"] is True


def test_what_has_no_score_is_neither_wrong_nor_left_out(graded: Callable[..., Benchmark]) -> None:
    """The value is a lower bound, `best` the upper one, and a bound has no interval."""
    score = graded(1, 1, 0, "judge_pending", "infra_error").score()
    assert (score["value"], score["best"]) == (0.4, 0.8)
    assert (score["judge_pending"], score["infra_error"], score["unscored"]) == (1, 1, 2)
    assert score["interval"] is None
    assert score["standard_error"] is None
    assert any("--judge-url" in note for note in score["notes"])
    assert any("most of them: infra_error" in note for note in score["notes"])


def test_without_any_score_there_is_no_value(graded: Callable[..., Benchmark]) -> None:
    """All wait for a judge: that is not a score of 0."""
    score = graded("judge_pending", "judge_pending").score()
    assert score["value"] is None
    assert score["headlines"]["accuracy"]["value"] is None
    assert score["best"] == 1.0


def test_a_run_that_was_not_scored_says_so(asks: Callable[..., Benchmark]) -> None:
    """Its task is there with what was asked, and without a value."""
    score = asks(questions=3).answers(0, tokens=30).answers(1, tokens=50).score()
    assert (score["issued"], score["unscored"], score["value"], score["pass"]) == (2, 2, None, None)
    assert score["tokens_per_sample"] == 40
    assert score["notes"][0] == "the answers were not scored: loadgen score RUN"
    assert "1 of 3 questions were never asked" in score["notes"]


def test_the_clients_own_failures_have_no_value(asks: Callable[..., Benchmark]) -> None:
    """A worker that died says nothing of the model."""
    score = asks(questions=2).answers(0).fails(1, "worker_lost").scored(1).score()
    assert (score["value"], score["best"], score["infra_error"], score["missing"]) == (0.5, 1.0, 1, 0)


REPEATED = ((1, 1, 0), (0, 0, 0), (1, 1, 1), (1, 0))
"""Attempts at four questions; the last one lacks one."""


@pytest.fixture
def repeated(asks: Callable[..., Benchmark]) -> Benchmark:
    """A run of REPEATED, each round after the other."""
    run, values = asks(questions=len(REPEATED)), []
    for attempt in range(3):
        for question, attempts in enumerate(REPEATED):
            if attempt < len(attempts):
                run.answers(question)
                values.append(attempts[attempt])
    return run.scored(*values)


def test_repeated_questions_are_clusters(repeated: Benchmark) -> None:
    """Several attempts at a question resemble each other: the standard error is over questions."""
    score = repeated.score()
    error = clustered.standard_error(REPEATED, "corrected")
    assert error is not None
    assert score["standard_error"] == pytest.approx(error)
    assert score["interval"]["method"] == "clustered"
    assert (score["repeats"], score["questions"], score["issued"]) == (3, 4, 11)
    share = 6 / 11
    effective = round(share * (1 - share) / error**2)
    assert score["headlines"]["accuracy"]["effective"] == effective < 11


@pytest.mark.parametrize(
    ("attempts", "low", "high"),
    [
        (((1,) * 5,) * 2, 0.342, 1),
        (((0,) * 5,) * 2, 0, 0.658),
        (((1, 1, 1, 0, 0),) * 2, 0.132, 0.937),
        (((1,) * 5,) * 19 + ((1, 1, 1, 1, 0),), 0.822, 0.999),
        (((1,), (1,)), 0.342, 1),
        (((0.5,), (0.5,)), 0.095, 0.905),
    ],
)
def test_questions_that_scored_alike_are_few_not_certain(
    asks: Callable[..., Benchmark], attempts: tuple[tuple[float, ...], ...], low: float, high: float
) -> None:
    """Where their spread is unknown, it is Wilson's interval of as many answers as there are questions."""
    run = asks(questions=len(attempts))
    for number, values in enumerate(attempts):
        for _ in values:
            run.answers(number)
    score = run.scored(*(value for values in attempts for value in values)).score()
    interval = score["interval"]
    assert interval["method"] == "wilson"
    assert (interval["low"], interval["high"]) == (
        pytest.approx(low, abs=1e-3),
        pytest.approx(high, abs=1e-3),
    )
    assert score["headlines"]["accuracy"]["effective"] in (None, len(attempts))


def test_pass_at_k_leaves_out_questions_with_fewer_attempts_and_counts_them(repeated: Benchmark) -> None:
    """By the unbiased estimators, averaged over questions."""
    score = repeated.score()
    whole = [attempts for attempts in REPEATED if len(attempts) == 3]
    assert score["pass_at"]["3"] == pytest.approx(fmean(any_of(3, sum(attempts), 3) for attempts in whole))
    assert score["pass_hat"]["3"] == pytest.approx(fmean(all_of(3, sum(attempts), 3) for attempts in whole))
    assert score["pass_at"]["2"] == pytest.approx(
        fmean(any_of(len(attempts), sum(attempts), 2) for attempts in REPEATED)
    )
    assert score["excluded"] == {"1": 0, "2": 0, "3": 1}
    assert any("1 from pass@3" in note for note in score["notes"])


def test_the_threshold_says_what_passes(asks: Callable[..., Benchmark]) -> None:
    """An attempt passes from the threshold on, where values are parts of an answer."""
    run = asks(questions=1).answers(0).answers(0)
    run.run.settings["accuracy"]["pass_threshold"] = 0.5
    score = run.scored(0.5, 0.4).score()
    assert score["pass_at"] == {"1": 0.5, "2": 1.0}
    assert score["value"] == pytest.approx(0.45)


def test_parts_of_an_answer_have_a_standard_error(graded: Callable[..., Benchmark]) -> None:
    """Values between 0 and 1, once a question: normal, by the plain standard error."""
    score = graded(0.5, 1, 0.25).score()
    assert score["standard_error"] == pytest.approx(clustered.plain([0.5, 1, 0.25]))
    assert score["interval"]["method"] == "normal"
    assert score["interval"]["high"] <= 1


def test_groups_are_those_of_the_benchmark_and_of_other_tags(graded: Callable[..., Benchmark]) -> None:
    """A tag that all have in common tells nothing apart; one of many values only where the benchmark says."""
    values = [number % 2 for number in range(60)]
    tags = lambda n: {"subject": f"s{n}", "id": f"i{n}", "half": "first" if n < 30 else "second", "same": "x"}  # noqa: E731 (a fixture's argument)
    score = graded(*values, tags=tags, groups=["subject"]).score()
    assert list(score["groups"]) == ["subject", "half"]
    assert len(score["groups"]["subject"]) == 60
    assert score["groups"]["half"]["first"]["issued"] == 30
    assert score["groups"]["subject"]["s1"]["value"] == 1.0


def test_a_group_with_an_unscored_sample_has_no_interval(graded: Callable[..., Benchmark]) -> None:
    """The others have theirs."""
    groups = graded(1, "judge_pending", tags=lambda n: {"part": "ab"[n]}).score()["groups"]["part"]
    assert (groups["b"]["value"], groups["b"]["unscored"], groups["b"]["interval"]) == (0.0, 1, None)
    assert groups["a"]["interval"]["method"] == "wilson"


def test_lengths_and_ends_of_answers(asks: Callable[..., Benchmark]) -> None:
    """Tokens a sample, and which share was truncated or refused."""
    run = asks(questions=4).answers(0, tokens=10, finish_reason="length").answers(1, tokens=20)
    run.answers(2, tokens=30, finish_reason="content_filter").fails(3)
    score = run.scored(1, 1, 0).score()
    assert score["tokens_per_sample"] == 20
    assert (score["truncated"], score["refused"]) == (0.25, 0.25)
    assert "1 of 4 answers were cut at the limit of tokens" in score["notes"]


def test_the_last_finished_pass_of_each_scorer_counts(graded: Callable[..., Benchmark]) -> None:
    """One that stopped half-way gives a note and no result; any pass can be asked for."""
    run = graded(1, 0).scored(0, 0).scored(1, ended=None).scored(1, scorer="flexible", ended=None)
    (score,) = run.scores()
    assert (score["scorer"], score["pass"], score["value"]) == ("official", 2, 0.0)
    stopped = "stopped after 1 of 2 answers and is not reported: loadgen score RUN continues it"
    assert score["notes"][:2] == [
        f"scoring pass 3 (official) {stopped}",
        f"scoring pass 4 (flexible) {stopped}",
    ]
    first = run.score(1)
    assert (first["pass"], first["value"]) == (1, 0.5)
    assert not any("stopped" in note for note in first["notes"])
    third = run.score(3)
    assert (third["value"], third["unscored"]) == (0.5, 1)
    assert any("pass 3 was not finished" in note for note in third["notes"])
    with pytest.raises(OptionError, match="no scoring pass 7: there are 1, 2, 3, 4"):
        run.scores(7)


@pytest.mark.parametrize("gap", ["judge_pending", "infra_error"])
def test_a_pass_with_gaps_does_not_replace_a_complete_one(graded: Callable[..., Benchmark], gap: str) -> None:
    """A judge that failed takes no score away: a note names the pass, which can be asked for."""
    run = graded(gap, 0).scored(1, 1).scored(gap, 1)
    score = run.score()
    assert (score["pass"], score["value"], score["unscored"]) == (2, 1.0, 0)
    assert score["notes"][0].startswith("scoring pass 3 (official) has a score for 1 of 2 answers only")
    assert (run.score(3)["pass"], run.score(3)["unscored"]) == (3, 1)
    # Of passes that lack as many, the last one counts; and of those that lack none.
    assert graded(gap, 0).scored(gap, 1).score()["pass"] == 2
    assert run.scored(0, 0).score()["pass"] == 4


def test_a_pass_before_the_run_went_on_is_replaced(asks: Callable[..., Benchmark]) -> None:
    """Complete as it was, it lacks the answers that came after it."""
    run = asks(questions=2).answers(0).scored(1).answers(1).scored("judge_pending", 1)
    assert (run.score()["pass"], run.score()["unscored"]) == (2, 1)


def test_a_pass_that_stopped_gives_no_score(asks: Callable[..., Benchmark]) -> None:
    """Where there is no other pass, the task is not scored; a finished pass takes its place."""
    run = asks(questions=2).answers(0).answers(1).scored(1, ended=None)
    score = run.score()
    assert (score["scorer"], score["value"], score["unscored"], score["issued"]) == (None, None, 2, 2)
    assert score["notes"][0].startswith("scoring pass 1 (official) stopped after 1 of 2 answers")
    score = run.scored(1, 1).score()
    assert (score["value"], score["pass"]) == (1.0, 2)
    assert not any("stopped" in note for note in score["notes"])


def test_the_benchmarks_own_scorer_comes_first(graded: Callable[..., Benchmark]) -> None:
    """Whatever pass it is of."""
    computed = graded(1, 0).scored(1, 1, scorer="another").scores()
    assert [(score["scorer"], score["official"]) for score in computed] == [
        ("official", True),
        ("another", False),
    ]


def test_several_tasks_have_their_own_scores(asks: Callable[..., Benchmark]) -> None:
    """Each of its own questions, and with its own settings."""
    run = asks(questions=2, published=1319).asks("own", 1).answers(0).answers(1).answers(2, task="own")
    first, second = run.scored(1, 0, 1).scores()
    assert (first["task"], first["value"], first["issued"]) == ("gsm8k", 0.5, 2)
    assert (second["task"], second["value"], second["issued"]) == ("own", 1.0, 1)
    assert second["official"] is None
    assert "2 of the 1,319 questions of the benchmark" in first["notes"]


def test_another_version_of_a_scorer_is_noted(asks: Callable[..., Benchmark]) -> None:
    """An old score may differ from one of today's version."""
    score = asks(questions=1).answers(0).scored(1, version=99).score()
    assert any("scored by version 99 of official" in note for note in score["notes"])


@pytest.mark.slow
def test_from_a_log_it_is_the_same(asks: Callable[..., Benchmark]) -> None:
    """The view of a log has what these tables have: of two tasks, several passes, and all kinds of ends.

    And the report is valid by its schema, and leaves all passes in the view.
    """
    run = asks(questions=3, tags=lambda n: {"part": "abc"[n]}).asks("own", 2)
    run.answers(0, tokens=5).answers(1, tokens=7, finish_reason="length").fails(2)
    run.answers(3, task="own", tokens=9).fails(4, "worker_lost", task="own").answers(0, tokens=6)
    run.scored(1, 0, None, 0.5, None, "judge_pending", metrics=lambda n: {"x": n})
    run.scored(1, 1, None, 1, None, None, scorer="another", ended=None)
    report = run.report()
    assert plain(report.accuracy) == run.scores()
    written: dict[str, Any] = orjson.loads(orjson.dumps(report.to_dict()))
    jsonschema.validate(written, report_schema(), cls=jsonschema.Draft202012Validator)
    assert query(run.run.folder, "SELECT pass, count(*) FROM scores GROUP BY ALL ORDER BY 1").rows == [
        (1, 6),
        (2, 6),
    ]


def test_data_that_differs_from_the_published_is_noted(asks: Callable[..., Benchmark]) -> None:
    """A dataset with more, or fewer, questions than are published."""
    score = asks(questions=1, rows=1, published=1319).answers(0).scored(1).score()
    assert "its data had 1 rows, where 1,319 are published" in score["notes"]


def test_a_run_that_went_on_after_it_was_scored_has_no_score(asks: Callable[..., Benchmark]) -> None:
    """A score of part of its answers is not its score; that pass can still be shown."""
    run = asks(questions=2).answers(0).scored(1).answers(1)
    score = run.score()
    assert (score["value"], score["issued"], score["unscored"], score["pass"]) == (None, 2, 2, None)
    assert "the run went on after scoring pass 1: loadgen score RUN" in score["notes"]
    first = run.score(1)
    assert (first["value"], first["issued"]) == (1.0, 1)
    assert run.scored(1, 0).score()["value"] == 0.5


def test_attempts_without_a_score_leave_a_lower_bound(asks: Callable[..., Benchmark]) -> None:
    """They count as failed in pass@k and pass^k, and a note says so; where all have one there is none."""
    run = asks(questions=1).answers(0).answers(0)
    bounds = "pass@k and pass^k are lower bounds: attempts without a score count as failed"
    score = run.scored(1, "infra_error").score()
    assert score["pass_at"] == {"1": 0.5, "2": 1.0}
    assert bounds in score["notes"]
    assert bounds not in run.scored(1, 0).score()["notes"]


def test_options_are_noted_with_their_defaults(asks: Callable[..., Benchmark]) -> None:
    """A part may be one that the benchmark defines: the note has both, and readers decide."""
    options = {"category": "live", "mode": "fc"}
    score = (
        asks("bfcl:category=live", 1, options=options).answers(0, task="bfcl:category=live").scored(1).score()
    )
    assert "with options category=live, where the default is all" in score["notes"]


@pytest.mark.slow
def test_questions_that_are_repeated_on_purpose_have_no_finding(asks: Callable[..., Benchmark]) -> None:
    """A benchmark has no further prompts; a repeat that was not asked for has a finding."""
    for repeats, has_finding in ((2, False), (1, True)):
        run = asks(questions=1).answers(0).answers(0)
        run.run.settings["dataset"] = {"rows": 1}
        run.run.settings["accuracy"]["repeats"] = repeats
        codes = {finding.code for finding in run.scored(1, 1).report().findings}
        assert ("prompts_repeated" in codes) is has_finding


def test_the_spread_of_the_samples_values(asks: Callable[..., Benchmark]) -> None:
    """Mean, median, standard deviation, least and greatest value, of the samples that have one."""
    values = [0.0, 0.25, 0.5, 1.0]
    run = asks(questions=5)
    for question in range(5):
        run.answers(question)
    statistics = run.scored(*values, "judge_pending").score()["statistics"]
    assert statistics == {
        "n": 4,
        "mean": fmean(values),
        "median": median(values),
        "std": pytest.approx(pstdev(values)),
        "min": 0.0,
        "max": 1.0,
    }


def test_nothing_scored_has_no_spread(asks: Callable[..., Benchmark]) -> None:
    """Neither where no sample has a value, nor where no pass was made."""
    assert asks(questions=1).answers(0).scored("infra_error").score()["statistics"] is None
    assert asks(questions=1).answers(0).score()["statistics"] is None


def test_statistics_over_repeats(asks: Callable[..., Benchmark]) -> None:
    """The mean of each repeat that has every question; a repeat that was cut short is left out."""
    run = asks(questions=2)
    for question in (0, 1, 0, 1, 0):
        run.answers(question)
    over_repeats = run.scored(1, 0, 1, 1, 0).score()["over_repeats"]
    assert over_repeats == {
        "values": [0.5, 1.0],
        "mean": 0.75,
        "median": 0.75,
        "std": pytest.approx(pstdev([0.5, 1.0])),
        "min": 0.5,
        "max": 1.0,
    }


@pytest.mark.parametrize("last", ["judge_pending", "infra_error"])
def test_no_statistics_over_repeats_with_unscored_samples(asks: Callable[..., Benchmark], last: str) -> None:
    """Which repeat the missing value would raise is not known; and a single repeat has no spread."""
    run = asks(questions=1).answers(0).answers(0)
    assert run.scored(1, last).score()["over_repeats"] is None
    assert asks(questions=1).answers(0).scored(1).score()["over_repeats"] is None


def test_drawn_questions_are_noted(asks: Callable[..., Benchmark]) -> None:
    """Of how many, with which seed, and in proportion to what."""
    drawn = {"seed": 7, "groups": ["category", "subject"], "of": 100}
    score = asks(questions=1, rows=100, published=100, drawn=drawn).answers(0).scored(1).score()
    assert (
        "1 of its 100 questions, drawn with --seed 7, in proportion to category and subject" in score["notes"]
    )
