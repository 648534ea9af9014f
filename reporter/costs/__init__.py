"""The cost of a run in dollars, by a table of prices."""
