"""Tool selection."""
