/** The commands on schedules. */
@NullMarked
package io.millrace.cli.schedules;

import org.jspecify.annotations.NullMarked;
