"""Generated files on the disk: which differ, which may be overwritten, which are left over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .source import GENERATED


@dataclass
class Changes:
    """What writing would do, or did, as paths below the folder.

    foreign: files that are in the way and were not generated.  left_over: files that the same command generated once,
    and would not now.
    """

    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)


def compare(folder: Path, files: Mapping[str, str]) -> Changes:
    """How a folder differs from `files`.  OSError for what cannot be read."""
    found = Changes()
    for name, text in files.items():
        path = folder / name
        if not path.exists():
            found.new.append(name)
        elif (there := path.read_bytes()) != text.encode():
            (found.changed if _first_line(there).startswith(GENERATED) else found.foreign).append(name)
    firsts = {_first_line(text.encode()) for text in files.values()}
    for path in sorted(folder.rglob("*.as")):
        name = path.relative_to(folder).as_posix()
        if name not in files and path.is_file() and _first_line(path.read_bytes()) in firsts:
            found.left_over.append(name)
    return found


def write(folder: Path, files: Mapping[str, str], changes: Changes) -> None:
    """Write the files that are new or differ; the others keep their times."""
    for name in (*changes.new, *changes.changed, *changes.foreign):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[name].encode())


def _first_line(data: bytes) -> str:
    return data.partition(b"\n")[0].decode("utf-8-sig", "replace").rstrip("\r")
