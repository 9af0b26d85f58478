"""The pages of the window, in the order of the sidebar."""

from app.pages.base import Page
from app.pages.chat import ChatPage
from app.pages.home import HomePage
from app.pages.logs import LogsPage
from app.pages.settings import SettingsPage

PAGES: tuple[type[Page], ...] = (HomePage, ChatPage, LogsPage, SettingsPage)
