/** {@code millrace queues}: the queues of a server. */
@NullMarked
package io.millrace.cli.queues;

import org.jspecify.annotations.NullMarked;
