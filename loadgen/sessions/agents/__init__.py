"""Agent loops run from Python, against any provider, without load: a baseline next to measured runs."""
