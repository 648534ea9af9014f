"""Rules over several runs: the required places of a sweep's points, and joint demands."""

from rulesets.sweeps.evaluation import CHECKS, evaluate, names
from rulesets.sweeps.pareto import front
from rulesets.sweeps.point import Point
from rulesets.sweeps.regions import Regions, regions

__all__ = ["CHECKS", "Point", "Regions", "evaluate", "front", "names", "regions"]
