"""Rules over several runs: the required places of a sweep's points, and joint demands."""

from rulesets.sweeps.counting import Regions, regions
from rulesets.sweeps.pareto_steps import front
from rulesets.sweeps.point import Point
from rulesets.sweeps.sweep_evaluation import CHECKS, evaluate, names

__all__ = ["CHECKS", "Point", "Regions", "evaluate", "front", "names", "regions"]
