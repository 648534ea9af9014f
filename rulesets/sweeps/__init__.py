"""Rules over several runs: where the points of a sweep must lie, and what they must show together."""

from rulesets.sweeps.evaluation import CHECKS, evaluate, names
from rulesets.sweeps.pareto import front
from rulesets.sweeps.point import Point
from rulesets.sweeps.regions import Regions, regions

__all__ = ["CHECKS", "Point", "Regions", "evaluate", "front", "names", "regions"]
