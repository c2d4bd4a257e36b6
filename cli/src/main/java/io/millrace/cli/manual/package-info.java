/** What explains the commands: completion for shells, manual pages, and examples. */
@NullMarked
package io.millrace.cli.manual;

import org.jspecify.annotations.NullMarked;
