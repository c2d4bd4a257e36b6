/** Schedules: which times a schedule names, and what runs at each of them. */
@NullMarked
package io.millrace.schedules;

import org.jspecify.annotations.NullMarked;
