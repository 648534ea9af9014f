"""Audits: runs that show whether another run is genuine."""
