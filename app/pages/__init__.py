"""The pages of the window, in the order of the sidebar."""

from app.pages.activity import ActivityPage
from app.pages.base import Page
from app.pages.chat import ChatPage
from app.pages.connect import ConnectPage
from app.pages.hardware import HardwarePage
from app.pages.home import HomePage
from app.pages.logs import LogsPage
from app.pages.models import ModelsPage
from app.pages.plugins import PluginsPage
from app.pages.settings import SettingsPage

PAGES: tuple[type[Page], ...] = (
    HomePage,
    ChatPage,
    ConnectPage,
    ModelsPage,
    HardwarePage,
    PluginsPage,
    ActivityPage,
    LogsPage,
    SettingsPage,
)
