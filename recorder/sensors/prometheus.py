"""Metrics pages: those of inference servers, and of the exporters of GPUs of other hosts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from recorder.payloads import SensorStarted
from recorder.sensors import names
from recorder.sensors.exposition import Naming, UnreadableError, mentioned, naming_of, observed
from recorder.sensors.reading import Reading, within_limits
from recorder.sensors.scrape import ScrapeError, scrape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recorder.sensors.names import SensorQuantity
    from recorder.sensors.scrape import MetricsPage, ScrapeTarget

SERVER: Final = "server"
_QUANTITIES: Final = {
    SERVER: names.SERVER,
    "dcgm": names.DCGM,
    "amd_exporter": names.AMD,
    "intel_exporter": names.INTEL,
}
"""By the sensor's source."""

_EXCERPT: Final = 60


class PrometheusSensor:
    """Reads a page; see `recorder.sensors.reading.Sensor`."""

    def __init__(
        self,
        source: str,
        target: ScrapeTarget,
        interval_s: float,
        labels: Mapping[str, str],
        hide: Callable[[str], str],
    ) -> None:
        self.interval_s = interval_s
        self._source = source
        self._target = target
        self._labels = labels
        self._hide = hide
        self._quantities: Sequence[SensorQuantity] = _QUANTITIES[source]

    def start(self) -> SensorStarted:
        """The source of this sensor; nothing is read yet."""
        return SensorStarted(
            source=self._source,
            interval_s=self.interval_s,
            target=self._target.url,
            about={"labels": self._labels},
        )

    def read(self, *, whole: bool) -> Sequence[Reading]:
        """Get the page. A `whole` reading has the text as well.

        The text is in its own reading, without values, so that none is there twice.
        """
        began_ns = time.monotonic_ns()
        try:
            page = scrape(self._target)
        except ScrapeError as error:
            return [self._failed(began_ns, error.name, self._hide(str(error)))]
        readings = self._of(page, whole=whole)
        if whole:
            readings.append(
                Reading(
                    source=self._source,
                    at_ns=page.at_ns,
                    labels=self._labels,
                    exposition=self._hide(page.text),
                )
            )
        return readings

    def close(self) -> None:
        """Close the connection of each page."""

    def _of(self, page: MetricsPage, *, whole: bool) -> list[Reading]:
        naming = naming_of(page.text) if self._source == SERVER else Naming(self._source, "")
        try:
            things = [] if naming is None else observed(page.text, naming, self._quantities, whole=whole)
        except UnreadableError as error:
            return [self._failed(page.at_ns, "not_prometheus", self._hide(f"a line cannot be read: {error}"))]
        if naming is None or not things:
            return [self._failed(page.at_ns, "no_known_metric", self._hide(_described(page)))]
        of_engine = {} if self._source != SERVER else {"server": naming.engine}
        readings = [
            Reading(
                source=self._source,
                at_ns=page.at_ns,
                values=thing.values,
                labels={**self._labels, **of_engine, **thing.labels},
                histograms=thing.histograms,
                took_ms=page.took_ms,
            )
            for thing in things
        ]
        return list(within_limits(readings))

    def _failed(self, at_ns: int, name: str, message: str) -> Reading:
        return Reading(source=self._source, at_ns=at_ns, labels=self._labels, error=name, message=message)


def _described(page: MetricsPage) -> str:
    """A description of a page without a known metric, so that a user can recognize the page."""
    beginning = " ".join(page.text[:_EXCERPT].split())
    excerpt = f"({page.kind or 'no media type'}: {beginning!r})"
    if "DCGM_FI_" in page.text or "\ngpu_" in page.text:
        return f"no metric of the page has a value {excerpt}"
    if (name := mentioned(page.text)) is not None:
        return f"no line of the page begins with a known metric, though it mentions {name} {excerpt}"
    return f"no metric of a known server is on the page {excerpt}"
