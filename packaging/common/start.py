"""Runs first in the frozen program and undoes what PyInstaller's bootloader set in the environment.

The bootloader points the linker to our folder and notes in variables that it has done so. Other
programs must not see our folder. Our other roles, which are the same program, must not see the
notes.
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
