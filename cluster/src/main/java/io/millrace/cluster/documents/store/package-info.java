/** Versioned documents in a task store, in this process or over HTTP. */
@NullMarked
package io.millrace.cluster.documents.store;

import org.jspecify.annotations.NullMarked;
