"""How results and faults are put into a reply: the plain envelope of remoting, and what a client may see of an error.

A call carries its envelope from the moment it is known what kind of client made it (`call.envelope`).  Whoever answers
the call, the last action, a filter or the encoder that cannot write a result, goes through it, so that every answer
has the shape that this client reads.  `amfgate.filters.flex` has the other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from .errors import Fault
from .log import message_of, traceback_text
from .packet import Body

if TYPE_CHECKING:
    from .gateway import Gateway
    from .pipeline import Call

UNEXPECTED: Final = "The call failed; the log of the server says why."


class Envelope(Protocol):
    """What `call.envelope` has to offer: the reply body for the result or the fault of a call."""

    def result(self, call: Call) -> Body: ...

    def fault(self, call: Call, fault: Fault) -> Body: ...


class PlainEnvelope:
    """The reply to NetConnection.call: `<uri>/onResult` with the value, or `<uri>/onStatus` with an error object."""

    __slots__ = ()

    def result(self, call: Call) -> Body:
        return Body(call.uri + "/onResult", "null", call.result)

    def fault(self, call: Call, fault: Fault) -> Body:
        return Body(call.uri + "/onStatus", "null", fault_value(fault))


PLAIN: Final = PlainEnvelope()


def as_fault(error: Exception, gateway: Gateway) -> Fault:
    """What the caller is told about `error`.

    A Fault is told as it is, and so is an exception for which the gateway has a fault (`Gateway(faults=...)`).
    Anything else was not meant for the caller: it becomes `Server.Processing`, and its class, text and traceback are
    told only with `debug`.
    """
    if isinstance(error, Fault):
        return error
    if gateway.debug:
        return Fault("Server.Processing", message_of(error), details=traceback_text(error))
    return Fault("Server.Processing", UNEXPECTED)


def fault_value(fault: Fault) -> dict[str, Any]:
    """The error object of a plain reply: the members of Flash remoting, and those that newer clients read."""
    return {
        "code": fault.code,
        "level": "error",
        "description": fault.description,
        "details": fault.details,
        "type": type(fault).__name__,
        "rootcause": fault.root_cause,
        "faultCode": fault.code,
        "faultString": fault.description,
        "faultDetail": fault.details,
    }
