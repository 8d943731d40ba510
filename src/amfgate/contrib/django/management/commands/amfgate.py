"""`manage.py amfgate`: what can be called."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.core.servers.basehttp import get_internal_wsgi_application

from amfgate.contrib.django import discover
from amfgate.contrib.listing import lines
from amfgate.gateway import Gateway
from amfgate.services import ServiceRegistry


class Command(BaseCommand):
    help = (
        "Lists what Flash programs can call: targets with their arguments and results, what @amfgate.requires demands, "
        "and the first line of the docstring. These are the services of WSGI_APPLICATION where that is a gateway, "
        "else those that the settings name and that amf_services modules hold."
    )

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("service", nargs="?", help="list this service alone")

    def handle(self, *args: Any, **options: Any) -> None:
        registry = _registry()
        name = options["service"]
        if name is not None and not registry.knows(name):
            raise CommandError(f"there is no service {name!r}")
        for line in lines(registry, name):
            self.stdout.write(line)


def _registry() -> ServiceRegistry:
    application = get_internal_wsgi_application()
    if isinstance(application, Gateway):
        return application.services
    return discover(getattr(settings, "AMFGATE", {}).get("SERVICES"))
