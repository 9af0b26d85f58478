"""Every page in every state, as a person may meet it: what the pictures show."""

from scripts.scenes import (
    activity,
    charts,
    chat,
    connect,
    hardware,
    home,
    logs,
    models,
    plugins,
    settings,
    welcome,
)
from scripts.scenes.base import Scene

PAGES = (home, chat, charts, logs, settings, connect, models, hardware, activity, plugins, welcome)
SCENES: dict[str, Scene] = {name: scene for page in PAGES for name, scene in page.SCENES.items()}
