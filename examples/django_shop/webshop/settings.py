"""A project as `startproject` makes it, without pages and templates."""

import os
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent

SECRET_KEY = os.environ.get("SECRET_KEY", "an example's key, which everybody knows")
DEBUG = os.environ.get("DEBUG") == "1"
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "amfgate.contrib.django",  # for `manage.py amfgate`
    "catalog",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]

ROOT_URLCONF = "webshop.urls"
WSGI_APPLICATION = "webshop.wsgi.application"

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("DATABASE", BASE / "shop.sqlite3"),
        "ATOMIC_REQUESTS": True,  # for views, and for each call
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"

AMFGATE = {
    "PATH": "/amf",
    "LIMITS": {"max_body": 1 << 20},
}
