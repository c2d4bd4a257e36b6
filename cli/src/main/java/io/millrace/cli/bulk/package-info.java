/** Commands on bulk actions. */
@NullMarked
package io.millrace.cli.bulk;

import org.jspecify.annotations.NullMarked;
