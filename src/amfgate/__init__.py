"""amfgate: WSGI middleware that answers Flash remoting, with a fast serializer for AMF0 and AMF3.

The public names, and nothing else.  Each is loaded when it is first used: a program that only calls `dumps` and `loads`
loads no gateway.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import flex, inspector, sol
    from ._wire import Limits
    from .access import requires
    from .classes import ClassRegistry, alias_of, remote_class
    from .client import Client
    from .codec import IMPLEMENTATION, WHY, Decoder, Encoder, dumps, loads
    from .errors import AmfError, DecodeError, EncodeError, Fault
    from .filters import Sessions
    from .gateway import Gateway
    from .inspector.canonical import canonical
    from .packet import Body, Header, Packet
    from .pipeline import Call, Exchange, Pipeline, Response
    from .services import ServiceRegistry, service
    from .sessions import MemoryStore, RedisStore
    from .types import Dictionary, EcmaArray, Rows, TypedObject, Vector, Xml, invalid_date, undefined

_HOMES = {
    "codec": ("IMPLEMENTATION", "WHY", "Decoder", "Encoder", "dumps", "loads"),
    "_wire": ("Limits",),
    "classes": ("ClassRegistry", "alias_of", "remote_class"),
    "errors": ("AmfError", "DecodeError", "EncodeError", "Fault"),
    "types": ("Dictionary", "EcmaArray", "Rows", "TypedObject", "Vector", "Xml", "invalid_date", "undefined"),
    "packet": ("Body", "Header", "Packet"),
    "pipeline": ("Call", "Exchange", "Pipeline", "Response"),
    "access": ("requires",),
    "services": ("ServiceRegistry", "service"),
    "filters": ("Sessions",),
    "sessions": ("MemoryStore", "RedisStore"),
    "client": ("Client",),
    "testing": (),
    "inspector": (),
    "inspector.canonical": ("canonical",),
    "gateway": ("Gateway", "default_actions", "default_filters"),
    "sol": (),
    "flex": (),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "IMPLEMENTATION",
    "WHY",
    "AmfError",
    "Body",
    "Call",
    "ClassRegistry",
    "Client",
    "DecodeError",
    "Decoder",
    "Dictionary",
    "EcmaArray",
    "EncodeError",
    "Encoder",
    "Exchange",
    "Fault",
    "Gateway",
    "Header",
    "Limits",
    "MemoryStore",
    "Packet",
    "Pipeline",
    "RedisStore",
    "Response",
    "Rows",
    "ServiceRegistry",
    "Sessions",
    "TypedObject",
    "Vector",
    "Xml",
    "__version__",
    "alias_of",
    "canonical",
    "dumps",
    "flex",
    "inspector",
    "invalid_date",
    "loads",
    "remote_class",
    "requires",
    "service",
    "sol",
    "undefined",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is not None:
        value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    elif name in _HOMES:
        return importlib.import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
