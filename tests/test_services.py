"""What is exposed, under which targets, and what is refused when a registry is built."""

from __future__ import annotations

import asyncio
import functools
import types
from typing import Any

import pytest

import amfgate
from amfgate import ServiceRegistry


class Shop:
    """Sells things."""

    limit = 5

    class Nested:
        def inner(self) -> str:
            return "inner"

    def __init__(self) -> None:
        self.helper = Helper()
        self.attribute = lambda: "attribute"

    def buy(self, name: str, count: int = 1) -> str:
        """Buy something."""
        return f"{count} {name}"

    def _private(self) -> str:
        return "private"

    @property
    def price(self) -> Any:
        return lambda: 5

    @staticmethod
    def static(word: str) -> str:
        return word

    @classmethod
    def made(cls) -> str:
        return cls.__name__

    @functools.lru_cache  # noqa: B019
    def cached(self) -> str:
        return "cached"

    doubled = functools.partialmethod(buy, count=2)
    helper_class = dict


class Helper:
    def list(self) -> list[int]:
        return [1]


def targets(services: Any, **options: Any) -> list[str]:
    return list(ServiceRegistry(services, **options))


def result_of(registry: ServiceRegistry, target: str, *args: Any) -> Any:
    method = registry.find(target)
    assert method is not None
    return method.function(*args)


def test_of_an_object_the_public_methods_of_its_class_are_exposed_and_nothing_else() -> None:
    assert targets({"shop": Shop()}) == ["shop.buy", "shop.cached", "shop.doubled", "shop.made", "shop.static"]


@pytest.mark.parametrize(
    "target",
    [
        "shop.__init__",
        "shop._private",
        "shop.__class__.mro",
        "shop.helper.list",
        "shop.helper",
        "shop.attribute",
        "shop.price",
        "shop.limit",
        "shop.Nested",
        "shop.Nested.inner",
        "shop.helper_class",
        "shop.buy.__call__",
        "shop.",
        "shop",
        ".buy",
        "buy",
        "",
        "shop..buy",
        "shop.buy.",
        "shop buy",
        "SHOP.buy",
    ],
)
def test_nothing_else_can_be_reached(target: str) -> None:
    assert ServiceRegistry({"shop": Shop()}).find(target) is None


def test_methods_are_called_on_the_object() -> None:
    registry = ServiceRegistry({"shop": Shop()})
    assert result_of(registry, "shop.buy", "tea") == "1 tea"
    assert result_of(registry, "shop.doubled", "tea") == "2 tea"
    assert result_of(registry, "shop.static", "word") == "word"
    assert result_of(registry, "shop.made") == "Shop"
    assert result_of(registry, "shop.cached") == "cached"


class Plain:
    def inherited(self) -> None: ...

    def replaced(self) -> None: ...


@amfgate.service("base")
class Base(Plain):
    def shared(self) -> None: ...

    def hidden(self) -> None: ...

    def taken(self) -> None: ...


class Child(Base):
    hidden = None

    @property
    def taken(self) -> Any:  # type: ignore[override]
        return None

    def own(self) -> None: ...


def test_inherited_methods_are_exposed_only_from_a_base_that_is_a_service_itself() -> None:
    assert targets({"child": Child()}) == ["child.own", "child.shared"]


def test_what_a_class_hides_its_bases_do_not_show() -> None:
    registry = ServiceRegistry({"child": Child()})
    assert registry.find("child.hidden") is None
    assert registry.find("child.taken") is None


def add(a: int, b: int) -> int:
    return a + b


def test_functions_are_called_by_their_name_alone() -> None:
    registry = ServiceRegistry({"math.add": add, "ping": lambda: "pong", "half": functools.partial(add, -1)})
    assert list(registry) == ["half", "math.add", "ping"]
    assert result_of(registry, "math.add", 1, 2) == 3
    assert result_of(registry, "ping") == "pong"
    assert result_of(registry, "half", 3) == 2


def test_builtins_and_callable_objects_without_methods_are_functions() -> None:
    class Adder:
        def __call__(self, a: int) -> int:
            return a + 1

    registry = ServiceRegistry({"length": len, "most": max, "adder": Adder()})
    assert result_of(registry, "length", [1]) == 1
    assert result_of(registry, "most", 1, 2) == 2
    assert result_of(registry, "adder", 1) == 2


def module(**names: Any) -> types.ModuleType:
    made = types.ModuleType("tools")
    vars(made).update(names)
    return made


def test_of_a_module_the_functions_in_all_are_exposed() -> None:
    tools = module(__all__=["add", "Shop", "_hidden", "types", "number"], add=add, Shop=Shop, _hidden=add, types=types)
    tools.number = 5  # type: ignore[attr-defined]
    tools.other = add  # type: ignore[attr-defined]
    assert targets({"tools": tools}) == ["tools.add"]


def test_a_module_without_all_is_refused() -> None:
    with pytest.raises(TypeError, match="'tools' is the module tools, which has no __all__: list there the functions"):
        ServiceRegistry({"tools": module(add=add)})


def test_a_class_in_place_of_an_instance_is_refused() -> None:
    with pytest.raises(TypeError, match=r"'shop' is the class Shop; register an instance: Shop\(\)"):
        ServiceRegistry({"shop": Shop})


def test_an_async_def_is_refused() -> None:
    class Async:
        async def page(self) -> None: ...

    async def function() -> None: ...

    class AsyncGenerator:
        async def rows(self) -> Any:
            yield 1

    class AsyncCall:
        async def __call__(self) -> None: ...

    with pytest.raises(TypeError, match=r"a.page is an async def; .*asyncio.run"):
        ServiceRegistry({"a": Async()})
    with pytest.raises(TypeError, match="f is an async def"):
        ServiceRegistry({"f": function})
    with pytest.raises(TypeError, match="g.rows is an async def"):
        ServiceRegistry({"g": AsyncGenerator()})
    with pytest.raises(TypeError, match="c is an async def"):
        ServiceRegistry({"c": AsyncCall()})
    with pytest.raises(TypeError, match="m.function is an async def"):
        ServiceRegistry({"m": module(__all__=["function"], function=function)})


def test_a_function_that_runs_a_coroutine_is_no_async_def() -> None:
    async def work() -> str:
        return "done"

    @functools.wraps(work)
    def run() -> str:
        return asyncio.run(work())

    assert result_of(ServiceRegistry({"work": run}), "work") == "done"


@pytest.mark.parametrize("thing", [{"a": 1}, [], "text", 5, None])
def test_builtin_values_are_no_services(thing: Any) -> None:
    with pytest.raises(TypeError, match="a service is an object of a class of yours, a function or a module"):
        ServiceRegistry({"thing": thing})


@pytest.mark.parametrize("services", ["catalog", 5, None])
def test_services_that_are_neither_a_mapping_nor_a_list_are_refused(services: Any) -> None:
    with pytest.raises(TypeError, match="services are a mapping of names to objects"):
        ServiceRegistry(services)


@pytest.mark.parametrize("name", ["", "_shop", "a._b", "a..b", ".a", "a/_b", "a."])
def test_names_that_no_target_could_have_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a service"):
        ServiceRegistry({name: Shop()})
    with pytest.raises(ValueError, match="cannot name a service"):
        amfgate.service(name)


def test_an_object_that_exposes_nothing_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    class Empty:
        pass

    assert targets({"empty": Empty()}) == []
    assert "the service 'empty' exposes no methods" in caplog.text


# Decorated services


@amfgate.service("decorated.catalog")
class Catalog:
    def page(self) -> str:
        return "page"


class Derived(Catalog):
    def more(self) -> str:
        return "more"


@amfgate.service("decorated.add")
def decorated_add(a: int, b: int) -> int:
    return a + b


def test_a_list_of_decorated_services_is_registered_by_their_names() -> None:
    registry = ServiceRegistry([Catalog(), decorated_add])
    assert list(registry) == ["decorated.add", "decorated.catalog.page"]
    assert result_of(registry, "decorated.add", 1, 2) == 3


def test_a_decorated_class_in_a_list_is_instantiated() -> None:
    assert result_of(ServiceRegistry(iter([Catalog])), "decorated.catalog.page") == "page"


def test_a_decorated_class_that_needs_arguments_is_refused() -> None:
    @amfgate.service("needy")
    class Needy:
        def __init__(self, database: Any) -> None: ...

    with pytest.raises(TypeError, match="'needy' needs arguments to be made; put an instance in the list"):
        ServiceRegistry([Needy])


def test_an_undecorated_service_in_a_list_is_refused() -> None:
    with pytest.raises(TypeError, match=r'has no name: decorate it with @amfgate.service\("name"\)'):
        ServiceRegistry([Shop()])


def test_the_decorator_without_a_name_is_refused() -> None:
    with pytest.raises(TypeError, match=r'needs the name by which clients call it: @amfgate.service\("Shop"\)'):
        amfgate.service(Shop)  # type: ignore[arg-type]


def test_two_services_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"there are two services named 'decorated.catalog'"):
        ServiceRegistry([Catalog(), Derived()])
    with pytest.raises(ValueError, match="there are two services named 'a.b'"):
        ServiceRegistry({"a.b": add, "a/b": add})


# Targets


class Named:
    def __init__(self, name: str) -> None:
        self.name = name

    def list(self) -> str:
        return self.name


class Admin(Named):
    def list(self) -> str:
        return self.name

    def admin(self) -> str:
        return f"method of {self.name}"


def test_dots_and_slashes_separate_alike() -> None:
    registry = ServiceRegistry({"com.shop.catalog": Named("catalog"), "com/shop/basket": Named("basket")})
    for target in ("com.shop.catalog.list", "com/shop/catalog/list", "com/shop/catalog.list", "com.shop/catalog/list"):
        assert result_of(registry, target) == "catalog"
    assert result_of(registry, "com.shop.basket.list") == "basket"
    assert list(registry) == ["com.shop.basket.list", "com.shop.catalog.list"]


@pytest.mark.parametrize("order", [["shop", "shop.admin"], ["shop.admin", "shop"]])
def test_the_longest_registered_name_is_meant(order: list[str]) -> None:
    registry = ServiceRegistry({name: Admin(name) for name in order})
    assert result_of(registry, "shop.list") == "shop"
    assert result_of(registry, "shop.admin.list") == "shop.admin"
    assert result_of(registry, "shop.admin") == "method of shop"


@pytest.mark.parametrize("order", [["shop", "shop.admin"], ["shop.admin", "shop"]])
def test_a_function_takes_the_place_of_a_method_of_a_shorter_name(order: list[str]) -> None:
    things = {"shop": Admin("shop"), "shop.admin": lambda: "function"}
    assert result_of(ServiceRegistry({name: things[name] for name in order}), "shop.admin") == "function"


def test_targets_gives_other_names() -> None:
    registry = ServiceRegistry(
        {"scores": Named("scores")}, targets={"Old.getScores": "scores.list", "old/scores": "scores/list"}
    )
    assert result_of(registry, "Old.getScores") == "scores"
    assert result_of(registry, "Old/getScores") == "scores"
    assert result_of(registry, "old.scores") == "scores"
    assert registry.find("old.getscores") is None
    assert list(registry) == ["scores.list"]


def test_an_alias_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"targets: 'a.b' stands for 'scores.nothing', which no service exposes"):
        ServiceRegistry({"scores": Named("scores")}, targets={"a.b": "scores.nothing"})
    with pytest.raises(ValueError, match="which no service exposes"):
        ServiceRegistry({"scores": Named("scores")}, targets={"b": "scores.list", "a": "b"})


def test_an_alias_that_is_a_method_already_is_refused() -> None:
    with pytest.raises(ValueError, match=r"targets: 'shop.list' is a method already"):
        ServiceRegistry({"shop": Admin("shop")}, targets={"shop.list": "shop.admin"})


def test_case_insensitive_finds_any_spelling() -> None:
    registry = ServiceRegistry(
        {"Catalog": Named("catalog")}, targets={"Old.Page": "catalog.LIST"}, case_insensitive=True
    )
    for target in ("Catalog.list", "catalog.list", "CATALOG/LIST", "old.page"):
        assert result_of(registry, target) == "catalog"
    assert registry.knows("CATALOG")
    assert registry.find("catalog.nothing") is None


def test_targets_that_differ_in_case_alone_are_refused_where_it_does_not_count() -> None:
    services = {"shop.List": lambda: 1, "shop.list": lambda: 2}
    assert len(ServiceRegistry(services)) == 2
    with pytest.raises(ValueError, match=r"shop.List and shop.list are one target without regard to case"):
        ServiceRegistry(services, case_insensitive=True)


def test_a_registry_made_of_a_registry_adds_to_it_and_leaves_it_alone() -> None:
    first = ServiceRegistry({"scores": Named("scores")}, targets={"a": "scores.list"})
    second = ServiceRegistry(first, targets={"b": "scores.list"})
    assert "a" in second and "b" in second
    assert "b" not in first


def test_add_registers_one_more_and_a_wrong_one_changes_nothing() -> None:
    registry = ServiceRegistry({"scores": Named("scores")})
    registry.add("math.add", add)
    assert list(registry) == ["math.add", "scores.list"]
    with pytest.raises(TypeError):
        registry.add("shop", Shop)
    with pytest.raises(ValueError, match="two services"):
        registry.add("scores", Named("other"))
    registry.add("shop", Admin("shop"))
    assert list(registry) == ["math.add", "scores.list", "shop.admin", "shop.list"]


def test_it_knows_services_and_groups_of_functions() -> None:
    registry = ServiceRegistry({"com.shop": Named("shop"), "math.add": add, "ping": add})
    assert [registry.knows(name) for name in ("com.shop", "com/shop", "math", "ping", "com", "", "com.shop.list")] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_describe_tells_what_can_be_called() -> None:
    class Library:
        @amfgate.requires("editor")
        def find(self, text: str, limit: int = 5, *, call: amfgate.Call) -> list[str]:
            """Look for books."""
            return []

        def ping(self, value, exchange: amfgate.Exchange):  # type: ignore[no-untyped-def]
            return value

    registry = ServiceRegistry({"library": Library(), "add": add}, targets={"old": "add"})
    assert registry.describe("library") == [
        {
            "name": "library.find",
            "description": "Look for books.",
            "arguments": [
                {"name": "text", "required": True, "type": "str"},
                {"name": "limit", "required": False, "type": "int"},
            ],
            "returns": "list[str]",
            "requires": ["'editor'"],
        },
        {
            "name": "library.ping",
            "description": "",
            "arguments": [{"name": "value", "required": True, "type": ""}],
            "returns": "",
            "requires": [],
        },
    ]
    assert [method["name"] for method in registry.describe()] == ["add", "library.find", "library.ping"]
