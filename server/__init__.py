"""Everything but the windows. Calls go down, events come up, nothing points sideways.

    cli, commands                    the command line
    core                             opens, owns and closes everything below
    web, protocols                   the HTTP server, and the APIs it speaks, as data
    conversation, dashboard          a run: from a question to its single end
    plugins, flows                   tools and steps from others
    asking, data                     constrained questions to the model; tables and documents
    engine, models                   what answers, and the files it needs
    egress, door                     the only way out, and how libraries use it
    schemas, language, system        what all of them use
    face                             what a window may see and do
    artifacts, chat, errors, events, observe, settings, sizes, sse, tasks    shared basics

Contracts in pyproject.toml enforce it; docs/architecture.md explains it.
"""

import os

VERSION = "0.1.0"
QUIET = {
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_EXPERIMENTAL_WARNING": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_VERBOSITY": "error",
    "OTEL_SDK_DISABLED": "true",
}
"""Libraries read these once, when they are imported, so they are set before any import."""
os.environ.update(QUIET)
