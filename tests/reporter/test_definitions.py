"""Each definition changes the figures as its formula says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reporter import MetricsReporter
from reporter.errors import OptionError
from reporter.log.database import open_log
from reporter.percentiles import percentiles_named
from reporter.tokens import with_counted_tokens
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter import Report
    from reporter.log.database import OpenLog
    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]

LATENCIES = ("ttft_ms", "ttfo_ms", "ttfv_ms", "ttfb_ms", "last_token_ms", "latency_ms")


class Letters:
    """A tokenizer whose tokens are letters, between marks that it puts around every text."""

    name_or_path: str | None = None

    def encode(self, text: str) -> list[str]:
        """The letters of a text and the marks."""
        return ["<begin>", *text, "<end>"]


def texts_of(output: str, reasoning: str | None = None, tool_calls: Any = None) -> dict[str, Any]:
    """The texts of an answer."""
    return {"output": output, "reasoning": reasoning, "tool_calls": tool_calls}


def each(run: Run, *definitions: Definitions, **options: Any) -> list[Report]:
    """The reports of a run by each of these definitions, of one opened log."""
    with MetricsReporter(run.write()) as reporter:
        return [reporter.create_report(definitions=by_these, **options) for by_these in definitions]


def tpot(report: Report) -> float | None:
    """The mean TPOT in ms."""
    return None if report.tpot_ms is None else report.tpot_ms.mean


def codes(report: Report) -> list[str]:
    """What the report found."""
    return [finding.code for finding in report.findings]


def test_a_report_says_what_it_was_computed_by(a_run: NewRun) -> None:
    """All definitions are reported, the defaults among them."""
    wanted = Definitions(percentile_method="lower", tpot_end="complete")
    run = a_run().answers(5, 7, usage=(1, 2)).ends()
    report = run.report(definitions=wanted)
    assert report.run.definitions == wanted.to_dict()
    assert report.run.percentile_method == "lower"


@pytest.mark.slow
def test_percentiles_are_by_the_method(a_run: NewRun) -> None:
    """Of ten latencies, 1 to 10 ms, in all parts of the report."""
    run = a_run()
    for ms in range(1, 11):
        run.answers(ms, at_ms=0, usage=(1, 1), issue={"about": {"tags": {"class": "a"}}})
    medians: dict[Any, float] = {"linear": 5.5, "lower": 5, "loadgen_floor": 6, "nearest_rank": 5}
    reports = each(run.ends(), *(Definitions(percentile_method=method) for method in medians))
    for report, median in zip(reports, medians.values(), strict=True):
        assert report.ttft_ms is not None
        assert report.ttft_ms.p50 == median
        (part,) = report.breakdown["class"]
        assert part.ttft_ms is not None
        assert part.ttft_ms.p50 == median


@pytest.mark.slow
def test_latencies_count_from_the_origin(a_run: NewRun) -> None:
    """Due at 10 ms, issued at 30, sent at 35: and what counts from the schedule does so as ever."""
    run = a_run().answers(
        50, 80, at_ms=30, complete=90, usage=(1, 2), issue={"sent": 35.0, "scheduled": 10.0}
    )
    origins: tuple[Any, ...] = (None, "scheduled", "issued", "sent")
    reports = each(run.ends(), *(Definitions(latency_origin=origin) for origin in origins))
    ends = dict.fromkeys(LATENCIES, 50) | {"last_token_ms": 80, "latency_ms": 90}
    begins = [
        dict.fromkeys(LATENCIES, 35) | {"latency_ms": 30},
        dict.fromkeys(LATENCIES, 10),
        dict.fromkeys(LATENCIES, 30),
        dict.fromkeys(LATENCIES, 35),
    ]
    for report, begin in zip(reports, begins, strict=True):
        means = {metric: getattr(report, metric).mean for metric in LATENCIES}
        assert means == {metric: ends[metric] - begin[metric] for metric in LATENCIES}
        assert report.ttft_from_schedule_ms is not None
        assert report.ttft_from_schedule_ms.mean == 40
        assert report.own_ms is not None
        assert report.own_ms.mean == 25
        assert report.own_ttft_share == pytest.approx(25 / 40)


@pytest.mark.slow
def test_tpot_as_loadgen_has_it(a_run: NewRun) -> None:
    """(latency - TTFT) / (n - 1), whatever both count from."""
    run = a_run().answers(50, 60, 70, at_ms=30, complete=90, usage=(1, 3), issue={"scheduled": 10.0}).ends()
    origins: tuple[Any, ...] = (None, "scheduled", "issued")
    completes = [Definitions(latency_origin=origin, tpot_end="complete") for origin in origins]
    lasts = [Definitions(latency_origin=origin) for origin in origins]
    *to_complete, first, second, third = each(run, *completes, *lasts)
    for report in to_complete:
        assert report.latency_ms is not None
        assert report.ttft_ms is not None
        assert tpot(report) == (90 - 50) / 2 == (report.latency_ms.mean - report.ttft_ms.mean) / 2
    assert [tpot(report) for report in (first, second, third)] == [(70 - 50) / 2] * 3


def tpots(log: OpenLog) -> list[float | None]:
    """The TPOT of each request, in ms."""
    return [ms for (ms,) in log.execute("SELECT tpot_ms FROM samples ORDER BY sample_uuid").fetchall()]


@pytest.mark.parametrize(
    ("outputs", "after"),
    [([(3, "stop"), (4, "stop")], [2, 3]), ([(4, "length"), (7, "stop"), (3, "stop")], [None, None, 2])],
)
def test_where_each_chunk_is_a_token_so_is_the_first(
    a_run: NewRun, outputs: list[tuple[int, str]], after: list[int | None]
) -> None:
    """By the server's count; the token that ends a text has no chunk. Else it is unknown, with a finding."""
    run = a_run()
    for output, finish_reason in outputs:
        run.answers(50, 60, 70, usage=(1, output), finish_reason=finish_reason)
    with MetricsReporter(run.ends().write()) as reporter:
        definitions = Definitions(tpot_denominator="tokens_after_first_chunk")
        report, log = reporter.create_report_and_log(definitions)
        assert tpots(log) == [None if tokens is None else 20 / tokens for tokens in after]
    assert ("first_chunk_unknown" in codes(report)) is (None in after)


def test_usage_that_comes_with_the_first_chunk_counts_its_tokens(a_run: NewRun) -> None:
    """Chunks of several tokens, of which the first has 4 of 16 by the server's count."""
    run = a_run().answers(50, 60, 70, usage=(1, 16), first_chunk={"content": 9, "tokens": 4})
    with open_log(run.ends().write()) as log:
        definitions = Definitions(tpot_denominator="tokens_after_first_chunk")
        assert tpots(log.with_definitions(definitions)) == [20 / 12]


AFTER_FIRST: tuple[tuple[dict[str, Any], Any, int | None], ...] = (
    (texts_of("abcdefg"), {"content": 4}, 3),
    (texts_of("abc", "uvwxyz"), {"reasoning": 2}, 4 + 3),
    (texts_of("abc", "uvwxyz"), {"reasoning": 6, "content": 1}, 2),
    (texts_of("", None, [{"function": {"name": "f", "arguments": "12345"}}]), {"tool_call": 2}, 3),
    (texts_of("", None, [{"function": {"name": "f", "arguments": "12345"}}]), {"tool_call": 0}, 5),
    (texts_of("abcdefg"), None, None),
)
"""Texts, the length of the first chunk, and how many tokens come after it."""


def test_a_tokenizer_counts_what_came_after_the_first_chunk(a_run: NewRun) -> None:
    """The rest of the text, in every category; without the first chunk's length the count is unknown."""
    run = a_run()
    for texts, first_chunk, _ in AFTER_FIRST:
        run.answers(50, 60, 70, usage=(1, 9), texts=texts, first_chunk=first_chunk)
    with open_log(run.ends().write()) as log:
        definitions = Definitions(tpot_denominator="tokens_after_first_chunk")
        counted = with_counted_tokens(log.with_definitions(definitions), Letters())
        assert tpots(counted) == [None if after is None else 20 / after for *_, after in AFTER_FIRST]


@pytest.mark.slow
def test_an_answer_of_one_token(a_run: NewRun) -> None:
    """It has no TPOT, one of 0, or makes the run invalid; and so has one of none."""
    run = a_run().answers(50, usage=(1, 1)).answers(50, usage=(1, 1), chunks=1).answers(50, 60, usage=(1, 2))
    counts: dict[Any, int] = {"drop": 1, "zero": 3, "error": 1}
    reports = each(run.ends(), *(Definitions(tpot_n1=choice) for choice in counts))
    for report, (choice, count) in zip(reports, counts.items(), strict=True):
        assert report.tpot_ms is not None
        assert (report.tpot_ms.count, report.tpot_ms.max) == (count, 10)
        assert ("one_token" in codes(report)) is (choice == "error")
        assert report.validity.valid is (choice != "error")


def test_by_tokens_each_request_weighs_what_tpot_divides_by(a_run: NewRun) -> None:
    """So the mean is the time of all, divided by all of these tokens."""
    from reporter import TPOTReportingMode

    run = a_run().answers(50, 60, 70, complete=90, usage=(1, 3)).answers(50, 60, complete=80, usage=(1, 2))
    report = run.ends().report(
        definitions=Definitions(tpot_end="complete"), tpot_reporting_mode=TPOTReportingMode.TOKEN_WEIGHTED
    )
    assert tpot(report) == pytest.approx((40 + 30) / 3)


@pytest.mark.parametrize(
    ("source", "tokenizer", "tokens", "has_finding"),
    [
        (None, False, (5, 9 + 2), True),
        (None, True, (5 + 3, 9 + 4), False),
        ("server_usage", True, (5, 9), True),
        ("client_tokenizer", True, (3 + 3, 7 + 4), False),
        ("client_tokenizer", False, (None, None), True),
    ],
)
def test_the_source_of_token_counts(
    a_run: NewRun, source: Any, *, tokenizer: bool, tokens: tuple[int | None, int | None], has_finding: bool
) -> None:
    """One answer that the server counted, and one that it did not: without a source the count is unknown."""
    asked = {"prompt": {"prompt": "why"}}
    run = a_run().answers(50, 60, usage=(5, 9), texts=texts_of("abcdefg"), issue=asked)
    run.answers(50, 60, texts=texts_of("abcd"), issue=asked)
    report = run.ends().report(
        definitions=Definitions(token_source=source), tokenizer=Letters() if tokenizer else None
    )
    assert (report.tokens.input, report.tokens.output) == tokens
    assert ("tokens_unknown" in codes(report)) is (has_finding)


@pytest.mark.parametrize(
    ("name", "has_finding"), [("org/letters", False), ("elsewhere/words", True), (None, False)]
)
def test_another_tokenizer_than_the_definitions_name(
    a_run: NewRun, name: str | None, *, has_finding: bool
) -> None:
    """It is reported by its name, wherever it was loaded from; one without a name is accepted."""
    run = a_run().answers(50, 60, texts=texts_of("abcd")).ends()
    tokenizer = Letters()
    tokenizer.name_or_path = name
    report = run.report(definitions=Definitions(tokenizer="letters"), tokenizer=tokenizer)
    assert ("other_tokenizer" in codes(report)) is has_finding


CATEGORIES: dict[Any, tuple[int, int]] = {
    ("reasoning", "content", "tool_call"): (30, 3 + 5),
    ("content", "tool_call"): (20, 5),
    ("content",): (20, 5),
    ("reasoning",): (10, 3),
    ("tool_call",): (0, 0),
}
"""Output tokens of an answer by the server's usage and by a tokenizer, by the categories that count."""


@pytest.mark.slow
def test_only_some_categories_count_of_the_servers_tokens(a_run: NewRun) -> None:
    """The server tells reasoning; of the rest, what an answer has only one kind of is known."""
    more = {"texts": texts_of("abcde", "xyz"), "reasoning_tokens": 10}
    run = a_run().answers(50, 60, 90, usage=(1, 30), first_output_ns=None, **more).ends()
    reports = each(run, *(Definitions(token_categories=categories) for categories in CATEGORIES))
    assert [report.tokens.output for report in reports] == [server for server, _ in CATEGORIES.values()]


@pytest.mark.slow
def test_only_some_categories_count_of_a_tokenizers_tokens(a_run: NewRun) -> None:
    """Each category has its own texts."""
    more = {"texts": texts_of("abcde", "xyz"), "reasoning_tokens": 10}
    run = a_run().answers(50, 60, 90, usage=(1, 30), **more).ends()
    definitions = [
        Definitions(token_source="client_tokenizer", token_categories=categories)  # noqa: S106 (no password)
        for categories in CATEGORIES
    ]
    reports = each(run, *definitions, tokenizer=Letters())
    assert [report.tokens.output for report in reports] == [letters for _, letters in CATEGORIES.values()]


ONE_CATEGORY: tuple[tuple[Any, dict[Any, int | None]], ...] = (
    (texts_of("abc"), {"reasoning": 0, "content": 30, "tool_call": 0}),
    (texts_of("", "xyz"), {"reasoning": 30, "content": 0, "tool_call": 0}),
    (texts_of("", None, [{"function": {}}]), {"reasoning": 0, "content": 0, "tool_call": 30}),
    (texts_of("abc", None, [{"function": {}}]), {"reasoning": 0, "content": None, "tool_call": None}),
    (texts_of("abc", "xyz"), {"reasoning": None, "content": None, "tool_call": 0}),
)
"""Texts, and the tokens of each category alone, of 30."""


@pytest.mark.slow
def test_a_server_that_reports_no_category(a_run: NewRun) -> None:
    """Of an answer of one category the count is known; of several it is unknown, with a finding."""
    run = a_run()
    for texts, _ in ONE_CATEGORY:
        run.answers(50, 60, usage=(1, 30), texts=texts)
    with MetricsReporter(run.ends().write()) as reporter:
        for category in ("reasoning", "content", "tool_call"):
            log = reporter.log.with_definitions(Definitions(token_categories=(category,)))  # type: ignore[arg-type]  # it is one
            rows = with_counted_tokens(log, None).execute(
                "SELECT output_tokens FROM samples ORDER BY sample_uuid"
            )
            assert rows.fetchall() == [(expected[category],) for _, expected in ONE_CATEGORY], category
        report = reporter.create_report(definitions=Definitions(token_categories=("reasoning",)))
    assert "tokens_unknown" in codes(report)
    whole = a_run().answers(50, 60, usage=(1, 30), texts=texts_of("abc")).ends()
    assert "tokens_unknown" not in codes(whole.report(definitions=Definitions(token_categories=("content",))))


def test_without_reasoning_tpot_counts_from_the_first_output(a_run: NewRun) -> None:
    """The time of tokens that do not count is not part of it."""
    from tests.reporter.conftest import ns

    more = {"reasoning_tokens": 2, "first_output_ns": ns(70), "first_visible_ns": ns(70)}
    run = a_run().answers(50, 60, 70, 80, 90, usage=(1, 5), texts=texts_of("abc", "xy"), **more).ends()
    definitions = (Definitions(token_categories=("content", "tool_call")), Definitions())
    assert [tpot(report) for report in each(run, *definitions)] == [(90 - 70) / (3 - 1), (90 - 50) / (5 - 1)]


@pytest.mark.slow
def test_one_reporter_can_report_by_several_definitions(a_run: NewRun) -> None:
    """What one report was computed by leaves nothing behind for the next."""
    run = a_run().answers(50, 60, 70, complete=90, usage=(1, 3)).answers(95, at_ms=80, usage=(1, 3)).ends()
    with MetricsReporter(run.write()) as reporter:
        before = reporter.create_report()
        other = reporter.create_report(
            definitions=Definitions(
                latency_origin="issued", tpot_end="complete", throughput_window="last_issued_done"
            )
        )
        after = reporter.create_report()
    assert other != before
    assert after == before


@pytest.mark.slow
def test_tpot_over_all_tokens(a_run: NewRun) -> None:
    """(COMPLETE - FIRST_CHUNK) / output tokens: of four tokens from 50 to 90 ms, 10 ms."""
    run = a_run().answers(50, 60, 70, 80, complete=90, usage=(1, 4)).ends()
    definitions = (
        Definitions(tpot_denominator="n", tpot_end="complete"),
        Definitions(tpot_denominator="n"),
        Definitions(),
    )
    assert [tpot(report) for report in each(run, *definitions)] == [10, 7.5, 10]


def test_percentiles_of_choice(a_run: NewRun) -> None:
    """Each summary has those that were chosen, and the usual ones as before; without a choice no key."""
    run = a_run()
    for ms in range(1, 11):
        run.answers(ms, at_ms=0, usage=(1, 1))
    folder = run.ends().write()
    with MetricsReporter(folder) as reporter:
        report = reporter.create_report(percentiles=percentiles_named("75,p99.9,25"))
        usual = reporter.create_report()
    assert report.ttft_ms is not None
    assert list(report.ttft_ms.percentiles) == ["p25", "p75", "p999"]
    assert report.ttft_ms.percentiles["p75"] == pytest.approx(7.75)
    assert report.ttft_ms.p50 == 5.5
    assert report.run.percentiles == ["p25", "p75", "p999"]
    assert report.to_dict()["ttft_ms"]["percentiles"] == report.ttft_ms.percentiles
    assert "percentiles" not in usual.to_dict()["ttft_ms"]


@pytest.mark.parametrize("text", ["", "0", "100", "fast", "50,,90", "-1", "50;90", "1e1"])
def test_an_invalid_percentile_is_refused(text: str) -> None:
    """Numbers above 0 and below 100."""
    with pytest.raises(OptionError, match="is not a percentile"):
        percentiles_named(text)
