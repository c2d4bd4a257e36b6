/**
 * {@code millrace queues}, {@code nodes} and {@code config}, and {@code millrace runner}, which
 * execution nodes start.
 */
@NullMarked
package io.millrace.cli.queues;

import org.jspecify.annotations.NullMarked;
