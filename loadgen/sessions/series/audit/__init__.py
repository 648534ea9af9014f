"""Audits: runs that show whether another run is what it looks like."""
