"""The libraries that amfgate is measured against, and amfgate itself, each behind the same three functions.

`python benchmarks/peers.py` installs what is missing into `benchmarks/.peers`, one directory for each AMF library.
The two builds of Py3AMF (compiled, and pure as pip installs it) have the same module names, so both are loaded from
their own directory and are visible to `import` only while they are at work: `Isolated`.  The swap happens outside of
the time that is measured.

Py3AMF and as3lib-miniamf are peers, not oracles: where their own round trip loses something, the table says so.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import data

HOME = Path(__file__).resolve().parent / ".peers"
PACKAGES = {
    "py3amf-compiled": ["--no-binary", "Py3AMF", "--config-settings=py3amf.ext.cython=1", "Py3AMF==0.9.1"],
    "py3amf-pure": ["Py3AMF==0.9.1"],
    "miniamf": ["as3lib-miniamf==0.9.5"],
}


def same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Library:
    """One way to write and read a value.

    encode, decode: what is measured.
    prepare: makes of a workload what this library takes, before the clock starts.
    restore: makes of a decoded value what `data.difference` can compare, after it has stopped.
    scope: is entered around all of these.
    lacks: the workloads that it cannot write, with the reason.
    """

    name: str
    version: str
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]
    prepare: Callable[[Any], Any] = same
    restore: Callable[[Any], Any] = same
    scope: contextlib.AbstractContextManager[Any] = field(default_factory=contextlib.nullcontext)
    lacks: dict[str, str] = field(default_factory=dict)


class Isolated:
    """The modules of one directory, in `sys.modules` only between enter and exit.

    Not for several threads, nor nested.
    """

    def __init__(self, path: Path, *packages: str) -> None:
        self.path = str(path)
        self.packages = packages
        self.inside: dict[str, ModuleType] = {}
        self.outside: dict[str, ModuleType] = {}

    def _taken(self) -> dict[str, ModuleType]:
        return {name: module for name, module in sys.modules.items() if name.partition(".")[0] in self.packages}

    def _swap(self, modules: dict[str, ModuleType]) -> dict[str, ModuleType]:
        taken = self._taken()
        for name in taken:
            del sys.modules[name]
        sys.modules.update(modules)
        return taken

    def __enter__(self) -> None:
        self.outside = self._swap(self.inside)
        sys.path.insert(0, self.path)

    def __exit__(self, *exception: object) -> None:
        sys.path.remove(self.path)
        self.inside = self._swap(self.outside)


# --- what the formats have no word for -------------------------------------------------------------------------------


def has_dates(value: Any) -> bool:
    return type(value) is list and bool(value) and type(value[0]) is dict and "created" in value[0]


def naive(value: Any) -> Any:
    """W3 with naive datetimes, which is what Py3AMF and miniamf take (as UTC)."""
    if has_dates(value) and type(value[0]["created"]) is datetime:
        return [{**row, "created": row["created"].replace(tzinfo=None)} for row in value]
    return value


def aware(value: Any) -> Any:
    if has_dates(value) and type(value[0]["created"]) is datetime:
        return [{**row, "created": row["created"].replace(tzinfo=UTC)} for row in value]
    return value


def parsed(value: Any) -> Any:
    """W3 from JSON, where a datetime has become text: `loads` leaves that work to its caller, who is not timed."""
    if has_dates(value) and type(value[0]["created"]) is str:
        return [{**row, "created": datetime.fromisoformat(row["created"])} for row in value]
    return value


def plain(value: Any) -> Any:
    """A value with ordinary dicts for an AMF library's own (and for amfgate's TypedObject); identity is kept."""
    made: dict[int, Any] = {}

    def visit(item: Any) -> Any:
        if id(item) in made:
            return made[id(item)]
        if isinstance(item, dict):
            copy: Any = {}
            made[id(item)] = copy
            copy.update((key, visit(member)) for key, member in item.items())
            return copy
        if type(item) is list:
            copy = []
            made[id(item)] = copy
            copy.extend([visit(member) for member in item])
            return copy
        if type(item) is data.Node:
            made[id(item)] = item
            item.links = visit(item.links)
            return item
        return item

    return visit(value)


# --- serializers of other formats ------------------------------------------------------------------------------------


def orjson() -> Library:
    module = importlib.import_module("orjson")
    lacks = {"W4": "JSON has no references", "W6 bytes": "JSON has no bytes"}
    return Library("orjson", module.__version__, module.dumps, module.loads, restore=parsed, lacks=lacks)


def msgpack() -> Library:
    """msgspec.msgpack, as a user calls it who has no schema; datetimes are MessagePack timestamps."""
    module = importlib.import_module("msgspec.msgpack")
    lacks = {"W4": "MessagePack has no references"}
    return Library("msgspec.msgpack", version_of("msgspec"), module.encode, module.decode, restore=aware, lacks=lacks)


def msgspec_json() -> Library:
    module = importlib.import_module("msgspec.json")
    lacks = {"W4": "JSON has no references", "W6 bytes": "JSON has no bytes"}
    return Library("msgspec.json", version_of("msgspec"), module.encode, module.decode, restore=parsed, lacks=lacks)


def pickle5() -> Library:
    return Library("pickle 5", sys.version.split()[0], lambda value: pickle.dumps(value, 5), pickle.loads)


# --- AMF libraries ---------------------------------------------------------------------------------------------------


def amf_library(directory: str, package: str, distribution: str, label: str, compiled: bool, version: int) -> Library:
    """A library of PyAMF's family; those have the same functions under another package name."""
    scope = ISOLATED[directory]
    with scope:
        module = importlib.import_module(package)
        importlib.import_module(f"{package}.amf0")
        amf3 = importlib.import_module(f"{package}.amf3")
        if data.Node not in module.CLASS_CACHE:
            module.register_class(data.Node, data.NODE_ALIAS)
        encoder, decoder = module.get_encoder(version), module.get_decoder(version, b"\x01")
        found = {kind.__module__.startswith(("cpyamf", f"{package}._accel")) for kind in (type(encoder), type(decoder))}
        if found != {compiled}:
            raise ImportError(f"{directory} is {'not ' if compiled else ''}compiled; remove it and install it again")
        release = importlib.metadata.version(distribution)

    def encode(value: Any) -> bytes:
        return module.encode(value, encoding=version).getvalue()  # type: ignore[no-any-return]

    def decode(encoded: bytes) -> Any:
        return next(module.decode(encoded, encoding=version))

    def prepare(value: Any) -> Any:
        return amf3.ByteArray(value) if type(value) is bytes else naive(value)

    def restore(value: Any) -> Any:
        return value.getvalue() if type(value) is amf3.ByteArray else aware(plain(value))

    return Library(f"{label} AMF{version}", release, encode, decode, prepare, restore, scope)


ISOLATED = {
    "py3amf-compiled": Isolated(HOME / "py3amf-compiled", "pyamf", "cpyamf", "defusedxml"),
    "py3amf-pure": Isolated(HOME / "py3amf-pure", "pyamf", "cpyamf", "defusedxml"),
    "miniamf": Isolated(HOME / "miniamf", "miniamf", "defusedxml"),
}


def py3amf_compiled(version: int = 3) -> Library:
    return amf_library("py3amf-compiled", "pyamf", "Py3AMF", "Py3AMF compiled", True, version)


def py3amf_pure(version: int = 3) -> Library:
    return amf_library("py3amf-pure", "pyamf", "Py3AMF", "Py3AMF pure", False, version)


def miniamf(version: int = 3) -> Library:
    return amf_library("miniamf", "miniamf", "as3lib-miniamf", "miniamf compiled", True, version)


# --- amfgate ---------------------------------------------------------------------------------------------------------


def amfgate(version: int = 3, twin: str = "public") -> Library:
    """amfgate's public functions, or one of its twins: "cython" or "python".

    ModuleNotFoundError if that twin is not built.
    """
    import amfgate as package
    from amfgate.classes import default_registry

    if data.Node not in default_registry:
        default_registry.register(data.Node, data.NODE_ALIAS)
    if twin == "public":
        dumps, loads, label = package.dumps, package.loads, f"amfgate ({package.IMPLEMENTATION})"
    else:
        suffix = "_py" if twin == "python" else ""
        encoder = importlib.import_module(f"amfgate._encoder{suffix}")
        decoder = importlib.import_module(f"amfgate._decoder{suffix}")
        dumps, loads, label = *functions(encoder, decoder), f"amfgate ({twin})"
    if version != 3:  # 3 is what both functions do without being asked
        dumps, loads = partial(dumps, version=version), partial(loads, version=version)
    return Library(f"{label} AMF{version}", version_of("amfgate"), dumps, loads)


def functions(encoder: ModuleType, decoder: ModuleType) -> tuple[Callable[..., bytes], Callable[..., Any]]:
    """`dumps` and `loads` of a twin."""

    def dumps(value: Any, **options: Any) -> bytes:
        return encoder.Encoder(**options).encode(value)  # type: ignore[no-any-return]

    def loads(encoded: bytes, **options: Any) -> Any:
        return decoder.Decoder(encoded, **options).decode()

    return getattr(encoder, "dumps", dumps), getattr(decoder, "loads", loads)


def version_of(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "from source"


def available(*makers: Callable[[], Library]) -> tuple[list[Library], list[str]]:
    """The libraries that load here, and a sentence for each that does not."""
    found: list[Library] = []
    absent: list[str] = []
    for make in makers:
        try:
            found.append(make())
        except ImportError as error:
            name = getattr(make, "func", make).__name__  # type: ignore[attr-defined]
            absent.append(f"{name}{getattr(make, 'args', '')}: {error}")
    return found, absent


def install() -> None:
    """Install the AMF libraries that are not there yet, each into its own directory."""
    for name, arguments in PACKAGES.items():
        target = HOME / name
        if target.exists():
            print(f"{name}: is there already")
            continue
        command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", str(target)]
        print(f"{name}: pip install {' '.join(arguments)}")
        subprocess.run(command + arguments, check=True)


if __name__ == "__main__":
    install()
