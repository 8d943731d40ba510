"""PyAMF's `flex`: the collections.

They are amfgate's own.  An ArrayCollection is used like a list, and has its list as `.source`, but is no subclass
of `list`; an ObjectProxy is used like a dict, and has its object as `.source`.
"""

from __future__ import annotations

from ...flex.collections import ArrayCollection, ObjectProxy

__all__ = ["ArrayCollection", "ObjectProxy"]
