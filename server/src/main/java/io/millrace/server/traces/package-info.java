/** Traces of submitted work, sent to a collector by OpenTelemetry's protocol. */
@NullMarked
package io.millrace.server.traces;

import org.jspecify.annotations.NullMarked;
