/** Versioned documents, which are all that the members of a cluster share. */
@NullMarked
package io.millrace.cluster.documents;

import org.jspecify.annotations.NullMarked;
