"""Several machines that issue as one: each runs its own worker processes and writes its own log."""
