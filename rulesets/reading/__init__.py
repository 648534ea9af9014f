"""Ruleset files, from text to rules by section and name."""
