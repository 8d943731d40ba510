"""Flex's collections: the four wrappers that Flex puts around arrays and objects.

Each is an object with one thing in it, `.source`, and that is how it is kept here, not as a subclass of `list` or
`dict`.  On the wire the wrapper and its source are two objects with a reference each: a client may send the same array
once inside a collection and once on its own, or wrap another collection, a typed object or null.  A subclass would
have to be both objects at once, and would lose which of them a reference meant.

They can be used like what they wrap: indexing, iterating, `len`, `append`, `in`, `==` with a list or a dict all go to
the source.  Every registry knows them.  `plain=True`, what the gateway decodes with, gives the source alone.

The names that end in `Ext` are the same classes in servers with small messages; an object that came under such a name
goes out under it again.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, MutableSequence
from typing import Any, Final

from .._rare import is_array, plain
from ..classes import ClassRegistry, plan, register_builtin
from ..errors import EncodeError
from ..kinds import NATURAL, kind_of
from ..plans import Plan


class _List(MutableSequence[Any]):
    """What the two list-like wrappers share: everything goes to `source`; a null source is an empty list."""

    __slots__ = ("__amf_alias__", "__amf_dynamic__", "__weakref__", "source")
    __hash__ = None  # type: ignore[assignment]
    source: Any

    def __init__(self, source: Any = None) -> None:
        self.source = [] if source is None else source

    def __len__(self) -> int:
        return 0 if self.source is None else len(self.source)

    def __iter__(self) -> Iterator[Any]:
        return iter(() if self.source is None else self.source)

    def __getitem__(self, index: Any) -> Any:
        return (() if self.source is None else self.source)[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.source[index] = value

    def __delitem__(self, index: Any) -> None:
        del self.source[index]

    def insert(self, index: int, value: Any) -> None:
        if self.source is None:
            self.source = []
        self.source.insert(index, value)

    def __eq__(self, other: object) -> bool:
        """Equal to a wrapper of the same kind, or to a plain list, with equal items."""
        if isinstance(other, _List):
            return type(other) is type(self) and bool(self.source == other.source)
        return bool(self.source == other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"


class ArrayCollection(_List):
    """`mx.collections.ArrayCollection` (`flex.messaging.io.ArrayCollection` on the wire): the list of a data grid.

    `source` is kept as it is given, not copied: a list as a rule, but `Rows` or anything else that travels as an array
    will do for sending.

        return ArrayCollection(products)
    """

    __slots__ = ()


class ArrayList(_List):
    """`mx.collections.ArrayList` (`flex.messaging.io.ArrayList`): as ArrayCollection, but never sorted or filtered."""

    __slots__ = ()


class _Object(MutableMapping[str, Any]):
    """What the two object-like wrappers share: everything goes to `source`; a null source is an empty dict."""

    __slots__ = ("__amf_alias__", "__amf_dynamic__", "__weakref__", "source")
    __hash__ = None  # type: ignore[assignment]
    source: Any

    def __init__(self, source: Any = None) -> None:
        self.source = {} if source is None else source

    def __len__(self) -> int:
        return 0 if self.source is None else len(self.source)

    def __iter__(self) -> Iterator[str]:
        return iter(() if self.source is None else self.source)

    def __getitem__(self, name: str) -> Any:
        return ({} if self.source is None else self.source)[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if self.source is None:
            self.source = {}
        self.source[name] = value

    def __delitem__(self, name: str) -> None:
        del ({} if self.source is None else self.source)[name]

    def __eq__(self, other: object) -> bool:
        """Equal to a wrapper of the same kind, or to a plain dict, with equal members."""
        if isinstance(other, _Object):
            return type(other) is type(self) and bool(self.source == other.source)
        return bool(self.source == other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"


class ObjectProxy(_Object):
    """`mx.utils.ObjectProxy` (`flex.messaging.io.ObjectProxy`): an object whose changes Flex watches.

    `source` is kept as it is given: a dict as a rule.  An instance of a registered class travels too; its members are
    then reached by `.source`.
    """

    __slots__ = ()


class ManagedObjectProxy(_Object):
    """`mx.data.ManagedObjectProxy` (`flex.messaging.io.ManagedObjectProxy`): an ObjectProxy of managed data."""

    __slots__ = ()


for _cls in (ArrayCollection, ArrayList, ObjectProxy, ManagedObjectProxy):
    _alias = f"flex.messaging.io.{_cls.__name__}"
    register_builtin(_cls, _alias, f"{_alias}Ext", wrapper=True)
del _cls, _alias

# --- lists that go as collections without being told so one by one ---------------------------------------------------

COLLECTION: Final[Plan] = plan(ArrayCollection)  # type: ignore[assignment]
"""What the encoder is given to wrap lists in (`Encoder.encode_body(wrap_lists=...)`)."""


def check_flex_collections(wanted: Any) -> bool | str:
    """The option `flex_collections` as it is given, once it is known to be one of its three values; else ValueError."""
    if wanted is True or wanted is False or isinstance(wanted, str) and wanted == "deep":
        return wanted
    raise ValueError(f'flex_collections is False, True or "deep", not {wanted!r}')


def collected(value: Any, classes: ClassRegistry) -> Any:
    """A value that travels as an array, in an ArrayCollection; any other, and a collection, as it is."""
    kind, payload = classes.kinds.get(type(value)) or kind_of(type(value), classes)
    if kind == NATURAL:  # a masked array of numpy, an Enum whose value is a list
        try:
            value = plain(value, kind, payload, classes, None, "float")
        except EncodeError:
            return value  # the encoder says what is wrong with it
        kind, payload = classes.kinds.get(type(value)) or kind_of(type(value), classes)
    return ArrayCollection(value) if is_array(value, kind) else value
