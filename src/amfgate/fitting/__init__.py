"""Do the values that a client sent fit the annotations of the method that they are for?

What the decoder makes is of no use to a method that declares `order: Order`: a client may send a plain object, or an
Order whose members are whatever he likes.  So each argument is fitted.  A plain value is checked, and converted to what
is annotated.  An instance, which the decoder made of the class that the wire names, is looked into, and its members are
converted in place: the service gets the very object that was decoded, with its identity and its cycles.  A plain object
becomes an instance by the same rules: under its names on the wire, without what is excluded or read-only.

What does not fit is a Misfit, with the path that leads to it: `$` is the argument, `.unitPrice` a member by its name on
the wire, which is what the client's programmer knows, `[2]` an item.

An annotation is worked out once, into a Fit, a class once for each registry, into a Shape; a Fitting is one call.  From
the ground up, each module knowing only those before it:

    misfit.py       the error, its path and its words
    copies.py       what keeps a client from having huge copies made
    own_rules.py    what a class checks itself: attrs validators, pydantic models
    plain.py        msgspec.convert: plain values to what is annotated
    leaves.py       the Fits of scalars, and of containers of scalars
    containers.py   the Fits of containers that hold value objects
    objects.py      the Fits of value objects, and of several annotations
    annotations.py  annotation -> Fit
    shapes.py       class -> Shape: its members, each with its Fit
    graph.py        Fitting: the instances of one call, each looked into once

How it ends.  An instance that is met is noted, once, and looked into later, from a list: cycles of instances cost
nothing, and chains of them no stack.  Containers are as deep as annotations say.  A container that is met again under
the same annotation is not fitted again, nor copied again; what is copied with another that holds it is counted.

Whatever a class declares is looked at when it comes from a client.  So members that are read-only or excluded, which
do not come, are not looked at; nor are defaults, nor what the names of an annotation cannot be found for.
"""

from __future__ import annotations

from .annotations import exact_class, fit_of
from .graph import Fitting
from .misfit import Misfit
from .plain import class_of, converter

__all__ = ["Fitting", "Misfit", "class_of", "converter", "exact_class", "fit_of"]
