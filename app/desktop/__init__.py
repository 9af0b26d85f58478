"""What the desktop gives: the event loop, start at login, one window per user."""
