"""A shop for Flex, AIR and Royale: RemoteObject services, value objects, sessions, a login.

    amfgate serve examples/flex_shop/shop.py:application

The gateway is at http://127.0.0.1:8000/amf.  Once the client is compiled (see README.md), the same server has its page.
"""

from __future__ import annotations

import hashlib
import hmac
import mimetypes
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Annotated

import msgspec

import amfgate

CLIENT = Path(__file__).parent / "client/bin/js-debug"

Quantity = Annotated[int, msgspec.Meta(ge=1)]


@amfgate.remote_class("shop.Product", rename="camel")
@dataclass
class Product:
    id: int = 0
    name: str = ""
    unit_price: float = 0.0


@amfgate.remote_class("shop.Line", rename="camel")
@dataclass
class Line:
    product: Product
    quantity: Quantity = 1


@amfgate.remote_class("shop.Order", rename="camel", readonly=["number", "placed"])
@dataclass
class Order:
    number: int = 0
    placed: datetime | None = None
    lines: list[Line] = field(default_factory=list)


@amfgate.remote_class("shop.SoldOut")
class SoldOut(Exception):
    """Reaches the client as the root cause of a fault, an object of the class shop.SoldOut."""

    product: Product
    left: int

    def __init__(self, product: Product, left: int) -> None:
        super().__init__(f"there are {left} of {product.name}")
        self.product = product
        self.left = left


PRODUCTS = [Product(1, "Brass sextant", 149.5), Product(2, "Hand lens", 12.25), Product(3, "Plumb line", 9.99)]
STOCK = {1: 3, 2: 40, 3: 12}
ORDERS: list[tuple[str, Order]] = []
DOOR = Lock()  # to the three above


class Catalog:
    def page(self, offset: int = 0, limit: int = 20) -> list[Product]:
        """Products by name."""
        return PRODUCTS[offset : offset + limit]

    def find(self, number: int) -> Product:
        return product_of(number)


class Basket:
    """What somebody is about to buy; it is in the session, before the login and after it."""

    def add(self, call: amfgate.Call, number: int, quantity: Quantity = 1) -> int:
        """Put a product in; how many things are in there."""
        product_of(number)
        basket = call.session.setdefault("basket", {})
        basket[str(number)] = basket.get(str(number), 0) + quantity
        return sum(basket.values())

    @amfgate.requires()
    def order(self, call: amfgate.Call) -> Order:
        """Order what is in the basket."""
        basket = call.session.get("basket", {})
        order = place(call.user["name"], Order(lines=[Line(product_of(int(key)), basket[key]) for key in basket]))
        call.session["basket"] = {}
        return order


class Orders:
    @amfgate.requires()
    def place(self, call: amfgate.Call, order: Order) -> Order:
        """Order what the client put together."""
        return place(call.user["name"], order)

    @amfgate.requires()
    def mine(self, call: amfgate.Call) -> list[Order]:
        return [order for name, order in ORDERS if name == call.user["name"]]


class Account:
    def who(self, call: amfgate.Call) -> str | None:
        """The name of who is logged in, or null."""
        return None if call.user is None else call.user["name"]


def product_of(number: int) -> Product:
    for product in PRODUCTS:
        if product.id == number:
            return product
    raise LookupError(f"there is no product {number}")


def place(name: str, order: Order) -> Order:
    wanted: Counter[int] = Counter()
    for line in order.lines:
        line.product = product_of(line.product.id)  # name and price are what they are here, whatever came
        wanted[line.product.id] += line.quantity
    with DOOR:
        for number, quantity in wanted.items():
            if quantity > STOCK[number]:
                raise SoldOut(product_of(number), STOCK[number])
        for number, quantity in wanted.items():
            STOCK[number] -= quantity
        order.number, order.placed = len(ORDERS) + 1, datetime.now(UTC)
        ORDERS.append((name, order))
    return order


def hashed(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)


SALT = b"of an example"
PASSWORDS = {"ada": hashed("lovelace", SALT)}
NOBODY = hashed("", SALT)


def authenticate(userid: str, password: str) -> dict | None:
    """Plain data: a session can keep it."""
    right = hmac.compare_digest(hashed(password, SALT), PASSWORDS.get(userid, NOBODY))
    return {"name": userid} if right and userid in PASSWORDS else None


def client(environ, start_response):
    """The compiled client, and nothing else."""
    name = environ["PATH_INFO"].lstrip("/") or "index.html"
    path = (CLIENT / name).resolve()
    if not path.is_relative_to(CLIENT.resolve()) or not path.is_file():
        start_response("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"There is nothing here. The gateway is at /amf; README.md says how the client is compiled.\n"]
    start_response("200 OK", [("Content-Type", mimetypes.guess_type(name)[0] or "application/octet-stream")])
    return [path.read_bytes()]


application = amfgate.Gateway(
    client,
    {"catalog": Catalog(), "basket": Basket(), "orders": Orders(), "account": Account()},
    path=("/amf", "/messagebroker/amf"),
    flex_collections="deep",
    authenticate=authenticate,
    sessions=amfgate.MemoryStore(),
    faults={LookupError: "Shop.NoSuchThing", SoldOut: "Shop.SoldOut"},
)
