"""The clock, the signals and the limits of the machine on which the client runs."""
