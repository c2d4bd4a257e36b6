/** What commands share: where they read and write, tables, exit codes. */
@NullMarked
package io.millrace.cli.terminal;

import org.jspecify.annotations.NullMarked;
