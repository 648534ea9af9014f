"""The evidence of a measured run for rules."""
