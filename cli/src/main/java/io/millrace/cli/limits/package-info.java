/** The commands on limits that queues share. */
@NullMarked
package io.millrace.cli.limits;

import org.jspecify.annotations.NullMarked;
