"""Classes that are mapped to tables, as value objects: SQLAlchemy's and Django's.

Register the class, as any other; there is nothing to import from here.

    @amfgate.remote_class("com.example.Product", rename="camel", exclude=["margin"], readonly=["created"])
    class Product(Base):                # or models.Model
        __tablename__ = "products"
        id: Mapped[int] = mapped_column(primary_key=True)
        ...

A class travels when it is registered: all its columns do, and which must not is said then (`exclude`).  A client may
set any member that is neither excluded nor read-only, also by way of an object that it refers to.  Where a foreign key
is excluded or read-only, the object that it stands for is not taken either.

**SQLAlchemy.**  Members are the mapped columns and then the relationships.  They are read as Python reads them, so what
is not loaded is loaded, by a query for each instance: load what is to be sent by `selectinload` and the like, and
exclude what is not.  Of an instance without a session that is an EncodeError with the path.  Deferred columns that are
not loaded are `undefined`.  What the database computes (`column_property`, `Computed`) is read-only, and so is the
column that tells subclasses apart, which is set by the class that came.  Relationships with lazy="write_only" are no
members.  What comes in is a new instance outside of any session, set through its attributes, so that both sides of a
relationship agree: `session.merge(order)`, or `session.add(order)` for what is new.  A member that does not come is
not set, and the column's default applies.  A null for a relationship to many is not set either, nor one to a single
object beside a foreign key that is not null: it was not loaded when it was sent.

**Django.**  Members are the concrete fields by `attname` (`author_id`), and beside a foreign key the object itself
(`author`), which travels if it is loaded (`select_related`); of what comes in, the key says what is meant.  Relations
to many travel if they were prefetched, and are not taken from a client; nor are files, which travel as their names.
Reverse relations do not travel.  Deferred fields stay away.  Nothing is queried.  What comes in with a primary key is
like a row of which `only()` loaded what came: `save()` updates that, and anything else is loaded when it is asked for.
Without one it is a new object, with the defaults of its fields.  A child class with a table of its own has its key
twice, as `id` and `book_ptr_id`: either will do, and where one is read-only both are.

Moments are exact.  In a column without a time zone SQLAlchemy's are in UTC, as the codec takes naive ones, and so they
come in; Django's are in the project's TIME_ZONE where USE_TZ is false.

For both, 0 and NaN in a primary key that the database counts, or in a foreign key to one, mean none: an `int` of
ActionScript cannot be null.
"""
