"""Names of points in a picture, placed without covering other names or points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIZE: Final = 7
_HIGH: Final = 10.0
_CHARACTER: Final = 4.0
"""Height of a name, and width of each of its characters, in points."""
_PLACES: Final = ((6, 4), (6, -10), (-6, 4), (-6, -10), (6, 14), (6, -20), (-6, 14), (-6, -20))
"""Where a name may be, from its point: to the right first."""


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def covers(self, other: _Box) -> bool:
        return not (
            self.right < other.left
            or other.right < self.left
            or self.top < other.bottom
            or other.top < self.bottom
        )


def write_names(axes: Any, points: Sequence[tuple[Any, Any, str]]) -> None:
    """Write names next to points, inside the axes, whose limits are final."""
    per_point = 72 / axes.figure.dpi
    places = [per_point * axes.transData.transform((x, y)) for x, y, _ in points]
    left_of_axes, bottom_of_axes = per_point * axes.transAxes.transform((0, 0))
    taken = [_Box(x - 3, y - 3, x + 3, y + 3) for x, y in places]
    for (x, y, name), (left, bottom) in zip(points, places, strict=True):
        boxes = {place: _box(left, bottom, place, name) for place in _PLACES}
        free = [
            place
            for place, box in boxes.items()
            if box.bottom > bottom_of_axes
            and box.left > left_of_axes
            and not any(box.covers(other) for other in taken)
        ]
        place = free[0] if free else _PLACES[0]
        taken.append(boxes[place])
        axes.annotate(
            name,
            (x, y),
            xytext=place,
            textcoords="offset points",
            fontsize=_SIZE,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0},
            horizontalalignment="right" if place[0] < 0 else "left",
        )


def _box(left: float, bottom: float, place: tuple[int, int], name: str) -> _Box:
    wide = _CHARACTER * len(name)
    start = left + place[0] - (wide if place[0] < 0 else 0)
    return _Box(start, bottom + place[1], start + wide, bottom + place[1] + _HIGH)
