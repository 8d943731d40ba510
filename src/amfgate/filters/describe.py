"""The header DescribeService: what a service offers, told to the service browsers of Flash's authoring tools.

A packet with this header, whatever its value, asks about the service that its first body names as the target, in place
of calling it.  The answer is an object:

    version "1.0", address, the name of the service
    functions   an array of   name, description, version "1.0", returns,
                              arguments, an array of   name, required, type, description

What is told comes from the registry: signatures and docstrings.  Methods that this caller may not call are left out.
The other calls of the packet are served as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..envelope import PLAIN
from ..errors import Fault
from ..faults import mapped
from ..log import log_error, message_of, printable
from ..members import type_name
from ..pipeline import Call, Exchange
from ..services import Method, ServiceRegistry

HEADER: Final = "DescribeService"
VERSION: Final = "1.0"  # of the form of the answer


def answer_description(exchange: Exchange, authorize: Callable[[Call], Any]) -> None:
    """Answer the first call by a description, if the packet has the header and the call no answer yet.

    `authorize` is the step of the gateway's actions that lets a call pass or raises.  The target is a service
    (`"catalog"`), or a method or anything else in one (`"catalog.page"`), with dots or slashes.
    """
    request, calls = exchange.request, exchange.calls
    if request is None or not calls or not any(header.name == HEADER for header in request.headers):
        return
    call = calls[0]
    if call.response is not None or call.envelope is not PLAIN:  # a Flex message means a call, not a service
        return
    services = exchange.gateway.services
    name = _service(services, call.target)
    if name is None:
        call.fail(Fault("Server.ResourceNotFound", f"there is no service '{printable(call.target, 200)}' here"))
        return
    start = name + "."
    functions = [
        _function(method, target.removeprefix(start))
        for target, method in sorted(services.methods.items())
        if target == method.target and (target == name or target.startswith(start)) and _may(call, method, authorize)
    ]
    call.answer({"version": VERSION, "address": name, "functions": functions})


def _service(services: ServiceRegistry, target: str) -> str | None:
    """The name of the service that a target means, as it was registered; None for a target that means none."""
    name = target.replace("/", ".")
    if not services.knows(name):
        method = services.find(target)
        if method is not None:
            return method.target.rpartition(".")[0] or method.target  # a function may have no service
        name = name.rpartition(".")[0]
        if not services.knows(name):
            return None
    if not services.case_insensitive:
        return name
    words = name.count(".") + 1
    registered = (".".join(one.split(".")[:words]) for one in services)
    return next((one for one in registered if one.casefold() == name.casefold()), name)


def _may(asked: Call, method: Method, authorize: Callable[[Call], Any]) -> bool:
    """May the one who asks call this method?  It is tried with a call of its own, which is not made."""
    call = Call(asked.exchange, method.target, asked.uri, [])
    call.method = method
    try:
        authorize(call)
    except Exception as error:
        if not isinstance(error, Fault) and mapped(error, asked.gateway.faults) is None:
            log_error(f"{method.target} is left out of the description: {message_of(error)}", error)
        return False
    return True


def _function(method: Method, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": method.description,
        "version": VERSION,
        "returns": type_name(method.binder.returns),
        "arguments": [
            {
                "name": parameter.name,
                "required": parameter.required,
                "type": parameter.type_name,
                "description": "",
            }
            for parameter in method.binder.parameters
        ],
    }
