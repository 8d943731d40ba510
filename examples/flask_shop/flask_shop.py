"""A shop: Flask, SQLAlchemy, Flask-Login, and services for Flash programs."""

from __future__ import annotations

from flask import Flask, current_app, g
from flask_login import LoginManager, UserMixin, current_user, login_user, logout_user
from sqlalchemy import ForeignKey, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sqlalchemy.pool import StaticPool
from werkzeug.security import check_password_hash, generate_password_hash

import amfgate
from amfgate.contrib.flask import Amf

amf = Amf()
logins = LoginManager()


class Base(DeclarativeBase):
    pass


class Product(Base):
    __tablename__ = "product"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    price: Mapped[float]
    stock: Mapped[int]


class Customer(UserMixin, Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    password: Mapped[str]
    role: Mapped[str] = mapped_column(default="customer")

    @property
    def roles(self) -> tuple[str, ...]:
        """What `@amfgate.requires("clerk")` looks at."""
        return (self.role,)


class Order(Base):
    __tablename__ = "purchase"
    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customer.id"))
    product_id: Mapped[int] = mapped_column(ForeignKey("product.id"))
    amount: Mapped[int]
    product: Mapped[Product] = relationship()


def db() -> Session:
    """The request's session, made when it is first asked for and closed with the request."""
    if "db" not in g:
        g.db = Session(current_app.extensions["engine"])
    return g.db


def close_db(error: BaseException | None) -> None:
    if "db" in g:
        g.pop("db").close()


@logins.user_loader
def load_customer(number: str) -> Customer | None:
    return db().get(Customer, int(number))


@amf.service("catalog")
class Catalog:
    def products(self) -> amfgate.Rows:
        """What there is, by name."""
        found = db().execute(select(Product.id, Product.name, Product.price, Product.stock).order_by(Product.name))
        return amfgate.Rows(list(found.keys()), [tuple(row) for row in found])

    @amfgate.requires("clerk")
    def reprice(self, number: int, price: float) -> float:
        """Give a product another price."""
        product = db().get_one(Product, number)
        product.price = price
        db().commit()
        return product.price


@amf.service("account")
class Account:
    def enter(self, name: str, password: str) -> str:
        """Log in; the session's cookie goes out with the reply, and comes back with each call."""
        customer = db().scalar(select(Customer).filter_by(name=name))
        if not check_password_hash(customer.password if customer else NOBODY, password):
            raise amfgate.Fault("Client.Authentication", "the name or the password is wrong")
        login_user(customer)
        return name

    def leave(self) -> None:
        """Log out."""
        logout_user()

    def who(self) -> str | None:
        """The name of who is logged in, or null."""
        return current_user.name if current_user.is_authenticated else None


@amf.service("orders")
class Orders:
    @amfgate.requires()
    def buy(self, number: int, amount: int = 1) -> int:
        """Order a product."""
        product = db().get(Product, number, with_for_update=True)
        if product is None or product.stock < amount:
            raise amfgate.Fault("Shop.SoldOut", "there are not that many")
        product.stock -= amount
        order = Order(customer_id=current_user.id, product=product, amount=amount)
        db().add(order)
        db().commit()
        return order.id

    @amfgate.requires()
    def mine(self) -> list[dict]:
        """The orders of who is logged in, the latest first."""
        found = db().scalars(select(Order).filter_by(customer_id=current_user.id).order_by(Order.id.desc()))
        return [{"id": order.id, "amount": order.amount, "product": order.product.name} for order in found]


NOBODY = generate_password_hash("")  # as slow to compare as a real one


def create_app(config: dict | None = None) -> Flask:
    app = Flask(__name__)
    app.config.update(SECRET_KEY="an example's key, which everybody knows", SESSION_COOKIE_SAMESITE="Lax")
    app.config.update(config or {})
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    app.extensions["engine"] = engine
    stock(engine)
    app.teardown_appcontext(close_db)
    logins.init_app(app)
    amf.init_app(app)

    @app.get("/")
    def home() -> str:
        return "A shop. Programs call its services at /amf.\n"

    return app


def stock(engine) -> None:
    """Something to sell, and somebody to buy it."""
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        for name, price, number in [("Brass sextant", 149.5, 3), ("Hand lens", 12.25, 40), ("Plumb line", 9.99, 12)]:
            session.add(Product(name=name, price=price, stock=number))
        for name, role in [("ada", "customer"), ("grace", "clerk")]:
            session.add(Customer(name=name, password=generate_password_hash("sextant"), role=role))
        session.commit()
