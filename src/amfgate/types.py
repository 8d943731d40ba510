"""The values of ActionScript that Python has no type for.

Each is as plain a Python type as will do: a `str`, `dict` or `list` that also remembers what it was on the wire, so
that a decoded value can be used like any other and written back as it came.  They are flat classes on purpose; how
each travels is in the encoder and the decoder, not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from reprlib import recursive_repr
from typing import Any, Final, final

VECTOR_KINDS: Final = ("int", "uint", "double", "object")


@final
class Undefined:
    """ActionScript's `undefined`: one value, false in a condition.  Use `amfgate.undefined`."""

    __slots__ = ()
    _only: Undefined | None = None

    def __new__(cls) -> Undefined:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "amfgate.undefined"

    def __reduce__(self) -> str:
        return "undefined"


@final
class InvalidDate:
    """A `Date` whose time is NaN, which datetime cannot hold: one value, false.  Use `amfgate.invalid_date`."""

    __slots__ = ()
    _only: InvalidDate | None = None

    def __new__(cls) -> InvalidDate:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "amfgate.invalid_date"

    def __reduce__(self) -> str:
        return "invalid_date"


undefined: Final = Undefined()
invalid_date: Final = InvalidDate()


class Xml(str):
    """XML as text.  It is never parsed here: entities, external ones included, stay as they are written.

    `legacy` tells ActionScript's old `XMLDocument` (True; AMF0 has only this one) from E4X `XML` (False).
    """

    __slots__ = ("legacy",)
    legacy: bool

    def __new__(cls, text: str = "", legacy: bool = False) -> Xml:
        self = super().__new__(cls, text)
        self.legacy = bool(legacy)
        return self

    def __repr__(self) -> str:
        return f"Xml({str.__repr__(self)}, legacy={self.legacy})"

    def __getnewargs__(self) -> tuple[str, bool]:  # type: ignore[override]
        return str(self), self.legacy


class TypedObject(dict[str, Any]):
    """An object of a class that nobody registered: its members as a dict, its class as `.alias`.

    `.sealed` are the names that the class declares, in their order on the wire; None stands for all of them.
    `.dynamic` says whether the object may carry more members than those.  The alias "" is an anonymous object
    with sealed members, as a result set sends its rows.
    """

    __slots__ = ("alias", "dynamic", "sealed")
    __hash__ = None

    def __init__(
        self,
        alias: str = "",
        members: Mapping[str, Any] | Iterable[tuple[str, Any]] = (),
        *,
        sealed: Iterable[str] | None = None,
        dynamic: bool = False,
    ) -> None:
        super().__init__(members)
        self.alias = alias
        self.sealed = None if sealed is None else tuple(sealed)
        self.dynamic = bool(dynamic)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TypedObject) and other.alias != self.alias:
            return False
        return dict.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        more = "" if self.sealed is None else f", sealed={self.sealed!r}"
        if self.dynamic:
            more += ", dynamic=True"
        return f"{type(self).__name__}({self.alias!r}, {dict.__repr__(self)}{more})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _typed_object, (type(self), self.alias, dict(self), self.sealed, self.dynamic)

    def copy(self) -> TypedObject:
        return type(self)(self.alias, self, sealed=self.sealed, dynamic=self.dynamic)


def _typed_object(
    cls: type[TypedObject], alias: str, members: dict[str, Any], sealed: Any, dynamic: bool
) -> TypedObject:
    """Rebuild a pickled or copied TypedObject; keyword arguments do not fit `__reduce__`."""
    return cls(alias, members, sealed=sealed, dynamic=dynamic)


class EcmaArray(dict[Any, Any]):
    """ActionScript's associative array.

    A key is an `int` when it is the decimal text of 0 to 2**32 - 2 (an array index), else `str`.  `.count` is the
    number that stood on the wire: in AMF0 what the sender declared, in AMF3 how many values were dense;
    None lets the encoder work it out.
    """

    __slots__ = ("count",)
    __hash__ = None

    def __init__(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = (), *, count: int | None = None) -> None:
        super().__init__(items)
        self.count = count

    def __repr__(self) -> str:
        return f"EcmaArray({dict.__repr__(self)}{'' if self.count is None else f', count={self.count}'})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _ecma_array, (dict(self), self.count)

    def copy(self) -> EcmaArray:
        return EcmaArray(self, count=self.count)


def _ecma_array(items: dict[Any, Any], count: int | None) -> EcmaArray:
    """Rebuild a pickled or copied EcmaArray; keyword arguments do not fit `__reduce__`."""
    return EcmaArray(items, count=count)


class Vector(list[Any]):
    """`Vector.<int>`, `<uint>`, `<Number>` or `<T>`: a list of one kind.

    `kind` is "int" (32 bits, signed), "uint", "double" or "object"; `fixed` forbids the client to change its
    length; `alias` is the element class of an object vector, "" for any.  Items are checked when they are encoded.
    """

    __slots__ = ("alias", "fixed", "kind")
    __hash__ = None

    def __init__(self, kind: str, items: Iterable[Any] = (), *, fixed: bool = False, alias: str = "") -> None:
        if kind not in VECTOR_KINDS:
            raise ValueError(f"a Vector's kind is one of {', '.join(VECTOR_KINDS)}, not {kind!r}")
        super().__init__(items)
        self.kind = kind
        self.fixed = bool(fixed)
        self.alias = alias

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Vector) and (other.kind, other.alias) != (self.kind, self.alias):
            return False
        return list.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        more = ", fixed=True" if self.fixed else ""
        return f"Vector({self.kind!r}, {list.__repr__(self)}{more}{f', alias={self.alias!r}' if self.alias else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _vector, (self.kind, list(self), self.fixed, self.alias)

    def copy(self) -> Vector:
        return Vector(self.kind, self, fixed=self.fixed, alias=self.alias)


def _vector(kind: str, items: list[Any], fixed: bool, alias: str) -> Vector:
    """Rebuild a pickled or copied Vector; keyword arguments do not fit `__reduce__`."""
    return Vector(kind, items, fixed=fixed, alias=alias)


class Dictionary(MutableMapping[Any, Any]):
    """`flash.utils.Dictionary`: a mapping with keys of any kind, in the order of their coming.

    ActionScript compares keys strictly, so `True` and `1` and `1.0` are three keys here; a key that
    Python cannot hash (a list, a dict) counts by identity.  `weak` is what the wire says of the keys; it changes
    nothing in Python.
    """

    __slots__ = ("_entries", "weak")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = (), *, weak: bool = False) -> None:
        self._entries: dict[Any, tuple[Any, Any]] = {}
        self.weak = bool(weak)
        for key, value in items.items() if isinstance(items, Mapping) else items:
            self[key] = value

    @staticmethod
    def _slot(key: Any) -> Any:
        try:
            hash(key)
        except TypeError:
            return id(key)
        return type(key), key

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._entries[self._slot(key)][1]
        except KeyError:
            raise KeyError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        slot = self._slot(key)
        known = self._entries.get(slot)
        self._entries[slot] = (key if known is None else known[0], value)

    def __delitem__(self, key: Any) -> None:
        try:
            del self._entries[self._slot(key)]
        except KeyError:
            raise KeyError(key) from None

    def __contains__(self, key: object) -> bool:
        return self._slot(key) in self._entries

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dictionary):
            return NotImplemented
        return self._entries.keys() == other._entries.keys() and all(
            pair[1] == other._entries[slot][1] for slot, pair in self._entries.items()
        )

    @recursive_repr()
    def __repr__(self) -> str:
        pairs = ", ".join(f"({key!r}, {value!r})" for key, value in self._entries.values())
        return f"Dictionary([{pairs}]{', weak=True' if self.weak else ''})"


class Rows:
    """A result set: column names once, then rows of as many values.

    It is sent as an array of sealed objects whose names stand on the wire once, the smallest and fastest
    form of a table.  `columns` are the names, `rows` any iterable of sequences (tuples are fastest; a cursor will do,
    and is read once), `alias` the class of each row, "" for none.  It comes back as a list.

        amfgate.dumps(amfgate.Rows(["id", "name"], [(1, "ada"), (2, "grace")]))
    """

    __slots__ = ("__weakref__", "alias", "columns", "rows")

    def __init__(self, columns: Iterable[str], rows: Iterable[Any], alias: str = "") -> None:
        self.columns = tuple(columns)
        self.rows = rows
        self.alias = alias

    def __repr__(self) -> str:
        return f"Rows({list(self.columns)!r}, {self.rows!r}{f', alias={self.alias!r}' if self.alias else ''})"
