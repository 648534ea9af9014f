"""Tests, limits and intervals for the influence of chance, as docs/statistics.md describes.

Pure functions of numbers, each with its formula and the source of that. Levels and probabilities
are between 0 and 1; ranks count from 0 in ascending order.
"""
