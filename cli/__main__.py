"""`python -m cli`: the same as `loadgen`."""

from cli.app import main

main()
