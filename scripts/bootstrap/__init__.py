"""From a fresh clone to a program that runs, with nothing but the standard library."""
