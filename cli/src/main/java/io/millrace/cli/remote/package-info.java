/** What commands that call a server share: its address, error handling, arguments and waiting. */
@NullMarked
package io.millrace.cli.remote;

import org.jspecify.annotations.NullMarked;
