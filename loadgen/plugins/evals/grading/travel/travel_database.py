"""The database of a travel task: the data of the agent's tools, as CSV files in a folder."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

Row = dict[str, str]

_IN_BRACKETS: Final = re.compile(r"[\uff08(].*?[)\uff09]")
_ENDS: Final = (("dep_station_name", "origin_city"), ("arr_station_name", "destination_city"))
_CHINESE_CITY: Final = re.compile(r"[\u4e00-\u9fa5]{2}")


@dataclass(frozen=True, slots=True)
class TravelDatabase:
    """The places of a task, by name.

    Attributes:
        hotels: Rows of hotels.csv.
        attractions: Rows of attractions.csv.
        restaurants: Rows of restaurants.csv.
        prices: Of flights and trains, by their numbers; one can have several.
        stations: The city of an airport or station.
        places: Latitude and longitude, as texts.
        minutes: How long a taxi takes, by the coordinates of both ends, each `latitude,longitude`; as text.
    """

    hotels: Mapping[str, Row]
    attractions: Mapping[str, Row]
    restaurants: Mapping[str, Row]
    prices: Mapping[str, Sequence[str]]
    stations: Mapping[str, str]
    places: Mapping[str, tuple[str, str]]
    minutes: Mapping[tuple[str, str], str]

    def city_of(self, station: str) -> str | None:
        """The city of an airport or station; for an unknown place the first two Chinese characters."""
        if station in self.stations:
            return self.stations[station]
        match = _CHINESE_CITY.match(station)
        return match[0] if match else None


def city_name(text: str) -> str:
    """A city without the part in brackets."""
    return _IN_BRACKETS.sub("", text).strip()


def read_database(folder: Path) -> TravelDatabase:
    """Read the database of a task, `database/id_N`; a file that is not there is empty.

    Raises:
        OSError: A file cannot be read.
        UnicodeDecodeError: A file is not UTF-8.
    """
    prices: dict[str, list[str]] = {}
    stations: dict[str, str] = {}
    # The number of a flight goes before that of a train.
    for kind, number in (("flights", "flight_no"), ("trains", "train_no")):
        of_kind: dict[str, list[str]] = defaultdict(list)
        for row in _rows(folder / kind / f"{kind}.csv"):
            if row[number]:
                of_kind[row[number]].append(row["price"])
            for station, city in _ENDS:
                if row[station] and row[city]:
                    stations[row[station]] = city_name(row[city])
        prices = {**of_kind, **prices}
    minutes: dict[tuple[str, str], str] = {}
    for row in _rows(folder / "transportation" / "distance_matrix.csv"):
        minutes.setdefault((row["origin"], row["destination"]), row["duration_minutes"])
    return TravelDatabase(
        hotels=_by_name(folder / "hotels" / "hotels.csv", "name"),
        attractions=_by_name(folder / "attractions" / "attractions.csv", "attraction_name"),
        restaurants=_by_name(folder / "restaurants" / "restaurants.csv", "restaurant_name"),
        prices=prices,
        stations=stations,
        places={
            name: (row["latitude"], row["longitude"])
            for name, row in _by_name(folder / "locations" / "locations_coords.csv", "poi_name").items()
        },
        minutes=minutes,
    )


def _by_name(path: Path, column: str) -> dict[str, Row]:
    return {row[column]: row for row in _rows(path) if row[column]}


def _rows(path: Path) -> Iterator[Row]:
    """The rows of a file, each cell without surrounding blanks; a missing cell is empty."""
    if not path.exists():
        return
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            yield defaultdict(
                str, {name: (cell or "").strip() for name, cell in row.items() if isinstance(name, str)}
            )
