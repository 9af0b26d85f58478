"""A worker that may take only so much memory: MOAT_CRAMPED_MB of addresses."""

import os
import resource

from server.engine.worker.main import main

MOST = int(os.environ["MOAT_CRAMPED_MB"]) << 20
resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
main()
