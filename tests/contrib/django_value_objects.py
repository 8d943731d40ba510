"""Django's models as value objects; run by test_django_value_objects.py, in a process with settings of its own."""

from __future__ import annotations

import datetime as dt
import sys
import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import django
import pytest
from both_twins import Codec
from django.conf import settings
from django.db import connection, models, transaction
from django.test import override_settings
from django.utils.timezone import get_default_timezone
from one_method import Calls, typed

library = ModuleType("library")  # the app of the models
library.__path__ = [str(Path(__file__).parent)]
sys.modules["library"] = library
settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=["library"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
)
django.setup()

import amfgate  # noqa: E402
from amfgate import ClassRegistry, EncodeError, TypedObject  # noqa: E402
from amfgate.members import members_of  # noqa: E402

H = bytes.fromhex
CLASSES = ClassRegistry()


class Author(models.Model):
    """Who writes."""

    full_name = models.CharField(max_length=50)
    password = models.CharField(max_length=50, default="secret")
    favourite = models.ForeignKey("Book", models.SET_NULL, null=True, related_name="fans")

    class Meta:
        app_label = "library"


# Registered before the class exists that a key of it refers to.
CLASSES.register(Author, "Author", rename="camel", exclude=["password"])


class Tag(models.Model):
    word = models.CharField(max_length=50)

    class Meta:
        app_label = "library"


CLASSES.register(Tag, "Tag")


class Book(models.Model):
    title = models.CharField(max_length=50)
    author = models.ForeignKey(Author, models.CASCADE, null=True, related_name="books")
    stock = models.IntegerField(default=5)
    price = models.DecimalField(max_digits=6, decimal_places=2, null=True)
    printed = models.DateField(null=True)
    sold = models.IntegerField(default=0)
    cover = models.FileField(null=True)
    tags = models.ManyToManyField(Tag)

    class Meta:
        app_label = "library"


CLASSES.register(Book, "Book", rename="camel", readonly=["sold"])


class Novel(Book):
    pages = models.IntegerField(default=100)

    class Meta:
        app_label = "library"


class Key(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    lasts = models.DurationField(null=True)
    active = models.BooleanField(default=True)
    data = models.JSONField(default=dict)
    raw = models.BinaryField(null=True)
    at = models.DateTimeField(null=True)
    of = models.OneToOneField(Tag, models.CASCADE, null=True)

    class Meta:
        app_label = "library"


CLASSES.register(Key, "Key")


class Stamp(models.Model):
    side = models.IntegerField()
    if django.VERSION >= (5, 0):
        area = models.GeneratedField(
            expression=models.F("side") * 2, output_field=models.IntegerField(), db_persist=True
        )
    at = models.DateTimeField(auto_now=True)

    class Meta:
        app_label = "library"


@pytest.fixture(autouse=True, scope="module")
def tables() -> Iterator[None]:
    with connection.schema_editor() as editor:
        for model in (Tag, Author, Book, Novel, Key):
            editor.create_model(model)
    yield
    connection.close()


@pytest.fixture(autouse=True)
def stocked(tables: None) -> Iterator[None]:
    with transaction.atomic():
        stock()
        yield
        transaction.set_rollback(True)


def stock() -> None:
    melville = Author.objects.create(id=1, full_name="Herman Melville")
    Book.objects.create(id=1, title="Typee", author=melville, sold=7, cover="a/b.png")
    Book.objects.create(id=2, title="Omoo", author=melville, price=Decimal("1.5"))
    Book.objects.get(id=1).tags.add(Tag.objects.create(id=1, word="sea"))


class Queries:
    def __init__(self) -> None:
        self.found: list[str] = []

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.found.append(sql)
        return execute(sql, params, many, context)


@pytest.fixture
def queries() -> Iterator[list[str]]:
    """The statements that are executed."""
    noted = Queries()
    with connection.execute_wrapper(noted):
        yield noted.found


def received(codec: Codec, value: Any) -> Any:
    """What arrives of a value: plain typed objects."""
    return codec.loads(codec.dumps(value, classes=CLASSES), classes=ClassRegistry())


def read(codec: Codec, alias: str, **members: Any) -> Any:
    """The instance that a typed object becomes."""
    return codec.loads(codec.dumps(TypedObject(alias, members)), classes=CLASSES)


# --- out -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "data"),
    [
        (3, "0A 23 07 546167 05 6964 09 776F7264 04 07 06 03 78"),
        (0, "10 0003 546167 0002 6964 00 401C000000000000 0004 776F7264 02 0001 78 000009"),
    ],
)
def test_the_fields_travel(codec: Codec, version: int, data: str) -> None:
    assert codec.dumps(Tag(id=7, word="x"), version=version, classes=CLASSES) == H(data)


def test_keys_travel_and_objects_only_where_they_are_loaded(codec: Codec, queries: list[str]) -> None:
    found = received(codec, Book.objects.get(id=1))
    assert found.sealed == ("id", "title", "authorId", "stock", "price", "printed", "sold", "cover")
    assert (found["authorId"], found["cover"]) == (1, "a/b.png")
    found = received(codec, Book.objects.select_related("author").get(id=1))
    assert found.sealed[2:4] == ("authorId", "author")
    assert found["author"] == {"id": 1, "fullName": "Herman Melville", "favouriteId": None}
    assert len(queries) == 2


def test_deferred_fields_stay_away(codec: Codec, queries: list[str]) -> None:
    assert received(codec, Book.objects.defer("title", "cover").get(id=1)).sealed == (
        *("id", "authorId", "stock", "price", "printed", "sold"),
    )
    assert received(codec, Book.objects.only("title").get(id=1)) == {"id": 1, "title": "Typee"}
    assert len(queries) == 2


def test_relations_to_many_travel_where_they_were_prefetched(codec: Codec) -> None:
    found = received(codec, Book.objects.prefetch_related("tags").get(id=1))
    assert found["tags"] == [{"id": 1, "word": "sea"}]
    author = Author.objects.prefetch_related("books").get(id=1)
    assert "books" not in received(codec, author)


def test_a_query_set_is_a_list(codec: Codec) -> None:
    found = received(codec, Book.objects.order_by("id"))
    assert [one["title"] for one in found] == ["Typee", "Omoo"]


def test_nothing_is_queried_for_an_instance(codec: Codec, queries: list[str]) -> None:
    assert received(codec, Book(title="New", author_id=1))["authorId"] == 1
    assert queries == []


def test_a_cyclic_graph_comes_and_goes(codec: Codec) -> None:
    author = Author.objects.get(id=1)
    book = Book.objects.get(id=1)
    author.favourite, book.author = book, author
    data = codec.dumps(author, classes=CLASSES)
    found = codec.loads(data, classes=ClassRegistry())
    assert found["favourite"]["author"] is found
    got = codec.loads(data, classes=CLASSES)
    assert (type(got), got.favourite.title, got.favourite_id) == (Author, "Typee", 1)
    assert got.favourite.author is got


def test_a_class_that_nobody_registered_does_not_travel(codec: Codec) -> None:
    with pytest.raises(EncodeError, match=r"cannot encode Tag at \$: register its class"):
        codec.dumps(Tag(id=1, word="x"), classes=ClassRegistry())


def test_what_a_query_annotates_travels_with_a_dynamic_class(codec: Codec) -> None:
    classes = ClassRegistry()
    classes.register(Tag, "Tag", dynamic=True)
    tag = Tag.objects.annotate(uses=models.Count("book")).get(id=1)
    data = codec.dumps(tag, classes=classes)
    assert codec.loads(data, classes=ClassRegistry()) == {"id": 1, "word": "sea", "uses": 1}
    assert codec.loads(data, classes=classes).uses == 1
    got = codec.loads(codec.dumps(typed("Tag", word="a", save=1, _state=2, objects=3)), classes=classes)
    assert set(vars(got)) == {"_state", "id", "word"} and got._state.adding


# --- in --------------------------------------------------------------------------------------------------------------


def test_what_comes_without_a_key_is_new_and_has_the_defaults(codec: Codec, queries: list[str]) -> None:
    got = read(codec, "Book", title="Mardi", authorId=1, sold=99, cover="x")
    assert (got.pk, got.title, got.author_id, got.stock, got.sold, got.price) == (None, "Mardi", 1, 5, 0, None)
    assert (got._state.adding, bool(got.cover), queries) == (True, False, [])
    got.save()
    assert Book.objects.get(title="Mardi").author.full_name == "Herman Melville"


def test_what_comes_with_a_key_updates_what_came_of_the_row(codec: Codec, queries: list[str]) -> None:
    got = read(codec, "Book", id=1, title="TYPEE", sold=99, cover="x")
    assert queries == []
    got.save()
    found = Book.objects.get(id=1)
    assert (found.title, found.sold, found.stock, found.cover.name, found.author_id) == ("TYPEE", 7, 5, "a/b.png", 1)
    assert got.sold == 7  # what did not come is loaded when it is asked for
    author = read(codec, "Author", id=1, fullName="H", password="x")
    author.save()
    assert Author.objects.get(id=1).password == "secret"


@pytest.mark.parametrize("key", [0, None, float("nan"), amfgate.undefined])
def test_a_key_that_is_counted_is_none_where_there_is_none(codec: Codec, key: Any) -> None:
    got = read(codec, "Tag", id=key, word="x")
    assert got.pk is None and got._state.adding


def test_a_key_that_is_not_counted_is_what_it_is(codec: Codec) -> None:
    assert read(codec, "Key", id=0).pk == 0
    assert type(read(codec, "Key").pk) is uuid.UUID


def test_a_null_beside_a_key_unlinks_nothing(codec: Codec) -> None:
    read(codec, "Book", id=1, authorId=1, author=None).save()
    assert Book.objects.get(id=1).author_id == 1
    read(codec, "Book", id=1, authorId=None, author=None).save()
    assert Book.objects.get(id=1).author_id is None
    read(codec, "Book", id=2, author=None).save()
    assert Book.objects.get(id=2).author_id is None


def test_an_object_gives_the_key_and_a_key_wins_over_another_object(codec: Codec, queries: list[str]) -> None:
    got = read(codec, "Book", title="a", author=typed("Author", id=1, fullName="H"))
    assert (got.author_id, got.author.full_name) == (1, "H")
    got = read(codec, "Book", title="a", authorId=0, author=typed("Author", fullName="New"))
    assert (got.author.full_name, got.author.pk) == ("New", None)
    assert queries == []
    Author.objects.create(id=2, full_name="Conrad")
    got = read(codec, "Book", title="a", authorId=2, author=typed("Author", id=1, fullName="H"))
    assert (got.author_id, got.author.full_name) == (2, "Conrad")
    got = read(codec, "Book", title="a", authorId=2, author=typed("Author", fullName="H"))
    assert (got.author_id, got.author.full_name) == (2, "Conrad")


@pytest.mark.parametrize("option", ["exclude", "readonly"])
def test_an_object_does_not_stand_in_for_a_key_that_is_closed(codec: Codec, option: str) -> None:
    classes = ClassRegistry()
    classes.register(Book, "Book", **{option: ["author_id"]})  # type: ignore[arg-type]
    classes.register(Author, "Author")
    sent = typed("Book", title="a", author_id=1, author=typed("Author", id=1, full_name="H"))
    got = codec.loads(codec.dumps(sent), classes=classes)
    assert (got.title, got.author_id, got.author) == ("a", None, None)


def test_moments_are_exact_without_time_zones_too(codec: Codec) -> None:
    with override_settings(USE_TZ=False, TIME_ZONE="Asia/Tokyo"):
        get_default_timezone.cache_clear()
        data = codec.dumps(Key(id=1, at=dt.datetime(2020, 1, 1, 9)), classes=CLASSES)
        assert codec.loads(data, classes=ClassRegistry())["at"] == dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
        assert codec.loads(data, classes=CLASSES).at == dt.datetime(2020, 1, 1, 9)
    get_default_timezone.cache_clear()


def test_relations_to_many_are_not_taken(codec: Codec) -> None:
    got = read(codec, "Book", id=1, tags=[typed("Tag", id=5, word="x")])
    got.save()
    assert [tag.word for tag in got.tags.all()] == ["sea"]


# --- fitted ----------------------------------------------------------------------------------------------------------


def test_members_are_converted_to_what_the_fields_hold(queries: list[str]) -> None:
    call = Calls(Book, CLASSES)
    for sent in (
        typed("Book", title="a", price="1.50", printed=dt.date(2020, 1, 2), stock=3.0),
        {"title": "a", "price": 1.5, "printed": "2020-01-02", "stock": 3},
    ):
        got = call(sent)
        assert (got.price, got.printed, got.stock) == (Decimal("1.5"), dt.date(2020, 1, 2), 3)
        assert type(got.printed) is dt.date
    number = uuid.uuid4()
    got = Calls(Key, CLASSES)(
        typed("Key", id=str(number), lasts=90, data={"a": [1]}, at=dt.datetime(2020, 1, 1, 5, tzinfo=dt.UTC))
    )
    assert (got.id, got.lasts, got.data) == (number, dt.timedelta(seconds=90), {"a": [1]})
    assert queries == []


def test_a_plain_object_becomes_an_instance_with_what_it_holds() -> None:
    got = Calls(Book, CLASSES)({"title": "a", "author": {"fullName": "H", "password": "x"}})
    assert (type(got.author), got.author.full_name, got.author.password) == (Author, "H", "secret")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (typed("Book", title=5), " $.title: expected str, got int"),
        (typed("Book", title=None), " $.title: expected str, got null"),
        (typed("Book", title="a", stock="x"), " $.stock: expected int | null, got str"),
        (typed("Book", title="a", authorId="x"), " $.authorId: expected int | null, got str"),
        (typed("Book", title="a", author=typed("Author", fullName=5)), " $.author.fullName: expected str, got int"),
        (typed("Book", title="a", author=5), " $.author: expected Author, got int"),
        ({"author": {"fullName": []}}, " $.author.fullName: expected str, got array"),
    ],
)
def test_what_does_not_fit_is_a_fault_with_its_path(value: Any, text: str, queries: list[str], caplog: Any) -> None:
    with caplog.at_level("CRITICAL", logger="amfgate"):
        assert Calls(Book, CLASSES).fault(value) == f"argument 'order'{text}"
    assert queries == []


# --- what is known ---------------------------------------------------------------------------------------------------


def test_members_have_the_types_of_fields() -> None:
    plan = CLASSES.plan_for("Book")
    assert plan is not None
    assert {one.name: (one.annotation, one.required, one.readonly, one.default) for one in members_of(plan)} == {
        "id": (int | None, False, False, None),
        "title": (str, True, False, None),
        "authorId": (int | None, False, False, None),
        "author": (Author | None, False, False, None),
        "stock": (int | None, False, False, 5),
        "price": (Decimal | None, False, False, None),
        "printed": (dt.date | None, False, False, None),
        "sold": (int | None, False, True, 0),
        "cover": (str | None, False, True, None),
        "tags": (list[Tag], False, True, None),
    }
    assert CLASSES.describe()[0]["description"] == "Who writes."


def test_an_option_that_names_no_member_is_an_error_at_once() -> None:
    with pytest.raises(ValueError, match="exclude: Tag has no member 'nothing'; it declares id, word"):
        ClassRegistry().register(Tag, "Tag", exclude=["nothing"])


def test_a_child_has_the_fields_and_the_rules_of_its_base(codec: Codec) -> None:
    classes = ClassRegistry()
    classes.register(Book, "Book", exclude=["sold", "cover", "price", "printed"])
    classes.register(Novel, "Novel")
    novel = Novel.objects.create(id=9, title="Mardi")
    data = codec.dumps(Novel.objects.get(id=9), classes=classes)
    found = codec.loads(data, classes=ClassRegistry())
    assert found == {"id": 9, "title": "Mardi", "author_id": None, "stock": 5, "book_ptr_id": 9, "pages": 100}
    got = codec.loads(data, classes=classes)
    got.pages = 200
    got.save()
    novel.refresh_from_db()
    assert (novel.pages, novel.sold) == (200, 0)


@pytest.mark.parametrize("key", ["id", "book_ptr_id"])
@pytest.mark.parametrize("hidden", [[], ["book_ptr_id"], ["id"]])
def test_the_key_of_a_child_with_a_table_of_its_own_has_two_names(codec: Codec, key: str, hidden: list[str]) -> None:
    classes = ClassRegistry()
    classes.register(Novel, "Novel", exclude=hidden)
    novel = Novel.objects.create(title="Emma", stock=9, pages=3)
    sent = codec.dumps(TypedObject("Novel", {key: novel.pk, "pages": 7}))
    if key in hidden:
        assert codec.loads(sent, classes=classes).pk is None
        return
    codec.loads(sent, classes=classes).save()
    assert Novel.objects.values_list("title", "stock", "pages").get(pk=novel.pk) == ("Emma", 9, 7)


@pytest.mark.parametrize("closed", ["id", "book_ptr_id"])
def test_a_key_that_is_closed_is_closed_under_its_other_name(codec: Codec, closed: str) -> None:
    classes = ClassRegistry()
    classes.register(Novel, "Novel", readonly=[closed])
    got = codec.loads(codec.dumps(TypedObject("Novel", {"id": 1, "book_ptr_id": 1})), classes=classes)
    assert (got.id, got.pk) == (None, None)


def test_a_file_that_is_none_travels_as_none(codec: Codec) -> None:
    book = Book(title="Emma")
    for _ in range(2):
        assert codec.loads(codec.dumps(book, classes=CLASSES), classes=ClassRegistry())["cover"] is None
        assert not book.cover  # now it holds a FieldFile
    sent = codec.dumps(Book(title="Emma", cover="emma.png"), classes=CLASSES)
    assert codec.loads(sent, classes=ClassRegistry())["cover"] == "emma.png"


def _stamps() -> Any:
    classes = ClassRegistry()
    classes.register(Stamp, "Stamp")
    return classes


def test_what_django_makes_itself_is_not_required() -> None:
    members = {member.name: member for member in members_of(_stamps().plan_of(Stamp))}
    assert members["side"].required
    assert (members["at"].required, members["at"].readonly) == (False, False)
    if "area" in members:  # since Django 5.0
        assert (members["area"].required, members["area"].readonly) == (False, True)
        assert members["area"].annotation == int | None


def test_an_abstract_model_is_no_table() -> None:
    class Base(models.Model):
        class Meta:
            app_label = "library"
            abstract = True

    classes = ClassRegistry()
    classes.register(Base, "Base")
    assert classes.plan_of(Base).members is None  # type: ignore[union-attr]
