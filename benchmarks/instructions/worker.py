"""What runs under callgrind: one function, so many times, and nothing else that differs between two runs.

python worker.py amfgate._encoder_py encode W1 10
python worker.py amfgate._encoder@0 decode W1 10    AMF0
"""

from __future__ import annotations

import gc
import importlib
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import data
import peers


def main(library: str, direction: str, workload: str, repetitions: int) -> None:
    value = data.BY_NAME[workload].make()
    if library.startswith("amfgate."):
        twin, _, version = library.partition("@")
        suffix = "_py" if twin.endswith("_py") else ""
        modules = [importlib.import_module(f"amfgate.{name}{suffix}") for name in ("_encoder", "_decoder")]
        encode, decode = peers.functions(*modules)
        if version:
            encode, decode = partial(encode, version=int(version)), partial(decode, version=int(version))
    else:
        maker = {"orjson": peers.orjson, "msgspec.msgpack": peers.msgpack}[library]()
        encode, decode = maker.encode, maker.decode
    function, argument = (encode, value) if direction == "encode" else (decode, encode(value))
    function(argument)  # what happens only once is in both runs, and so in neither difference
    gc.collect()
    gc.freeze()
    gc.disable()
    for _ in range(repetitions):
        function(argument)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
