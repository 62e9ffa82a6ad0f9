"""`python -m audit.cli`: the command `dpso`."""

import sys

from audit.cli.main import main

sys.exit(main())
