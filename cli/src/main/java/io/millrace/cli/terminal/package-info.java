/** What all commands share: standard streams, tables, progress, files and exit codes. */
@NullMarked
package io.millrace.cli.terminal;

import org.jspecify.annotations.NullMarked;
