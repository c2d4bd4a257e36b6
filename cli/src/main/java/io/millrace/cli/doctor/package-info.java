/** Checks whether a server can run here as configured. */
@NullMarked
package io.millrace.cli.doctor;

import org.jspecify.annotations.NullMarked;
