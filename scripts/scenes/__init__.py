"""Every page in every state that a person may see, for the screenshots."""

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
