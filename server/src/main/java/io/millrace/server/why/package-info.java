/** Why a piece of work waits, over HTTP under {@code /why}. */
@NullMarked
package io.millrace.server.why;

import org.jspecify.annotations.NullMarked;
