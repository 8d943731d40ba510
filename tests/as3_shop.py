"""A shop to be written in ActionScript: the module that the tests of `amfgate as3` give it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated

import msgspec

import amfgate

CLASSES = amfgate.ClassRegistry()


class Color(enum.Enum):
    RED = "red"
    default = "none"


@dataclass
class Item:
    """What can be sold. */ Not <b>code</b>."""

    id: int
    name: str = 'the "usual"'


@dataclass
class Line(Item):
    unit_price: float = 1.5
    quantity: Annotated[int, msgspec.Meta(ge=0, le=100)] = 1
    rating: float | None = None
    color: Color = Color.RED


@dataclass
class Order:
    """Größer als eine Zeile."""

    number: int
    day: date
    lines: list[Line] = field(default_factory=list)
    first: Line | None = None
    class_: str = "normal"
    total: float = 0
    note: bytes = b""
    paid: bool | None = None


@dataclass
class Gift(Line):
    """A class that the application of the tests does not mention."""

    wrapped: bool = True


@dataclass
class Money:
    cents: int = 0


CLASSES.register(Item, "com.example.Item")
CLASSES.register(Line, "com.example.Line", rename="camel")
CLASSES.register(Order, "com.example.orders.Order", rename={"class_": "kind"}, readonly=["total"])
CLASSES.register(Gift, "com.example.Gift", rename="camel")
CLASSES.register(Money, "Money")


class Orders:
    """Takes orders."""

    def __init__(self) -> None:
        self.arrived: list[object] = []

    def save(self, order: Order, color: Color | None = None) -> Order:
        """Keep an order.

        Its total is worked out here.
        """
        self.arrived += [order, color]
        order.total = sum(line.unit_price * line.quantity for line in order.lines)
        return order

    def page(self, number: int, size: int = 20, new: bool = False) -> list[Line]:
        self.arrived += [number, size, new]
        return [Gift(number, "a gift"), Line(size, "a line", rating=0.5)]

    def join(self, first: str, *others: str) -> str:
        return first + "".join(others)

    @amfgate.requires("clerk")
    def delete(self, number: int, worth: Money | None = None) -> None:
        """Forget an order."""


gateway = amfgate.Gateway(None, {"orders": Orders()}, classes=CLASSES)
