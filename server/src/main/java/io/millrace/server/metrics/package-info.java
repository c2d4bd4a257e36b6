/** The figures that {@code /metrics} shows. */
@NullMarked
package io.millrace.server.metrics;

import org.jspecify.annotations.NullMarked;
