"""Changing a document of the tagged JSON form at a path, as `amfgate sol edit --set` does.

    put(document, "player.items[2].count", 3)

A path leads through members by their names and through lists by their places, whatever tags stand around them.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ..errors import EncodeError

_STEP: Final = re.compile(r'\.?(?:([^.\[\]"]+)|"((?:[^"\\]|\\.)*)")|\[(\d+)\]')
_NAMED: Final = ("$members", "$sealed", "$dynamic", "$object", "$ecma", "$assoc", "$dictionary")
_LISTED: Final = ("$array", "$dense", "$items")
_AROUND: Final = ("$amf3", "$source")


def steps(path: str) -> list[str | int]:
    """The names and places of a path; a name with dots or brackets in it stands in double quotes."""
    found: list[str | int] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            raise EncodeError(f'a path is like player.items[2]."odd name", not {path!r}')
        quoted = step[2]
        found.append(int(step[3]) if step[3] else step[1] if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
        at = step.end()
    if not found:
        raise EncodeError("the path is empty")
    return found


def put(document: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a path; a name that is not there becomes the last member, and a place must be there."""
    holder, key, found = _find(document, path)
    if isinstance(holder, dict):
        holder[_escaped(key)] = value
    elif isinstance(key, int):
        holder[key] = value
    elif found is not None:
        found[1] = value
    else:
        holder.append([key, value])
    _check_references(document, path)


def remove(document: dict[str, Any], path: str) -> None:
    """Take away the member or item at a path; EncodeError if there is none, or if its class declares it."""
    holder, key, found = _find(document, path, removing=True)
    if isinstance(holder, dict) and _escaped(key) in holder:
        del holder[_escaped(key)]
    elif isinstance(holder, list) and isinstance(key, int):
        del holder[key]
    elif isinstance(holder, list) and found is not None:
        holder.remove(found)
    else:
        raise EncodeError(f"there is nothing at {path}")
    _check_references(document, path)


def _check_references(document: dict[str, Any], path: str) -> None:
    """EncodeError if a value went of which others say that they are the same."""
    waiting: list[Any] = [document["members"]]
    known: set[Any] = {0}  # the shared object itself
    wanted: list[Any] = []
    while waiting:
        form = waiting.pop()
        if isinstance(form, dict):
            known.add(form.get("$id") if isinstance(form.get("$id"), int) else 0)
            wanted += [form["$ref"]] if isinstance(form.get("$ref"), int) else []
            waiting += form.values()
        elif isinstance(form, list):
            waiting += form
    if lost := [each for each in wanted if each not in known]:
        raise EncodeError(
            f"{path}: this value is met again elsewhere ($ref {lost[0]}); give those places another value first"
        )


def _find(document: dict[str, Any], path: str, removing: bool = False) -> tuple[Any, Any, Any]:
    """What holds the value at a path (an object, a list, a list of pairs), its key there, and its pair if any."""
    if document.get("kind") != "sol" or "members" not in document:
        raise EncodeError("only a shared object without damage can be changed by paths")
    form: Any = {"$object": document["members"]}
    where = ""
    found: tuple[Any, Any, Any] = (None, None, None)
    way = steps(path)
    for place, step in enumerate(way, 1):
        if where:
            form = _value(found, where)
        where += f"[{step}]" if isinstance(step, int) else f".{step}" if where else str(step)
        found = _step(form, step, where, removing and place == len(way))
    return found


def _value(found: tuple[Any, Any, Any], where: str) -> Any:
    holder, key, pair = found
    if pair is not None:
        return pair[1]
    if isinstance(holder, list) and isinstance(key, int):
        return holder[key]
    if isinstance(holder, dict) and _escaped(key) in holder:
        return holder[_escaped(key)]
    raise EncodeError(f"there is nothing at {where}")


def _step(form: Any, step: str | int, where: str, removing: bool) -> tuple[Any, Any, Any]:
    while isinstance(form, dict) and next(iter(form), "") in _AROUND + ("$class",):
        inner = next((form[tag] for tag in _AROUND if tag in form), None)
        if inner is None:
            break
        form = inner
    if isinstance(form, dict) and "$ref" in form:
        raise EncodeError(f"{where}: what holds it is another value again ($ref {form['$ref']}); change it there")
    if isinstance(step, int):
        holder = form if isinstance(form, list) else None
        if isinstance(form, dict):
            holder = next((form[tag] for tag in _LISTED if tag in form), None)
        if isinstance(holder, list):
            if step < len(holder):
                return holder, step, None
            raise EncodeError(f"{where}: there are {len(holder)} items, counted from 0")
        step = str(step)  # an associative array
    holders = [form[tag] for tag in _NAMED if isinstance(form, dict) and tag in form]
    declared = form.get("$sealed") if isinstance(form, dict) else None
    if not holders and isinstance(form, dict) and not re.match(r"\$[^$]", next(iter(form), "")):
        holders = [form]
    if not holders:
        raise EncodeError(f"{where}: what it should be in has no members")
    for holder in holders:
        pair = next((pair for pair in holder if _text(pair[0]) == step), None) if isinstance(holder, list) else None
        if pair is not None or isinstance(holder, dict) and _escaped(step) in holder:
            if removing and holder is declared:
                raise EncodeError(f"{where}: the class {form['$class']!r} declares this member; it can be set")
            return holder, step, pair
    if holders[-1] is declared:
        raise EncodeError(f"{where}: the class {form['$class']!r} declares its members, and this is none of them")
    return holders[-1], step, None


def _text(name: Any) -> Any:
    return name.get("$string") if isinstance(name, dict) else name


def _escaped(name: Any) -> Any:
    return f"${name}" if isinstance(name, str) and name.startswith("$") else name
