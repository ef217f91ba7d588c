"""``python -m judgesmith``: the command line."""

import sys

from judgesmith.cli import main

sys.exit(main())
