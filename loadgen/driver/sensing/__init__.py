"""Running sensors next to a session: in a process of their own, whose readings go to the one writer."""
