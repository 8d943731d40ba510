"""Flex's values and messages: what RemoteObject, Producer and Consumer send and expect.

The collections and small messages are known to every registry and need nothing to be read or written.
"""

from .collections import ArrayCollection, ArrayList, ManagedObjectProxy, ObjectProxy
from .messages import acknowledge, complete, error, kind_of
from .small import SmallMessage

__all__ = [
    "ArrayCollection",
    "ArrayList",
    "ManagedObjectProxy",
    "ObjectProxy",
    "SmallMessage",
    "acknowledge",
    "complete",
    "error",
    "kind_of",
]
