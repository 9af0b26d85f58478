"""Moat.app in a .dmg, made on a Mac."""
