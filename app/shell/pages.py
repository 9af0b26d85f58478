"""The pages of the window, in the order of the sidebar."""

from app.activity.page import ActivityPage
from app.chat.page import ChatPage
from app.connect.page import ConnectPage
from app.hardware.page import HardwarePage
from app.home.page import HomePage
from app.logs.page import LogsPage
from app.look.page import Page
from app.models.page import ModelsPage
from app.plugins.page import PluginsPage
from app.settings.page import SettingsPage

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
