"""`python -m adgen`: the same as the `adgen` command."""

import sys

try:
    from adgen.cli import main

    main()
except KeyboardInterrupt:  # before the command itself could answer it
    sys.exit(130)
