"""The rest of the site."""

from django.http import HttpResponse
from django.urls import path

from amfgate.contrib.django import view

urlpatterns = [
    path("", lambda request: HttpResponse("A shop. Programs call its services at /amf.\n", content_type="text/plain")),
    path("remoting", view()),  # the same services as a view, behind all of the middleware
]
