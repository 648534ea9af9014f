"""`python -m cli`: the same as `loadgen`."""

from cli.start import main

main()
