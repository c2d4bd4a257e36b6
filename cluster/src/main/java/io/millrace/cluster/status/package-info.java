/** What anybody can see of a cluster who reads its documents. */
@NullMarked
package io.millrace.cluster.status;

import org.jspecify.annotations.NullMarked;
