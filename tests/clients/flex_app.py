"""The server of the tests with Flex clients: a shop with value objects, and a visitor's book that keeps sessions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import flash_app

import amfgate
from amfgate.flex import ArrayCollection

CLASSES = amfgate.ClassRegistry()
CLASSES.register(flash_app.Point, "shop.Point")


@dataclass
class Customer:
    first_name: str = ""
    born_in: int = 0


@dataclass
class Line:
    sku: str = ""
    quantity: int = 0
    unit_price: float = 0.0
    order: Any = None


@dataclass
class Order:
    id: int = 0
    customer: Customer | None = None
    placed: datetime | None = None
    lines: list[Line] = field(default_factory=list)


for cls in (Customer, Line, Order):
    CLASSES.register(cls, f"shop.{cls.__name__}", rename="camel")


def order(number: int) -> Order:
    """With a line that refers to it."""
    order = Order(number, Customer("Grace", 1906), datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC))
    order.lines.append(Line("tea", 2, 3.5, order))
    return order


class Shop:
    def __init__(self, arrived: dict[str, Any]) -> None:
        self.arrived = arrived

    def place(self, order: Order) -> float:
        self.arrived.setdefault("place", order)
        return sum(line.quantity * line.unit_price for line in order.lines)

    def ring(self, order: Any) -> Any:
        self.arrived["ring"] = order
        order.customer.first_name = "Grace"
        return order

    def greet(self, customer: Customer) -> str:
        return f"Hello {customer.first_name}, born in {customer.born_in}"

    def customer(self) -> Customer:
        return Customer("Grace", 1906)

    @amfgate.service(flex_collections=True)
    def orders(self) -> list[Order]:
        return [order(1), order(2)]

    @amfgate.service(flex_collections="deep")
    def page(self) -> dict[str, Any]:
        return {"total": 2, "rows": [{"id": 1, "tags": ["x"]}, {"id": 2, "tags": []}]}

    def nested(self) -> ArrayCollection:
        return ArrayCollection([ArrayCollection([1]), ArrayCollection([])])

    def search(self) -> list[Line]:
        return [Line("tea", 2, 3.5)]

    def decline(self) -> None:
        raise amfgate.Fault(
            "Shop.Declined",
            "card expired",
            details="ask the bank",
            root_cause=Customer("Ada", 1815),
            extended_data={"lines": [Line("tea", 2, 3.5)]},
        )


class Visits:
    def count(self, call: amfgate.Call) -> int:
        number: int = call.session.get("visits", 0) + 1
        call.session["visits"] = number
        return number

    def who(self, call: amfgate.Call) -> str | None:
        return None if call.user is None else call.user.name


class Headers:
    def append(self, exchange: amfgate.Exchange) -> str:
        exchange.append_to_gateway_url("?sid=42")
        return "appended"

    def persistent(self, exchange: amfgate.Exchange) -> None:
        exchange.request_persistent_header("shop", 1)


USERS = {**flash_app.USERS, ("zoë", "pässwörd"): flash_app.User("Zoë", [])}

NAMES = {userid: user for (userid, _), user in USERS.items()}


def authenticate(userid: str, password: str) -> flash_app.User | None:
    return USERS.get((userid, password))


def gateway(app: Any, probe: flash_app.Probe) -> amfgate.Gateway:
    """Around `app`, at two addresses."""
    services = {
        "probe": probe,
        "shop": Shop(probe.arrived),
        "visits": Visits(),
        "vault": flash_app.Vault(),
        "headers": Headers(),
    }
    sessions = amfgate.Sessions(amfgate.MemoryStore(), load_user=NAMES.get)
    return amfgate.Gateway(
        app, services, path=("/amf", "/amf2"), classes=CLASSES, authenticate=authenticate, sessions=sessions
    )
