"""The project as a WSGI application, with its services in front."""

import os

from django.core.wsgi import get_wsgi_application

from amfgate.contrib.django import gateway

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webshop.settings")

application = gateway(get_wsgi_application())
