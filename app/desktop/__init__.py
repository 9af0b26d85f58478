"""What the desktop provides: the event loop, start at login, and tests of clients."""
