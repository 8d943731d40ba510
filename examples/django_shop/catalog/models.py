"""What is sold, and to whom."""

from django.conf import settings
from django.db import models


class Product(models.Model):
    name = models.CharField(max_length=80, unique=True)
    price = models.FloatField()
    stock = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("name",)

    def __str__(self):
        return self.name


class Order(models.Model):
    customer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    product = models.ForeignKey(Product, on_delete=models.PROTECT)
    amount = models.PositiveIntegerField()
    made = models.DateTimeField(auto_now_add=True)

    def __str__(self):
        return f"{self.amount} of {self.product}"
