/** The state of a cluster, and its changes, as its documents show them. */
@NullMarked
package io.millrace.cluster.status;

import org.jspecify.annotations.NullMarked;
