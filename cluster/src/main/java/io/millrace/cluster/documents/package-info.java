/** Versioned documents, the only thing that members of a cluster share. */
@NullMarked
package io.millrace.cluster.documents;

import org.jspecify.annotations.NullMarked;
