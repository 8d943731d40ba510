"""One call's arguments, which may be a graph of instances with cycles in it: each is looked into once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..classes import ClassRegistry
from ..types import undefined
from .copies import Tally
from .misfit import Place
from .shapes import Shape, shape_of


class Fitting:
    """The fitting of one call's arguments: which instances were met, and which of them wait to be looked into."""

    __slots__ = ("_met", "_tallies", "_todo", "classes", "copies")

    def __init__(self, classes: ClassRegistry) -> None:
        self.classes = classes
        self._met: dict[Any, Any] = {}
        self._todo: list[tuple[Any, Shape, Place]] = []
        self._tallies: dict[Any, Tally] = {}
        # (id of a container, its Fit or class) -> (the container, so that its id stays its own, what it became)
        self.copies: dict[tuple[int, Any], tuple[Any, Any]] = {}

    def meet(self, instance: Any, place: Place, kind: Any = None) -> None:
        """Note an instance that stands at `place`; kind: what is annotated, `Page[Order]`."""
        cls = type(instance)
        number: Any = id(instance)
        if kind is not None and kind is not cls and getattr(kind, "__origin__", None) is cls:
            cls, number = kind, (number, kind)
        if number not in self._met:
            self._met[number] = instance
            shape = shape_of(cls, self.classes)
            if shape is not None:
                self._todo.append((instance, shape, place))

    def run(self) -> None:
        """Fit the instances that were met, and those that they lead to; then, inner ones first, each as a whole."""
        finished = 0
        for instance, shape, place in self._todo:
            shape.fit(instance, place, self)
            finished += shape.finish is not None
        for instance, shape, place in _inner_first(self._todo) if finished > 1 else self._todo:
            if shape.finish is not None:
                shape.finish(instance, place, shape.wires, shape.closed, self.tally(shape))
        self._todo.clear()

    def shape_of(self, kind: Any) -> Shape | None:
        return shape_of(kind, self.classes)

    def tally(self, key: Any) -> Tally:
        """What was copied so far for a Fit or a Shape."""
        found = self._tallies.get(key)
        if found is None:
            found = self._tallies[key] = Tally()
        return found


def _inner_first(todo: list[tuple[Any, Shape, Place]]) -> Iterator[tuple[Any, Shape, Place]]:
    """The instances in an order in which each comes after those that it refers to, unless they refer to it, too."""
    found: dict[int, list[tuple[Any, Shape, Place]]] = {}
    for one in todo:
        found.setdefault(id(one[0]), []).append(one)
    seen: set[int] = set()
    for root, _, _ in todo:
        if id(root) in seen:
            continue
        seen.add(id(root))
        path: list[tuple[Any, Iterator[Any]]] = [(root, iter(_held_by(root, found)))]
        while path:
            value, inside = path[-1]
            for item in inside:
                number = id(item)
                if number not in seen and (number in found or isinstance(item, _CONTAINERS)):
                    seen.add(number)
                    path.append((item, iter(_held_by(item, found))))
                    break
            else:
                path.pop()
                yield from found.get(id(value), ())


_CONTAINERS = (list, tuple, dict, set, frozenset)


def _held_by(value: Any, found: dict[int, list[tuple[Any, Shape, Place]]]) -> Iterable[Any]:
    """What an instance or a container refers to."""
    shapes = [shape for _, shape, _ in found.get(id(value), ())]
    if shapes:
        held = shapes[0].plan.held
        names = [member[0] for member in shapes[0].members]
        return [getattr(value, name, undefined) if held is None else held(value, name) for name in names]
    return value.values() if isinstance(value, dict) else value
