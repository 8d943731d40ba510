"""`python -m amfgate`: the version, which codec is live, and why.

    amfgate 0.1.0, codec: cython (/…/amfgate/_encoder.cpython-311-x86_64-linux-gnu.so)
    amfgate 0.1.0, codec: python (the extension is not installed)

The first thing to ask for when a server is slower than it should be.  With arguments it is the command line, which
needs `amfgate[cli]`; the console script `amfgate` is the same.
"""

from __future__ import annotations

import importlib.util
import sys

from amfgate import cli, codec
from amfgate._version import __version__


def describe() -> str:
    """Say which amfgate this is, in one line."""
    if codec.IMPLEMENTATION == "python":
        return f"amfgate {__version__}, codec: python ({codec.WHY})"
    place = sys.modules["amfgate._encoder"].__file__
    return f"amfgate {__version__}, codec: {codec.IMPLEMENTATION} ({place})"


def main(arguments: list[str]) -> int:
    """The version line without arguments, else the command line; the exit status."""
    if arguments in ([], ["--version"]):
        print(describe())
        if not arguments and importlib.util.find_spec("click") is None:
            print(cli.HOW_TO_GET, file=sys.stderr)
        return 0
    return cli.run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
