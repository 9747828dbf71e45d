"""``python -m tfrecord_beam``: the command line."""

import sys

from tfrecord_beam.cli.main import main

sys.exit(main())
