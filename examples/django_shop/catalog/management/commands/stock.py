"""`manage.py stock`: something to sell, and somebody to buy it."""

from django.contrib.auth.models import Permission, User
from django.core.management.base import BaseCommand

from catalog.models import Product


class Command(BaseCommand):
    help = "Adds three products, the customer ada, and the clerk grace, who may change prices."

    def handle(self, *args, **options):
        for name, price, stock in [("Brass sextant", 149.5, 3), ("Hand lens", 12.25, 40), ("Plumb line", 9.99, 12)]:
            Product.objects.get_or_create(name=name, defaults={"price": price, "stock": stock})
        for name in ("ada", "grace"):
            if not User.objects.filter(username=name).exists():
                User.objects.create_user(name, password="sextant")
        permission = Permission.objects.get(codename="change_product", content_type__app_label="catalog")
        User.objects.get(username="grace").user_permissions.add(permission)
        self.stdout.write(f"{Product.objects.count()} products; ada and grace, password 'sextant'")
