/** What the documents of a cluster show. */
@NullMarked
package io.millrace.cluster.status;

import org.jspecify.annotations.NullMarked;
