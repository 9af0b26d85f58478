"""Everything but the screen: core, web, protocols, conversation, engine, models.

A call goes down, events come up, nothing points sideways:
core -> web -> protocols -> conversation -> flows | plugins -> engine | models -> events -> nouns.
"""

VERSION = "0.1.0"
