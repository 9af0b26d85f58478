"""Everything but the screen.

A call goes down, events come up, nothing points sideways. From top to bottom:
cli, commands, core, web, protocols, conversation, dashboard, plugins, flows, asking, data, engine,
models, egress, schemas, language, system, face, and the nouns that everybody shares.
The contracts in pyproject.toml hold it.
"""

VERSION = "0.1.0"
