"""What each call passes, in this order: find, authorize, bind, invoke, adapt.

Each is a step of a pipeline (see `amfgate.pipeline`) and takes the Call.  `Gateway(..., actions=[...])` has others
among them: a function `action(call)`, or an object with `on_request(call)` and `on_response(call)`, for what has to be
undone when the call is answered, however it is answered.

    class Transaction:
        def on_request(self, call):
            call.exchange.environ["app.session"].begin()

        def on_response(self, call):
            session = call.exchange.environ["app.session"]
            session.commit() if call.fault is None else session.rollback()

    Gateway(app, services, actions=[find, authorize, bind, Transaction(), invoke, adapt])
"""

from __future__ import annotations

from typing import Any

from .errors import Fault
from .log import printable
from .pipeline import Call


def find(call: Call) -> None:
    """Set `call.method` to what the target stands for."""
    services = call.gateway.services
    method = services.methods.get(call.target) or services.find(call.target) or services.missing(call.target)
    if method is None:
        raise Fault("Server.ResourceNotFound", f"there is no method '{printable(call.target, 200)}' here")
    call.method = method


def authorize(call: Call) -> None:
    """Let the call pass if its user may make it: see `amfgate.requires`."""
    method = call.method
    if method is not None and method.requires:
        for requirement in method.requires:
            requirement.check(call)


def bind(call: Call) -> None:
    """Fit the arguments to the method's parameters: their number, and their types where it has annotations."""
    method = call.method
    if method is not None and len(call.args) not in method.fits:
        method.bind(call)


def invoke(call: Call) -> None:
    """Call the method; what it returns is `call.result`."""
    method = call.method
    if method is None:
        raise Fault(
            "Server.Processing", "the actions of this gateway do not include find, so there is nothing to invoke"
        )
    if call.keywords is None:
        call.result = method.function(*call.args)
    else:
        call.result = method.function(*call.args, **call.keywords)


def adapt(call: Call) -> None:
    """Make the response out of the result."""
    call.response = call.envelope.result(call)


def default_actions() -> list[Any]:
    """A fresh list of the five actions, to edit and hand to `Gateway(actions=...)`."""
    return [find, authorize, bind, invoke, adapt]
