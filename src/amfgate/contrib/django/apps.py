"""The app that brings `manage.py amfgate`."""

from __future__ import annotations

from django.apps import AppConfig


class AmfgateConfig(AppConfig):
    name = "amfgate.contrib.django"
    label = "amfgate"
    verbose_name = "Flash remoting"
