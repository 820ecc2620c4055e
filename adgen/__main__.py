"""`python -m adgen`."""

from adgen.cli import main

main()
