"""PyAMF's `remoting`: the gateway.  For packets there are `amfgate.Packet`, `Header` and `Body`."""

from __future__ import annotations

from . import gateway

__all__ = ["gateway"]
