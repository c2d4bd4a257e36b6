"""Tests of the package against running servers. MILLRACE_TEST_SERVER is the command line of a server as JSON,
MILLRACE_TEST_FOLDER an empty folder."""

import atexit
import faulthandler

from .support import close_all

# A test that hangs ends the process, which then says where.
faulthandler.dump_traceback_later(480, exit=True)
atexit.register(close_all)
