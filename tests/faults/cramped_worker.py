"""Runs the worker with a limit of MOAT_CRAMPED_MB on its address space."""

import os
import resource

from server.engine.worker.main import main

MOST = int(os.environ["MOAT_CRAMPED_MB"]) << 20
resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
main()
