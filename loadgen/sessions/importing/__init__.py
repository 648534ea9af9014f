"""Importing: results of other programs' benchmark runs, written as ordinary logs."""
