#!/bin/sh
# Names the Python to build the environment with: the first that runs and is new enough.
# Versions this project has not been tried with come last.
for newest in 13 99; do
    for name in ${PYTHON:-} python3 python3.12 python3.13 python3.11 python3.14 python; do
        if "$name" -c "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, $newest))" \
            >/dev/null 2>&1; then
            echo "$name"
            exit 0
        fi
    done
done
echo "Moat needs Python 3.11 or newer, and found none. On Debian and Ubuntu:" >&2
echo "    sudo apt-get install python3 python3-venv" >&2
exit 1
