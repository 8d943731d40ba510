"""What Flash programs call; found by its name, as Django finds `admin.py`."""

from django.contrib.auth import authenticate, login, logout
from django.db.models import F
from django.shortcuts import get_object_or_404

import amfgate

from .models import Order, Product


@amfgate.service("catalog")
class Catalog:
    def products(self):
        """What there is, by name."""
        return Product.objects.values("id", "name", "price", "stock")

    @amfgate.requires("catalog.change_product")
    def reprice(self, number: int, price: float):
        """Give a product another price."""
        product = get_object_or_404(Product, pk=number)
        product.price = price
        product.save()
        return product.price


@amfgate.service("account")
class Account:
    def enter(self, call: amfgate.Call, name: str, password: str):
        """Log in; the session's cookie goes out with the reply, and comes back with each call."""
        user = authenticate(call.request, username=name, password=password)
        if user is None:
            raise amfgate.Fault("Client.Authentication", "the name or the password is wrong")
        login(call.request, user)
        return user.get_username()

    def leave(self, call: amfgate.Call):
        """Log out."""
        logout(call.request)

    def who(self, call: amfgate.Call):
        """The name of who is logged in, or null."""
        return None if call.user is None else call.user.get_username()


@amfgate.service("orders")
class Orders:
    @amfgate.requires()
    def buy(self, call: amfgate.Call, number: int, amount: int = 1):
        """Order a product.  When there is not enough of it, nothing is written at all."""
        order = Order.objects.create(customer=call.request.user, product_id=number, amount=amount)
        if not Product.objects.filter(pk=number, stock__gte=amount).update(stock=F("stock") - amount):
            raise amfgate.Fault("Shop.SoldOut", "there are not that many")
        return order.pk

    @amfgate.requires()
    def mine(self, call: amfgate.Call):
        """The orders of who is logged in, the latest first."""
        orders = Order.objects.filter(customer=call.request.user).order_by("-pk")
        return orders.values("id", "amount", product_name=F("product__name"))
