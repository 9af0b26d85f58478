"""Runs first in the frozen program: what it starts must find libraries of its own.

Its start-up part points the linker at our folder and notes in the environment that it has.
Other programs must not see the one; our other roles, which are the same program, not the other.
"""

import os

for _name in [name for name in os.environ if name.startswith("_PYI_")]:
    del os.environ[_name]
for _name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LIBPATH"):
    _original = os.environ.pop(f"{_name}_ORIG", None)
    if _original is not None:
        os.environ[_name] = _original
    else:
        os.environ.pop(_name, None)
