/** The command line: {@code millrace} and all of its commands. */
@NullMarked
package io.millrace.cli;

import org.jspecify.annotations.NullMarked;
