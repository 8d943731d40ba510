"""What can be called: services, the rules of what they expose, and what targets mean.

The rule of exposure is deny by default, and it is applied once, when a registry is built: a table of targets comes out,
and a request can reach what is in the table and nothing else.  No name that came over the wire is ever handed to
`getattr`.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from .access import REQUIRES, Requirement
from .arguments import Binder
from .flex.collections import check_flex_collections
from .log import logger
from .members import type_name

T = TypeVar("T")

SERVICE: Final = "__amfgate_service__"
EVERYTHING: Final = "*"  # the name of the service that is asked about every unknown target
COLLECTIONS: Final = "__amfgate_flex_collections__"

_FUNCTIONS: Final = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    functools.partial,
    functools._lru_cache_wrapper,
)


def service(name: str | None = None, *, flex_collections: bool | str | None = None) -> Callable[[T], T]:
    """Give a class or a function the name by which clients call it.

        @amfgate.service("catalog")
        class Catalog:
            def page(self, number: int): ...

        amfgate.Gateway(app, [Catalog()])

    In such a list an instance is taken as it is, and a class whose constructor needs no arguments is instantiated.
    Methods that a service inherits are exposed only from a base that is itself decorated.

    flex_collections: how lists in its results go to clients that read AMF3: False, as arrays; True, a result that is
        a list as Flex's ArrayCollection; "deep", the lists inside it too.  What is said nearest counts: of a method,
        its class, the gateway.  With this option the name may be left out, as it has to be on a method:

        @amfgate.service("catalog", flex_collections=True)
        class Catalog:
            def page(self, number: int): ...

            @amfgate.service(flex_collections="deep")
            def tree(self): ...
    """
    if not isinstance(name, str) and not (name is None and flex_collections is not None):
        called = "catalog" if name is None else _called(name)
        raise TypeError(f'@amfgate.service needs the name by which clients call it: @amfgate.service("{called}")')
    if name is not None:
        check_name(name)
    if flex_collections is not None:
        check_flex_collections(flex_collections)

    def mark(thing: T) -> T:
        if name is not None:
            setattr(thing, SERVICE, name)
        if flex_collections is not None:
            setattr(thing, COLLECTIONS, flex_collections)
        return thing

    return mark


class Method:
    """One thing that can be called: the function, how arguments are fitted to it, who may call it.

    `fits` are the numbers of arguments that need no fitting, `bind(call)` does the rest.  `flex_collections` is what
    the method or its service says of it, None for nothing.
    """

    __slots__ = ("bind", "binder", "description", "fits", "flex_collections", "function", "requires", "target")

    def __init__(
        self,
        target: str,
        function: Callable[..., Any],
        requirements: tuple[Requirement, ...],
        flex_collections: bool | str | None = None,
    ) -> None:
        if any(
            inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one)
            for one in (function, getattr(function, "__call__", None))  # noqa: B004 (an object's, which may be async)
        ):
            raise TypeError(
                f"{target} is an async def; services are called as plain functions, by threads. Make it a def, or call "
                "it from one: def name(...): return asyncio.run(...)"
            )
        self.target = target
        self.function = function
        self.requires = requirements
        self.flex_collections = flex_collections
        self.binder = Binder(function, target)
        self.bind = self.binder.bind
        self.fits = self.binder.fits
        self.description = inspect.getdoc(function) or ""

    def describe(self) -> dict[str, Any]:
        return {
            "name": self.target,
            "description": self.description,
            "arguments": [
                {"name": parameter.name, "required": parameter.required, "type": parameter.type_name}
                for parameter in self.binder.parameters
            ],
            "returns": type_name(self.binder.returns),
            "requires": [repr(requirement) for requirement in self.requires],
        }

    def __repr__(self) -> str:
        return f"<Method {self.target}>"


class ServiceRegistry:
    """The services of a gateway: a table from targets to methods.

    `services` maps names to objects, functions or modules, or is an iterable of what `@amfgate.service` decorated:

        ServiceRegistry({"catalog": Catalog(), "math.add": add, "tools": tools_module})

    Exposed are: of an object, the public methods that its class defines, or a base that is itself a `@service`; a
    function; of a module, the functions in its `__all__`.  Never: names that start with `_`, attributes of
    attributes, properties, nested classes.  A class in place of an instance, a module without `__all__` and an
    `async def` are a TypeError that says what to do.

    A target is the name of a service and of a method, with dots or slashes: `catalog.page`, `catalog/page`.  Names may
    be nested (`com.shop.catalog`); where two services could be meant, the longer name is.  `targets` gives other names
    to targets (`{"Old.getScores": "scores.top"}`); `case_insensitive` finds `CATALOG.Page` too, as PHP did.

    An object whose class defines `__missing__(self, call)` answers the unknown targets that begin with its name; the
    one named `*`, which may be a function of the call too, answers all other unknown targets.  It gets the Call, with
    the target and the arguments as they came, and its result or Fault is the answer.  Of the object named `*` nothing
    else can be called.

        ServiceRegistry({"scores": Scores(), "*": Keeper()})
    """

    def __init__(
        self,
        services: Mapping[str, Any] | Iterable[Any] | ServiceRegistry = (),
        *,
        targets: Mapping[str, str] | None = None,
        case_insensitive: bool = False,
    ) -> None:
        self._services: dict[str, Any] = {}
        self._aliases: dict[str, str] = {}
        self._expects_collections = False
        self.case_insensitive = bool(case_insensitive)
        if isinstance(services, ServiceRegistry):
            self._services.update(services._services)
            self._aliases.update(services._aliases)
            self.case_insensitive = self.case_insensitive or services.case_insensitive
        else:
            for name, thing in _named(services):
                self._put(name, thing)
        for alias, target in (targets or {}).items():
            self._aliases[_canonical(alias)] = _canonical(target)
        self._build()

    def add(self, name: str, thing: Any) -> None:
        """Register one more service.  Requests that are under way do not notice."""
        before = dict(self._services)
        self._put(name, thing)
        try:
            self._build()
        except BaseException:
            self._services = before
            raise

    def expect_collections(self) -> None:
        """Set `collects` for good: a gateway that sends lists as collections uses these services."""
        self._expects_collections = self.collects = True

    def find(self, target: str) -> Method | None:
        """The method that `target` names, None for none."""
        method = self.methods.get(target)
        if method is None:
            target = target.replace("/", ".")
            method = self.methods.get(target)
            if method is None and self.case_insensitive:
                method = self._folded.get(target.casefold())
        return method

    def missing(self, target: str) -> Method | None:
        """Who answers for a target that `find` does not know: see `__missing__` above; None for nobody."""
        missing = self._missing
        if not missing:
            return None
        name = target.replace("/", ".")
        if self.case_insensitive:
            name = name.casefold()
        # Of a stranger's 65,535 bytes of dots no more words are looked at than the longest name has.
        words = name.split(".", self._most_words)[: self._most_words]
        while words:
            name = ".".join(words)
            if name in missing:
                return missing[name]
            words.pop()
        return missing.get(EVERYTHING)

    def knows(self, name: str) -> bool:
        """Is there a service, or a group of functions, of this name?"""
        name = name.replace("/", ".")
        return name in self._names or self.case_insensitive and name.casefold() in self._names

    def describe(self, name: str | None = None) -> list[dict[str, Any]]:
        """All methods, or those of one service, by target: name, description, arguments, returns, requires."""
        start = None if name is None else _canonical(name) + "."
        return [
            method.describe()
            for target, method in sorted(self.methods.items())
            if target == method.target and (start is None or target.startswith(start))
        ]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(target for target, method in self.methods.items() if target == method.target))

    def __len__(self) -> int:
        return sum(target == method.target for target, method in self.methods.items())

    def __contains__(self, target: object) -> bool:
        return isinstance(target, str) and self.find(target) is not None

    def __repr__(self) -> str:
        return f"ServiceRegistry([{', '.join(map(repr, sorted(self._services)))}])"

    def _put(self, name: str, thing: Any) -> None:
        if name in ("", EVERYTHING) and missing_method(EVERYTHING, thing) is not None:
            name = EVERYTHING
        elif name == EVERYTHING:
            raise TypeError(
                f"the service {EVERYTHING!r} is asked about every unknown target: it is a function of the call, or an "
                f"object whose class defines __missing__(self, call); found {thing!r}"
            )
        else:
            check_name(name)
            name = _canonical(name)
        if name in self._services:
            raise ValueError(f"there are two services named {name!r}")
        self._services[name] = thing

    def _build(self) -> None:
        """Make the tables anew, and put them in place at the end, each in one step."""
        methods: dict[str, Method] = {}
        names: set[str] = set()
        missing: dict[str, Method] = {}
        # Shorter names first: what a longer one exposes takes the place of it.
        for name in sorted(self._services, key=lambda name: name.count(".")):
            unknown = missing_method(name, self._services[name])
            if unknown is not None:
                missing[name.casefold() if self.case_insensitive else name] = unknown
            if name == EVERYTHING:
                continue
            exposed = expose(name, self._services[name])
            names.add(name if exposed is not None else name.rpartition(".")[0])
            if exposed is None:
                function = self._services[name]
                methods[name] = Method(name, function, getattr(function, REQUIRES, ()), _collections(function))
            elif not exposed and unknown is None:
                logger.warning("the service %r exposes no methods: see amfgate.ServiceRegistry for what it takes", name)
            else:
                methods.update((method.target, method) for method in exposed)
        folded: dict[str, Method] = {}
        if self.case_insensitive:
            names.update([name.casefold() for name in names])
            for target, method in methods.items():
                other = folded.setdefault(target.casefold(), method)
                if other is not method:
                    raise ValueError(f"{other.target} and {target} are one target without regard to case")
        for alias, target in self._aliases.items():
            found = methods.get(target)
            if found is None and self.case_insensitive:
                found = folded.get(target.casefold())
            if found is None or found.target != target and target in self._aliases:
                raise ValueError(f"targets: {alias!r} stands for {target!r}, which no service exposes")
            if alias in methods:
                raise ValueError(f"targets: {alias!r} is a method already; it cannot stand for {target!r} too")
            methods[alias] = found
            folded.setdefault(alias.casefold(), found)
        names.discard("")
        self.methods = methods
        self._folded = folded
        self._most_words = max((name.count(".") + 1 for name in missing), default=0)
        self._missing = missing
        self._names = names
        # Whether any call has to be asked how its lists go; where it has not, this is all that a call pays.
        self.collects = self._expects_collections or any(
            method.flex_collections for method in (*methods.values(), *missing.values())
        )


def check_name(name: Any) -> None:
    """A service's name is words with dots or slashes between; none may be empty or start with `_`."""
    if not isinstance(name, str):
        raise TypeError(f"a service's name is text, not {name!r}")
    if any(not word or word.startswith("_") for word in _canonical(name).split(".")):
        raise ValueError(f"{name!r} cannot name a service: each of its words needs a letter first, and `_` is private")


def expose(name: str, thing: Any) -> list[Method] | None:
    """The methods that a service of this name exposes; None if it is a function, which is called by the name alone."""
    if isinstance(thing, type):
        raise TypeError(f"the service {name!r} is the class {thing.__name__}; register an instance: {thing.__name__}()")
    if isinstance(thing, types.ModuleType):
        return list(_module_methods(name, thing))
    if isinstance(thing, _FUNCTIONS) or inspect.isroutine(thing):
        return None
    cls = type(thing)
    if cls.__module__ == "builtins":
        raise TypeError(
            f"the service {name!r} is {thing!r}; a service is an object of a class of yours, a function or a module"
        )
    methods = list(_object_methods(name, thing, cls))
    return None if not methods and callable(thing) else methods


def missing_method(name: str, thing: Any) -> Method | None:
    """What answers the unknown targets of the service `name`: its `__missing__`; None if it has none.

    The rule of exposure holds: the object's own class has to define it, or a base that is itself a service.  That of a
    `dict` is about keys and has nothing to do with targets.
    """
    if isinstance(thing, (type, types.ModuleType, dict)):
        return None
    cls = type(thing)
    requirements: tuple[Requirement, ...] = ()
    collections = _collections(thing)
    if isinstance(thing, _FUNCTIONS):
        if name != EVERYTHING:
            return None
        handler, requirements = thing, getattr(thing, REQUIRES, ())
    else:
        homes = [base for base in cls.__mro__ if "__missing__" in vars(base)]
        if not homes or homes[0] is not cls and SERVICE not in vars(homes[0]):
            return None
        attribute = vars(homes[0])["__missing__"]
        if not _is_method(attribute):
            raise TypeError(f"{name}.__missing__ is {attribute!r}; it has to be a method: def __missing__(self, call)")
        handler = attribute.__get__(thing, cls)
        inner = getattr(attribute, "__func__", attribute)
        requirements = (*getattr(cls, REQUIRES, ()), *getattr(inner, REQUIRES, ()))
        collections = _collections(attribute, cls)
    where = f"{name}.__missing__"
    Method(where, handler, ())  # refuses an async def
    try:
        inspect.signature(handler).bind(None)
    except TypeError as error:
        raise TypeError(f"{where} is called with one argument, the call: {error}") from error
    except ValueError:
        pass  # a builtin that does not tell its signature

    def answer(*arguments: Any, call: _TheCall) -> Any:
        return handler(call)

    return Method(where, answer, requirements, collections)


class _TheCall:
    """As an annotation: the call itself, which Binder fills in."""

    @staticmethod
    def __from_call__(call: Any) -> Any:
        return call


def _module_methods(name: str, module: types.ModuleType) -> Iterator[Method]:
    listed = getattr(module, "__all__", None)
    if listed is None:
        raise TypeError(
            f"the service {name!r} is the module {module.__name__}, which has no __all__: "
            "list there the functions that may be called"
        )
    for word in listed:
        thing = getattr(module, word)
        if word.startswith("_") or isinstance(thing, (type, types.ModuleType)) or not callable(thing):
            continue
        yield Method(f"{name}.{word}", thing, getattr(thing, REQUIRES, ()), _collections(thing))


def _object_methods(name: str, thing: Any, cls: type) -> Iterator[Method]:
    shared: tuple[Requirement, ...] = getattr(cls, REQUIRES, ())
    done: set[str] = set()
    for base in cls.__mro__:
        exposes = base is cls or SERVICE in vars(base)
        for word, attribute in vars(base).items():
            if word in done:
                continue
            done.add(word)  # also when it is not exposed: what a class hides, its bases do not show
            if exposes and not word.startswith("_") and _is_method(attribute):
                inner = getattr(attribute, "__func__", None)
                own = getattr(attribute, REQUIRES, ()) or getattr(inner, REQUIRES, ())
                bound = attribute.__get__(thing, cls)
                yield Method(f"{name}.{word}", bound, (*shared, *own), _collections(attribute, cls))


def _collections(function: Any, cls: type | None = None) -> bool | str | None:
    """What a function or method, or else its class, says of `flex_collections`; None for nothing."""
    for place in (function, getattr(function, "__func__", None), cls):
        said: bool | str | None = getattr(place, COLLECTIONS, None)
        if said is not None:
            return said
    return None


def _is_method(attribute: Any) -> bool:
    """Is this what `def` makes in a class body?  Not a property, a nested class, nor some object that can be called."""
    inner = getattr(attribute, "__func__", attribute)
    if isinstance(inner, type) or not hasattr(type(attribute), "__get__") or hasattr(type(attribute), "__set__"):
        return False
    return callable(attribute) or isinstance(attribute, (staticmethod, classmethod, functools.partialmethod))


def _named(services: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(services, Mapping):
        yield from services.items()
        return
    if isinstance(services, str) or not isinstance(services, Iterable):
        raise TypeError(
            f"services are a mapping of names to objects, or a list of @amfgate.service ones, not {services!r}"
        )
    for thing in services:
        name = getattr(thing, SERVICE, None)
        if name is None:
            raise TypeError(
                f'{thing!r} has no name: decorate it with @amfgate.service("name"), '
                'or give a mapping {"name": service}'
            )
        if isinstance(thing, type):
            try:
                thing = thing()
            except TypeError as error:
                raise TypeError(
                    f"the service {name!r} needs arguments to be made; put an instance in the list ({error})"
                ) from error
        yield name, thing


def _canonical(target: str) -> str:
    return target.replace("/", ".")


def _called(thing: Any) -> str:
    return getattr(thing, "__name__", None) or type(thing).__name__
