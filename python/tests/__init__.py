"""Tests of the package against running servers. MILLRACE_TEST_SERVER is the command line of a server as JSON,
MILLRACE_TEST_FOLDER an empty folder."""

import atexit

from .support import close_all

atexit.register(close_all)
