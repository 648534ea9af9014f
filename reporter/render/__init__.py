"""A report as text: each renderer takes a finished Report and gives back a string, nothing else."""
