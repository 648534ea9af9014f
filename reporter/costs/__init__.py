"""What a run costs in dollars, by a table of prices."""
