#!/usr/bin/env python
"""The commands of the project: `migrate`, `stock`, `amfgate`, `runserver`."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webshop.settings")
    execute_from_command_line(sys.argv)
