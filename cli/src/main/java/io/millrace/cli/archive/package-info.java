/** Commands on archived work. */
@NullMarked
package io.millrace.cli.archive;

import org.jspecify.annotations.NullMarked;
