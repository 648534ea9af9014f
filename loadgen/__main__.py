"""`python -m loadgen` runs the command line."""

from loadgen.cli.start import main

main()
