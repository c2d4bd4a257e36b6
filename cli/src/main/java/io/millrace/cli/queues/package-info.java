/** {@code millrace queues}: the queues of a server; and {@code millrace runner}, for its nodes. */
@NullMarked
package io.millrace.cli.queues;

import org.jspecify.annotations.NullMarked;
