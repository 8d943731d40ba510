"""Classes that SQLAlchemy maps, as value objects."""

from __future__ import annotations

import datetime as dt
import enum
import itertools
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import wsgi_client
from both_twins import Codec
from one_method import Calls
from sqlalchemy import Computed, DateTime, ForeignKey, create_engine, event, select
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    MappedAsDataclass,
    Session,
    WriteOnlyMapped,
    attribute_keyed_dict,
    backref,
    column_property,
    defer,
    mapped_column,
    relationship,
    selectinload,
)

import amfgate
from amfgate import ClassRegistry, EncodeError, TypedObject, undefined
from amfgate.actionscript import generate
from amfgate.members import members_of

H = bytes.fromhex


class Base(DeclarativeBase):
    pass


class Kind(enum.Enum):
    NOVEL = "novel"


# Registered where nobody can know yet what the relationships refer to.
CLASSES = ClassRegistry()


class Author(Base):
    """Who writes."""

    __tablename__ = "authors"
    id: Mapped[int] = mapped_column(primary_key=True)
    full_name: Mapped[str]
    password: Mapped[str] = mapped_column(default="secret")
    books: Mapped[list[Book]] = relationship(back_populates="author", order_by="Book.id")


CLASSES.register(Author, "Author", rename="camel", exclude=["password"])


class Book(Base):
    __tablename__ = "books"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    author_id: Mapped[int | None] = mapped_column(ForeignKey("authors.id"))
    stock: Mapped[int] = mapped_column(default=5)
    printed: Mapped[dt.date | None]
    kind: Mapped[Kind | None]
    text: Mapped[str | None] = mapped_column(deferred=True)
    sold: Mapped[int] = mapped_column(server_default="0")
    author: Mapped[Author | None] = relationship(back_populates="books")


CLASSES.register(Book, "Book", rename="camel", readonly=["sold"])


class Tag(Base):
    __tablename__ = "tags"
    id: Mapped[int] = mapped_column(primary_key=True)
    word: Mapped[str]


CLASSES.register(Tag, "Tag")


class Media(Base):
    __tablename__ = "media"
    id: Mapped[int] = mapped_column(primary_key=True)
    form: Mapped[str]
    __mapper_args__ = {"polymorphic_on": "form", "polymorphic_identity": "media"}


class Film(Media):
    __tablename__ = "films"
    id: Mapped[int] = mapped_column(ForeignKey("media.id"), primary_key=True)
    minutes: Mapped[int]
    __mapper_args__ = {"polymorphic_identity": "film"}


class Shelf(Base):
    __tablename__ = "shelves"
    id: Mapped[int] = mapped_column(primary_key=True)
    boxes: Mapped[set[Box]] = relationship(backref=backref("shelf"))
    labelled: Mapped[dict[str, Box]] = relationship(
        collection_class=attribute_keyed_dict("label"), viewonly=True, foreign_keys="Box.shelf_id"
    )


class Box(Base):
    __tablename__ = "boxes"
    id: Mapped[int] = mapped_column(primary_key=True)
    label: Mapped[str]
    shelf_id: Mapped[int | None] = mapped_column(ForeignKey("shelves.id"))


class Event(Base):
    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[dt.datetime]
    zoned: Mapped[dt.datetime] = mapped_column(DateTime(timezone=True))


class Point(MappedAsDataclass, Base):
    __tablename__ = "points"
    id: Mapped[int] = mapped_column(init=False, primary_key=True)
    x: Mapped[int] = mapped_column(default=3)


class Square(Base):
    __tablename__ = "squares"
    id: Mapped[int] = mapped_column(primary_key=True)
    side: Mapped[int] = mapped_column()
    area: Mapped[int] = mapped_column(Computed("side * side"))
    double: Mapped[int] = column_property(side + side)
    inner: WriteOnlyMapped[Inner] = relationship()


class Inner(Base):
    __tablename__ = "inner"
    id: Mapped[int] = mapped_column(primary_key=True)
    side: Mapped[int]
    square_id: Mapped[int | None] = mapped_column(ForeignKey("squares.id"))
    inside_id: Mapped[int | None] = mapped_column(ForeignKey("inner.id"))
    inside: Mapped[Inner | None] = relationship(remote_side=[id])


@pytest.fixture
def session() -> Iterator[Session]:
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        melville = Author(id=1, full_name="Herman Melville")
        melville.books = [Book(id=1, title="Typee", text="..."), Book(id=2, title="Omoo", kind=Kind.NOVEL)]
        session.add(melville)
        session.commit()
        session.expunge_all()
        yield session
    engine.dispose()


@pytest.fixture
def statements(session: Session) -> list[str]:
    found: list[str] = []
    event.listen(session.get_bind(), "before_cursor_execute", lambda *a: found.append(a[2]))
    return found


def received(codec: Codec, value: Any, **options: Any) -> Any:
    """What arrives of a value: plain typed objects."""
    return codec.loads(codec.dumps(value, classes=CLASSES), classes=ClassRegistry(), **options)


def author(**members: Any) -> TypedObject:
    return TypedObject("Author", members)


def book(**members: Any) -> TypedObject:
    return TypedObject("Book", members)


# --- out -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "data"),
    [
        (3, "0A 23 07 546167 05 6964 09 776F7264 04 07 06 03 78"),
        (0, "10 0003 546167 0002 6964 00 401C000000000000 0004 776F7264 02 0001 78 000009"),
    ],
)
def test_the_columns_travel(codec: Codec, version: int, data: str) -> None:
    assert codec.dumps(Tag(id=7, word="x"), version=version, classes=CLASSES) == H(data)


def test_columns_and_relationships_are_renamed_and_excluded(codec: Codec, session: Session) -> None:
    found = received(codec, session.get_one(Author, 1, options=[selectinload(Author.books)]))
    assert found.sealed == ("id", "fullName", "books")
    assert found["fullName"] == "Herman Melville"
    assert found["books"][0].sealed == (
        *("id", "title", "authorId", "stock", "printed", "kind", "text", "sold", "author"),
    )
    assert [one["title"] for one in found["books"]] == ["Typee", "Omoo"]
    assert [one["kind"] for one in found["books"]] == [None, "novel"]
    assert found["books"][0]["author"] is found


def test_what_is_not_loaded_is_loaded(codec: Codec, session: Session, statements: list[str]) -> None:
    found = received(codec, session.get_one(Book, 1))
    assert found["author"]["fullName"] == "Herman Melville"
    assert [one["title"] for one in found["author"]["books"]] == ["Typee", "Omoo"]
    assert len(statements) == 3


def test_what_was_expired_by_a_commit_is_read_again(codec: Codec, session: Session) -> None:
    tag = Tag(id=1, word="x")
    session.add(tag)
    session.commit()
    assert received(codec, tag) == {"id": 1, "word": "x"}


def test_a_deferred_column_that_is_not_loaded_is_undefined(
    codec: Codec, session: Session, statements: list[str]
) -> None:
    session.add(Book(id=3, title="Anon", text="..."))
    session.flush()
    session.expunge_all()
    anon = session.scalars(select(Book).where(Book.id == 3).options(defer(Book.title))).one()
    statements.clear()
    found = received(codec, anon)
    assert (found["text"], found["title"], found["stock"], statements) == (undefined, undefined, 5, [])
    assert anon.text == "..."
    assert received(codec, anon)["text"] == "..."


@pytest.mark.parametrize("version", [0, 3])
def test_what_cannot_be_loaded_is_an_error_with_its_path(codec: Codec, session: Session, version: int) -> None:
    typee = session.get_one(Book, 1)
    session.expunge_all()
    with pytest.raises(EncodeError, match="DetachedInstanceError") as caught:
        codec.dumps([typee], version=version, classes=CLASSES)
    assert caught.value.path == "$[0]"


def test_a_class_that_nobody_registered_does_not_travel(codec: Codec) -> None:
    with pytest.raises(EncodeError, match=r"cannot encode Tag at \$: register its class"):
        codec.dumps(Tag(id=1, word="x"), classes=ClassRegistry())


def test_other_attributes_travel_with_a_dynamic_class(codec: Codec) -> None:
    classes = ClassRegistry()
    classes.register(Tag, "Tag", dynamic=True)
    data = H("0A 2B 07 546167 05 6964 09 776F7264 04 07 06 03 78 07 6F6464 04 01 01")
    tag = codec.loads(data, classes=classes)
    assert (tag.id, tag.word, tag.odd) == (7, "x", 1)
    assert codec.dumps(tag, classes=classes) == data


@pytest.mark.parametrize("name", ["_sa_instance_state", "metadata", "registry", "__class__", "__dict__"])
def test_no_member_hides_what_the_class_has(codec: Codec, name: str) -> None:
    classes = ClassRegistry()
    classes.register(Tag, "Tag", dynamic=True)
    data = codec.dumps(TypedObject("Tag", {"word": "x", name: 1}))
    tag = codec.loads(data, classes=classes)
    assert tag.word == "x" and set(vars(tag)) == {"_sa_instance_state", "word"}
    assert not isinstance(getattr(tag, name), int)


# --- in --------------------------------------------------------------------------------------------------------------


def test_what_comes_is_an_instance_outside_of_a_session(codec: Codec) -> None:
    got = codec.loads(codec.dumps(author(id=1, fullName="H. M.", password="x", books=[])), classes=CLASSES)
    assert (type(got), got.id, got.full_name, got.password, got.books) == (Author, 1, "H. M.", None, [])
    assert got._sa_instance_state.transient


def test_both_sides_of_a_relationship_agree(codec: Codec) -> None:
    got = codec.loads(codec.dumps(author(books=[book(title="Typee"), book(title="Omoo")])), classes=CLASSES)
    assert [one.author is got for one in got.books] == [True, True]
    first = book(title="Typee")
    first["author"] = author(books=[first])
    got = codec.loads(codec.dumps(first), classes=CLASSES)
    assert got.author.books == [got]


def test_what_came_can_be_merged(session: Session) -> None:
    sent = author(id=1, fullName="Melville", books=[book(id=1, title="TYPEE", sold=99), book(title="Mardi", id=0)])
    session.merge(Calls(Author, CLASSES)(sent))
    session.commit()
    found = session.scalars(select(Book).order_by(Book.id)).all()
    assert [(one.title, one.author_id, one.stock, one.sold) for one in found] == [
        ("TYPEE", 1, 5, 0),
        ("Omoo", None, 5, 0),
        ("Mardi", 1, 5, 0),
    ]
    assert session.get_one(Author, 1).password == "secret"


def test_what_came_can_be_added_and_gets_the_defaults_of_its_columns(session: Session) -> None:
    got = Calls(Author, CLASSES)(author(id=None, fullName="Conrad", books=[book(title="Nostromo")]))
    session.add(got)
    session.commit()
    assert (got.id, got.password, got.books[0].stock, got.books[0].author_id) == (2, "secret", 5, 2)


@pytest.mark.parametrize("key", [0, None, float("nan"), undefined])
def test_a_key_that_is_counted_is_none_where_there_is_none(codec: Codec, key: Any) -> None:
    assert codec.loads(codec.dumps(TypedObject("Tag", {"id": key})), classes=CLASSES).id is None
    assert codec.loads(codec.dumps(book(id=1, authorId=key)), classes=CLASSES).author_id is None


def test_a_null_that_stands_for_what_was_not_loaded_unlinks_nothing(codec: Codec, session: Session) -> None:
    sent = book(id=1, title="Typee", authorId=1, author=None)
    session.merge(codec.loads(codec.dumps(sent), classes=CLASSES))
    session.merge(codec.loads(codec.dumps(author(id=1, books=None, fullName="H")), classes=CLASSES))
    session.commit()
    assert [one.author_id for one in session.scalars(select(Book))] == [1, 1]
    session.merge(codec.loads(codec.dumps(book(id=1, title="Typee", authorId=None, author=None)), classes=CLASSES))
    session.commit()
    assert [one.author_id for one in session.scalars(select(Book).order_by(Book.id))] == [None, 1]


@pytest.mark.parametrize("option", ["exclude", "readonly"])
def test_an_object_does_not_stand_in_for_a_key_that_is_closed(codec: Codec, option: str) -> None:
    classes = ClassRegistry()
    classes.register(Book, "Book", **{option: ["author_id"]})  # type: ignore[arg-type]
    classes.register(Author, "Author")
    data = codec.dumps(book(title="a", author_id=1, author=author(id=1, full_name="M")))
    got = codec.loads(data, classes=classes)
    assert (got.title, got.author_id, got.author) == ("a", None, None)


def test_moments_without_a_time_zone_are_in_utc(codec: Codec, session: Session) -> None:
    classes = ClassRegistry()
    classes.register(Event, "Event")
    data = codec.dumps(
        Event(id=1, at=dt.datetime(2020, 1, 1, 5), zoned=dt.datetime(2020, 1, 1, 5, tzinfo=dt.UTC)), classes=classes
    )
    got = codec.loads(data, classes=classes)
    assert (got.at, got.zoned) == (dt.datetime(2020, 1, 1, 5), dt.datetime(2020, 1, 1, 5, tzinfo=dt.UTC))
    assert codec.dumps(got, classes=classes) == data


def test_a_graph_that_was_sent_comes_back_as_it_was(codec: Codec, session: Session) -> None:
    melville = session.get_one(Author, 1, options=[selectinload(Author.books)])
    got = codec.loads(codec.dumps(melville, classes=CLASSES), classes=CLASSES)
    assert [one.title for one in got.books] == ["Typee", "Omoo"]
    assert got.books[0].author is got and got is not melville


def test_a_value_that_is_no_object_of_the_relation_is_refused(codec: Codec) -> None:
    with pytest.raises(amfgate.DecodeError, match=r"Author \('Author'\) could not be filled"):
        codec.loads(codec.dumps(author(books=[5])), classes=CLASSES)


# --- fitted ----------------------------------------------------------------------------------------------------------


def test_members_are_converted_to_what_is_mapped() -> None:
    got = Calls(Book, CLASSES)(book(title="Typee", printed=dt.date(2020, 1, 2), kind="novel", stock=3.0))
    assert (got.printed, got.kind, got.stock) == (dt.date(2020, 1, 2), Kind.NOVEL, 3)
    assert type(got.printed) is dt.date


def test_a_plain_object_becomes_an_instance_with_all_that_it_holds() -> None:
    got = Calls(Author, CLASSES)(
        {"fullName": "M", "password": "x", "books": [{"title": "Typee", "kind": "novel"}, book(title="O")]}
    )
    assert (type(got), got.full_name, got.password) == (Author, "M", None)
    assert [(one.title, one.kind, one.author is got) for one in got.books] == [
        ("Typee", Kind.NOVEL, True),
        ("O", None, True),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (book(title=5), " $.title: expected str, got int"),
        (book(title=None), " $.title: expected str, got null"),
        (book(title="a", kind="x"), " $.kind: invalid enum value 'x'"),
        (book(title="a", stock="x"), " $.stock: expected int | null, got str"),
        (
            book(title="a", author=author(fullName="a", books=[book(title=[])])),
            " $.author.books[0].title: expected str, got array",
        ),
        ({"title": "a", "author": {"fullName": 5}}, " $.author.fullName: expected str, got int"),
        ({"title": "a", "author": 5}, " $.author: expected Author, got int"),
        (author(), ": expected Book, got Author"),
    ],
)
def test_what_does_not_fit_is_a_fault_with_its_path(value: Any, text: str, caplog: Any) -> None:
    with caplog.at_level("CRITICAL", logger="amfgate"):
        assert Calls(Book, CLASSES).fault(value) == f"argument 'order'{text}"


def test_fitting_loads_nothing(session: Session, statements: list[str]) -> None:
    call = Calls(Any, CLASSES)
    typee = session.get_one(Book, 1)
    statements.clear()
    from amfgate.fitting import Fitting

    fitting = Fitting(CLASSES)
    fitting.meet(typee, None)
    fitting.run()
    assert statements == [] and call.got == []


# --- what is known ---------------------------------------------------------------------------------------------------


def test_members_have_the_types_of_columns_and_relationships() -> None:
    plan = CLASSES.plan_for("Book")
    assert plan is not None
    assert {one.name: (one.annotation, one.required, one.readonly, one.default) for one in members_of(plan)} == {
        "id": (int | None, False, False, None),
        "title": (str, True, False, None),
        "authorId": (int | None, False, False, None),
        "stock": (int | None, False, False, 5),
        "printed": (dt.date | None, False, False, None),
        "kind": (Kind | None, False, False, None),
        "text": (str | None, False, False, None),
        "sold": (int | None, False, True, None),
        "author": (Author | None, False, False, None),
    }
    assert CLASSES.describe()[0]["description"] == "Who writes."
    assert CLASSES.describe()[0]["members"][2]["name"] == "books"


def test_an_option_that_names_no_member_is_an_error_when_the_class_is_first_used() -> None:
    classes = ClassRegistry()
    classes.register(Tag, "Tag", exclude=["nothing"])
    with pytest.raises(ValueError, match="exclude: Tag has no member 'nothing'; it declares id, word"):
        classes.plan_of(Tag)


def test_a_child_class_has_the_columns_of_its_base(codec: Codec) -> None:
    classes = ClassRegistry()
    classes.register(Media, "Media", exclude=["form"])
    classes.register(Film, "Film")
    data = codec.dumps(Film(id=1, minutes=90), classes=classes)
    assert codec.loads(data, classes=ClassRegistry()) == {"id": 1, "minutes": 90}
    got = codec.loads(data, classes=classes)
    assert (type(got), got.minutes) == (Film, 90)
    assert classes.describe()[0]["base"] == "Media"


@pytest.mark.parametrize("form", [{}, {"form": "media"}])
def test_the_class_that_came_says_what_tells_it_apart(codec: Codec, session: Session, form: dict[str, str]) -> None:
    classes = ClassRegistry()
    classes.register(Media, "Media")
    classes.register(Film, "Film")
    got = codec.loads(codec.dumps(TypedObject("Film", {"minutes": 90, **form})), classes=classes)
    session.add(got)
    session.commit()
    assert session.scalars(select(Media)).one().form == "film"


def test_what_the_database_computes_is_sent_and_not_taken(codec: Codec, session: Session) -> None:
    classes = ClassRegistry()
    classes.register(Square, "S")
    square = Square(side=2)
    session.add(square)
    session.commit()
    data = codec.dumps(square, classes=classes)
    assert codec.loads(data, classes=ClassRegistry()) == {"id": 1, "side": 2, "area": 4, "double": 4}
    assert vars(codec.loads(data, classes=classes)).keys() - {"_sa_instance_state"} == {"id", "side"}


def test_a_relationship_that_can_only_be_written_is_no_member(codec: Codec, session: Session) -> None:
    classes = ClassRegistry()
    classes.register(Square, "S")
    assert [one["name"] for one in classes.describe()[0]["members"]] == ["double", "id", "side", "area"]


def test_a_chain_of_plain_objects_that_is_too_long_is_a_fault(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "amfgate")
    nodes: list[Any] = [{"side": 1} for _ in range(5000)]
    for node, following in itertools.pairwise(nodes):
        following["inside"] = node

    def method(others: Any, inner: Inner) -> None: ...

    classes = ClassRegistry()
    classes.register(Inner, "I")
    reply = wsgi_client.call(amfgate.Gateway(None, {"f": method}, classes=classes), "f", nodes, nodes[-1], version=3)
    assert reply.value["description"] == "f: argument 'inner': it nests too deep, or contains itself"


def test_collections_are_of_the_kind_that_the_relationship_has(codec: Codec) -> None:
    classes = ClassRegistry()
    classes.register(Shelf, "Shelf")
    classes.register(Box, "Box")
    assert classes.plan_for("Box").names == ("id", "label", "shelf_id", "shelf")  # type: ignore[union-attr]
    assert [one["readonly"] for one in classes.describe()[1]["members"]] == [False, False, True]
    sent = TypedObject("Shelf", {"boxes": [TypedObject("Box", {"label": "a"})], "labelled": {"x": 1}})
    got = codec.loads(codec.dumps(sent), classes=classes)
    (box,) = got.boxes
    assert (type(got.boxes).__mro__[1], box.label, box.shelf is got) == (set, "a", True)
    assert codec.loads(codec.dumps(got, classes=classes), classes=ClassRegistry())["boxes"][0]["label"] == "a"


def test_the_generator_writes_mapped_classes_with_keys_that_are_counted() -> None:
    classes = ClassRegistry()
    classes.register(Author, "com.shop.Author", rename="camel", exclude=["password"])
    classes.register(Book, "com.shop.Book", rename="camel")
    files = generate(classes).files
    assert """public class Author
{
    /** int | None */
    public var id:Object;

    public var fullName:String;

    /** list[Book] | None */
    [ArrayElementType("com.shop.Book")]
    public var books:Array;
}""" in files["com/shop/Author.as"]
    assert "    public var author:Author;\n" in files["com/shop/Book.as"]


def test_a_mapped_dataclass_is_a_mapped_class(codec: Codec, session: Session) -> None:
    classes = ClassRegistry()
    classes.register(Point, "P")
    data = H("0A 23 03 50 05 6964 03 78 04 00 04 05")
    got = codec.loads(data, classes=classes)
    assert (got.id, got.x, got._sa_instance_state.transient) == (None, 5, True)
    session.add(got)
    session.commit()
    assert codec.dumps(got, classes=classes) == H("0A 23 03 50 05 6964 03 78 04 01 04 05")
