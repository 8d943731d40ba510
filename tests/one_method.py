"""Calls of a method with one annotated parameter, through a gateway."""

from __future__ import annotations

from typing import Any

import wsgi_client

import amfgate
from amfgate import ClassRegistry, TypedObject


class Calls:
    """A gateway with one method of one annotated parameter, and what the method got."""

    def __init__(self, annotation: Any, classes: ClassRegistry, answer: bool = False) -> None:
        self.got: list[Any] = []

        def method(order: Any) -> Any:
            self.got.append(order)
            return order if answer else None

        method.__annotations__ = {"order": annotation}
        self.gateway = amfgate.Gateway(None, {"f": method}, classes=classes, debug=True)

    def __call__(self, value: Any, version: int = 3) -> Any:
        """What the method got."""
        reply = wsgi_client.call(self.gateway, "f", value, version=version)
        assert reply.codes == [None], reply.value
        return self.got[-1]

    def fault(self, value: Any) -> str:
        """The fault's text, without the method's name in front."""
        reply = wsgi_client.call(self.gateway, "f", value, version=3)
        assert reply.codes == ["Client.Arguments"], reply.value
        text: str = reply.value["description"]
        return text.removeprefix("f: ")


def typed(alias: str, **members: Any) -> TypedObject:
    return TypedObject(alias, members)
