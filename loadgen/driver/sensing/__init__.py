"""Running sensors next to a session: in a separate process, whose readings go to the one writer."""
