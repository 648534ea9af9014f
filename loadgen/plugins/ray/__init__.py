"""Several machines that issue as one: each machine has worker processes and a log."""
