"""The programs of the suite, from Python: `python -m kernelcast choose -- ./app`.

A wheel has them in its folder bin, and pip writes a start of the same name for each: this runs what it is called as.
Without a wheel it runs those that are installed.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from .library import Status

_OWN = Path(__file__).parent / "bin"


def program(name: str) -> str | None:
    """Where the suite's program of that name is: in the wheel, else on PATH."""
    own = _OWN / name
    if os.access(own, os.X_OK):
        return str(own)
    return None if _OWN.is_dir() else shutil.which(name)


def main() -> int:
    name = Path(sys.argv[0]).name
    if name == "__main__.py":
        name = "kernelcast"
    path = program(name)
    if path is None:
        print(
            f"{name}: error: the program is not installed\n"
            "hint: pip install kernelcast from a wheel, or make install, brings it",
            file=sys.stderr,
        )
        return Status.UNAVAILABLE
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
