"""The settings of what can be done: frozen dataclasses whose fields declare options."""
