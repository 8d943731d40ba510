"""examples/flex_shop, called as a Flex client does, and docs/flex.md, which shows its files."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from xml.etree import ElementTree

import pytest
from flex_shop import EXAMPLE, ROOT, flex_shop
from wsgi_client import environ, run

import amfgate
import amfgate.testing
from amfgate.actionscript import generate
from amfgate.flex import ArrayCollection

PAGE = (ROOT / "docs/flex.md").read_text(encoding="utf-8")


@pytest.fixture
def shop() -> Iterator[ModuleType]:
    with flex_shop() as module:
        yield module


@pytest.fixture
def client(shop: ModuleType) -> amfgate.testing.Client:
    """It knows no classes: those of the server leave out what is read-only for a client."""
    return amfgate.testing.Client(shop.application, flex=True, plain=False, classes=amfgate.ClassRegistry())


def order_of(product: amfgate.TypedObject, quantity: object, **members: object) -> amfgate.TypedObject:
    line = amfgate.TypedObject("shop.Line", {"product": product, "quantity": quantity})
    return amfgate.TypedObject("shop.Order", {"lines": [line], **members})


SEXTANT = amfgate.TypedObject("shop.Product", {"id": 1, "name": "Brass sextant", "unitPrice": 149.5})


def test_a_page_of_the_catalog_is_a_collection_of_products(client: amfgate.testing.Client) -> None:
    page = client.catalog.page(0, 1)

    assert isinstance(page, ArrayCollection)
    assert page == [SEXTANT]


def test_the_basket_survives_the_login(client: amfgate.testing.Client) -> None:
    assert client.basket.add(2, 3) == 3
    client.login("ada", "lovelace")
    order = client.basket.order()

    (line,) = order["lines"]
    assert (order["number"], line["product"]["name"], line["quantity"]) == (1, "Hand lens", 3)
    assert client.orders.mine() == [order]
    client.logout()
    assert client.account.who() is None


def test_the_client_does_not_number_orders(client: amfgate.testing.Client) -> None:
    client.login("ada", "lovelace")

    assert client.orders.place(order_of(SEXTANT, 1, number=99))["number"] == 1


def test_what_is_sold_out_is_told_by_a_typed_root_cause(client: amfgate.testing.Client) -> None:
    client.login("ada", "lovelace")
    with pytest.raises(amfgate.Fault) as raised:
        client.orders.place(order_of(SEXTANT, 7))

    fault = raised.value
    assert (fault.code, fault.description) == ("Shop.SoldOut", "there are 3 of Brass sextant")
    assert fault.root_cause.alias == "shop.SoldOut"
    assert dict(fault.root_cause) == {"product": SEXTANT, "left": 3}


def test_the_price_is_the_server_s(client: amfgate.testing.Client) -> None:
    client.login("ada", "lovelace")
    cheap = amfgate.TypedObject("shop.Product", {"id": 1, "name": "Brass sextant", "unitPrice": 0.01})

    assert client.orders.place(order_of(cheap, 1))["lines"][0]["product"] == SEXTANT


@pytest.mark.parametrize("quantity", [0, -1, 1.5, None])
def test_quantities_are_whole_and_at_least_1(client: amfgate.testing.Client, quantity: object) -> None:
    client.login("ada", "lovelace")
    with pytest.raises(amfgate.Fault) as raised:
        client.orders.place(order_of(SEXTANT, quantity))
    assert raised.value.code == "Client.Arguments"
    assert "$.lines[0].quantity" in raised.value.description


@pytest.mark.parametrize(
    ("target", "args", "code"),
    [
        ("catalog.find", [9], "Shop.NoSuchThing"),
        ("orders.mine", [], "Client.Authentication"),
        ("catalog.page", ["one"], "Client.Arguments"),
    ],
)
def test_what_goes_wrong_has_a_code(client: amfgate.testing.Client, target: str, args: list[object], code: str) -> None:
    with pytest.raises(amfgate.Fault) as raised:
        client.call(target, *args)
    assert raised.value.code == code


def test_a_wrong_password_is_refused(client: amfgate.testing.Client) -> None:
    for userid in ("ada", "nobody"):
        with pytest.raises(amfgate.Fault) as raised:
            client.login(userid, "")
        assert raised.value.code == "Client.Authentication"


@pytest.mark.parametrize("path", ["/../shop.py", "/../../README.md", "/Main.mxml"])
def test_the_client_s_folder_alone_is_served(shop: ModuleType, path: str) -> None:
    assert run(shop.application, environ(PATH_INFO=path, REQUEST_METHOD="GET")).status.startswith("404")


def test_actionscript_can_be_written_of_it(shop: ModuleType) -> None:
    made = generate(shop.application.classes, shop.application.services, collections="deep")

    assert {"shop/Product.as", "shop/Order.as", "CatalogService.as", "BasketService.as"} <= set(made.files)
    assert "public var unitPrice:Number" in made.files["shop/Product.as"]


@pytest.mark.parametrize("name", ["services-config.xml", "client/Main.mxml", "client/Product.as"])
def test_the_page_shows_the_files_as_they_are(name: str) -> None:
    assert (EXAMPLE / name).read_text(encoding="utf-8").rstrip() in PAGE


def test_destinations_are_the_services_of_the_example(shop: ModuleType) -> None:
    config = ElementTree.parse(EXAMPLE / "services-config.xml")
    names = {destination.get("id") for destination in config.iter("destination")}

    assert all(shop.application.services.knows(name) for name in names - {"python"})
    assert {channel.get("ref") for channel in config.iter("channel")} == {
        channel.get("id") for channel in config.iter("channel-definition")
    }
