"""Makes Moat.app in a .dmg, on a Mac."""
