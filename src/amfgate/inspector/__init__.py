"""The inspector: what is in these bytes, byte by byte.

    found = amfgate.inspector.what(data)     # a packet? a save game? AMF0 or AMF3? and why
    print(found.why)
    print(tree.render(found.root))           # amfgate.inspector.tree: offsets, types, references
    print(hexdump.render(found.root, data))  # amfgate.inspector.hexdump: every byte with its meaning
    document = to_json(found.root, data)     # a tagged JSON form; from_json(document) == data
    for exchange in exchanges(data): ...     # the AMF in a HAR or WARC file, request and reply

It is a reader of its own beside the two decoders, with offsets and with tolerance for damage, and needs nothing that is
not installed with amfgate (WARC files need `warcio`).  `amfgate inspect` is its command line.
"""

from __future__ import annotations

from . import hexdump, tree
from .captures import Recorded, exchanges
from .frames import read_packet, read_sol, read_values
from .jsonform import to_json
from .jsonwrite import from_json
from .nodes import Damage, Node
from .what import Found, what

__all__ = [
    "Damage",
    "Found",
    "Node",
    "Recorded",
    "exchanges",
    "from_json",
    "hexdump",
    "read_packet",
    "read_sol",
    "read_values",
    "to_json",
    "tree",
    "what",
]
