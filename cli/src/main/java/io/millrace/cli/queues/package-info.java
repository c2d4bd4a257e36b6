/** Commands of queues, execution nodes and task runners. */
@NullMarked
package io.millrace.cli.queues;

import org.jspecify.annotations.NullMarked;
