"""The names of PyAMF that programs used most, over amfgate: `import amfgate.compat.pyamf as pyamf`.

A bridge for the time of a change, not another PyAMF: the same names take the same arguments and give the same
results where that is right, and docs/from-pyamf.md lists what is different on purpose and what is not here.
`amf3`, `flex`, `util` and `remoting` are modules of this package, loaded when they are first used.

    import amfgate.compat.pyamf as pyamf

    pyamf.register_class(User, "com.example.User")
    data = pyamf.encode({"name": "ada"}, encoding=pyamf.AMF3).getvalue()
    values = list(pyamf.decode(data, encoding=pyamf.AMF3))
    application = pyamf.remoting.gateway.wsgi.WSGIGateway({"users": Users()})
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ...classes import default_registry
from ...codec import Decoder as _Decoder
from ...codec import Encoder as _Encoder
from ...errors import AmfError as BaseError
from ...errors import DecodeError, EncodeError
from ...types import TypedObject
from ...types import Undefined as UndefinedType
from ...types import undefined as Undefined
from .util import BufferedByteStream
from .values import ASObject, MixedArray, translate

__all__ = [
    "AMF0",
    "AMF3",
    "DEFAULT_ENCODING",
    "ENCODING_TYPES",
    "ASObject",
    "BaseError",
    "ClassAlias",
    "DecodeError",
    "EOStream",
    "EncodeError",
    "MixedArray",
    "TypedObject",
    "Undefined",
    "UndefinedType",
    "UnknownClassAlias",
    "decode",
    "encode",
    "get_class_alias",
    "register_class",
    "unregister_class",
]

AMF0: Final = 0
AMF3: Final = 3
ENCODING_TYPES: Final = (AMF0, AMF3)
DEFAULT_ENCODING: Final = AMF3

_MODULES: Final = ("amf3", "flex", "remoting")


class EOStream(BaseError):
    """There is no further value."""


class UnknownClassAlias(BaseError):
    """Nobody registered this alias, or this class."""


class ClassAlias(NamedTuple):
    """What `register_class` gives back: the class and its alias."""

    klass: type
    alias: str


def encode(*values: Any, encoding: int = DEFAULT_ENCODING, strict: bool = False, use_ext: Any = None) -> Any:
    """A stream, at its start, of the bytes of `values`, one after another; later ones refer to earlier ones.

    `.getvalue()` or `.read()` gives the bytes.  `strict` and `use_ext` change nothing.  EncodeError for what cannot be
    sent, an instance of a class that nobody registered among it.
    """
    encoder = _Encoder(version=_version(encoding), strings="all")
    return BufferedByteStream(b"".join([encoder.encode(value) for value in values]))


def decode(stream: Any, encoding: int = DEFAULT_ENCODING, strict: bool = False, use_ext: Any = None) -> _Values:
    """The values of `stream` (bytes, or a file from where it stands), one after another, as an iterator.

    Anonymous objects are ASObject, associative arrays MixedArray, bytes amf3.ByteArray, dates naive datetimes in UTC.
    DecodeError for what is no AMF, input that breaks off included.
    """
    data = stream.read() if hasattr(stream, "read") else stream
    return _Values(_Decoder(data, version=_version(encoding)))


class _Values:
    """What `decode` gives: an iterator with PyAMF's names for its step."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return translate(self._decoder.decode())
        except EOFError:
            raise StopIteration from None

    next = __next__

    def readElement(self) -> Any:
        """The next value; EOStream where there is none."""
        try:
            return translate(self._decoder.decode())
        except EOFError:
            raise EOStream("there is no further value") from None


def register_class(klass: type, alias: str | None = None) -> ClassAlias:
    """Let instances of `klass` travel as objects of the class `alias`, in the registry that `remote_class` fills too.

    Of a nested class `__amf__` these are read: `alias`, `exclude`, `readonly`, `dynamic` (True unless it says
    otherwise), `external`, `synonym` (attribute -> name on the wire), and `static`, whose names have to be declared by
    annotations or `__slots__` as well.  `proxy` is refused: return a flex.ArrayCollection instead.
    """
    meta = getattr(klass, "__amf__", None)
    alias = getattr(meta, "alias", None) if alias is None else alias
    if not alias:
        raise ValueError(
            f"{klass.__qualname__} needs an alias: register_class({klass.__name__}, 'com.example.{klass.__name__}')"
        )
    if getattr(meta, "proxy", None):
        raise TypeError(f"{klass.__qualname__}.__amf__.proxy: put a flex.ArrayCollection into the attribute instead")
    static = _names(getattr(meta, "static", None))
    declared = {name for base in klass.__mro__ for name in _declared(base)}
    missing = [name for name in static if name not in declared]
    if missing:
        raise TypeError(
            f"{klass.__qualname__}.__amf__.static names {', '.join(missing)}; declare them in the class: "
            f"{missing[0]}: object"
        )
    external = bool(getattr(meta, "external", False))
    default_registry.register(
        klass,
        alias,
        rename=getattr(meta, "synonym", None) or None,
        exclude=_names(getattr(meta, "exclude", None)),
        readonly=_names(getattr(meta, "readonly", None)),
        dynamic=getattr(meta, "dynamic", None) is not False and klass.__dictoffset__ != 0 and not external,
        external=external,
    )
    return ClassAlias(klass, alias)


def unregister_class(alias: str | type) -> ClassAlias:
    """Forget a class, by its alias or itself; UnknownClassAlias if it is not registered."""
    found = get_class_alias(alias)
    default_registry.unregister(found.klass)
    return found


def get_class_alias(klass_or_alias: str | type) -> ClassAlias:
    """What was registered for a class or an alias; UnknownClassAlias if nothing was.  Nothing is imported by it."""
    for klass in default_registry:
        plan = default_registry.plan_of(klass)
        if plan is not None and klass_or_alias in (klass, plan.alias):
            return ClassAlias(klass, plan.alias)
    raise UnknownClassAlias(f"nobody registered {klass_or_alias!r}")


def _version(encoding: int) -> int:
    if encoding not in ENCODING_TYPES:
        raise ValueError(f"encoding is pyamf.AMF0 (0) or pyamf.AMF3 (3), not {encoding!r}")
    return encoding


def _names(given: Any) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def _declared(klass: type) -> tuple[str, ...]:
    return (*vars(klass).get("__annotations__", ()), *_names(vars(klass).get("__slots__")))


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(
        f"{__name__} has no {name!r}: it has the names that were used most; docs/from-pyamf.md says what to use instead"
    )
