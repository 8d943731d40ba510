"""The command line: `amfgate inspect`, `call`, `serve`, `sol`, `from-json`, `as3`.

One file per command; `source.py` is where input comes from, `show.py` how output looks.  All of it needs click and
rich, `pip install 'amfgate[cli]'`; without them there is the version line of `python -m amfgate`.

Exit status: 0 all is well; 1 the news is bad (damaged input, no AMF, a fault from the service); 2 the command was not
understood; 3 something could not be read, written or reached, or is not installed.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

HOW_TO_GET = "the commands need click and rich: pip install 'amfgate[cli]'"


def run(arguments: Sequence[str]) -> int:
    """Run one command line; the exit status."""
    try:
        from . import app
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        print(f"amfgate: {HOW_TO_GET}", file=sys.stderr)
        return 3
    return app.run(arguments)


def main() -> None:
    """The console script `amfgate`; alone it prints its help."""
    from ..__main__ import main as start

    alone = ["--help"] if importlib.util.find_spec("click") is not None else []
    sys.exit(start(sys.argv[1:] or alone))
