/** The log of a process: its level and format, and the lines of its start and stop. */
@NullMarked
package io.millrace.cli.log;

import org.jspecify.annotations.NullMarked;
