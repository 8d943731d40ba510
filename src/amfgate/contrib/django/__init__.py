"""Services in a Django project: with its sessions, users, permissions, transactions and connections.

`amfgate.Gateway` around `get_wsgi_application()` serves calls before Django sees a request: nobody closes old
connections, and nobody knows the user.  This gateway does what Django does around a view.  In wsgi.py:

    from amfgate.contrib.django import gateway

    application = gateway(get_wsgi_application())

In `amf_services.py` of an app of the project, found as Django finds `admin.py`:

    import amfgate

    @amfgate.service("catalog")
    class Catalog:
        def products(self):
            return Product.objects.values("id", "name", "price")

        @amfgate.requires("shop.change_product")
        def rename(self, call: amfgate.Call, number: int, name: str) -> None:
            logger.info("%s renames %s", call.request.user, number)
            ...

What a call has:

- `call.request`, an HttpRequest with `session` and `user`, made by the project's own middleware for sessions and
  authentication; cookies that they set go out with the reply.  `call.user` is `request.user`, None if nobody is logged
  in; `call.session` is `request.session`.  `call.exchange.log_in(name, user)` and `log_out()`, and with CREDENTIALS the
  login and logout of Flex clients, are those of `django.contrib.auth`.
- `request_started` and `request_finished`, and with them `close_old_connections`, once for each packet.
- A transaction of its own where the database has ATOMIC_REQUESTS, or with `"ATOMIC": True`.  A fault rolls it back.
- `@amfgate.requires("shop.change_product")` asks `user.has_perm`; a word without a dot is the name of a group.
- PermissionDenied is the fault `Client.Authorization`, Http404 `Server.ResourceNotFound`, ValidationError
  `Client.Validation`: see `amfgate.contrib.django.faults`.

A page of another site could call with the cookies of its visitor.  Such a request, one with an Origin that is neither
this site, nor in CSRF_TRUSTED_ORIGINS, nor among `cors`, is refused.

Settings, all of them optional, and all of them also arguments of `gateway` in small letters:

    AMFGATE = {
        "PATH": "/amf",
        "SERVICES": {"scores": "shop.scores.Scores"},  # beside what amf_services modules hold
        "ATOMIC": True,                                # or names of databases; False for never
        "MIDDLEWARE": ["django.contrib.sessions.middleware.SessionMiddleware", ...],
        "FAULTS": {"shop.models.SoldOut": "Shop.SoldOut"},  # exceptions meant for the caller; see amfgate.faults
        "CREDENTIALS": False,                          # have credentials of Flash checked by django.contrib.auth
        "CORS", "CROSSDOMAIN", "LIMITS", "TARGETS", "CASE_INSENSITIVE", "DEBUG": as of amfgate.Gateway
    }

MIDDLEWARE are by default those of the project that are a SessionMiddleware, an AuthenticationMiddleware or a
RemoteUserMiddleware, in the project's order.  DEBUG is the project's DEBUG, LIMITS a dict.

With `"amfgate.contrib.django"` in INSTALLED_APPS, `manage.py amfgate` lists the services.  `view()` is the same gateway
as a view, for urls.py and for django.test.Client; there the whole of the project's middleware runs.
"""

from __future__ import annotations

from ...actions import invoke
from .faults import FAULTS
from .gateways import gateway, view
from .services import discover
from .sessions import project_session
from .steps import Atomic, DjangoCredentials, ProjectMiddleware, RequestCycle, authorize, trusted_origin

__all__ = [
    "FAULTS",
    "Atomic",
    "DjangoCredentials",
    "ProjectMiddleware",
    "RequestCycle",
    "authorize",
    "discover",
    "gateway",
    "invoke",
    "project_session",
    "trusted_origin",
    "view",
]
