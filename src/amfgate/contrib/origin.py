"""Which pages may make use of the cookies of a site: what a framework with sessions has to ask."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import Fault
from ..log import printable
from ..pipeline import Exchange


def check_origin(exchange: Exchange, own: Iterable[str], remedy: str) -> None:
    """Refuse what a page of another site has its visitor's browser send, cookies and all.

    Browsers name the page's origin in each such request.  Flash Player and AIR have no Origin header; they ask for
    crossdomain.xml.  A request that brings nothing that tells who the visitor is may come from anywhere.

    own: origins of the site itself, `https://shop.example`; with `*.` before the host, of the hosts below it.
    remedy: what to change to let an origin in, for the fault.
    """
    environ = exchange.environ
    origin = environ.get("HTTP_ORIGIN")
    if not origin or not (environ.get("HTTP_COOKIE") or environ.get("REMOTE_USER")):
        return
    cors = exchange.gateway.cors
    if cors is not None and origin in cors.origins:
        return
    scheme, _, host = origin.partition("://")
    for one in own:
        own_scheme, _, own_host = one.partition("://")
        if scheme == own_scheme and (host == own_host or own_host.startswith("*.") and host.endswith(own_host[1:])):
            return
    raise Fault(
        "Client.Authorization",
        f"pages of {printable(origin, 100)} may not call with the cookies of this site; {remedy} would have to name it",
    )
