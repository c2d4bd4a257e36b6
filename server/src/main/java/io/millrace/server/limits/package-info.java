/** The limits that queues share, over HTTP under {@code /limits}. */
@NullMarked
package io.millrace.server.limits;

import org.jspecify.annotations.NullMarked;
