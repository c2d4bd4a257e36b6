/** The outcome of a lambda, and its document. */
@NullMarked
package io.millrace.cluster.remote.outcome;

import org.jspecify.annotations.NullMarked;
