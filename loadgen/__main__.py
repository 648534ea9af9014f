"""`python -m loadgen`: the same as `loadgen`."""

from loadgen.cli.start import main

main()
