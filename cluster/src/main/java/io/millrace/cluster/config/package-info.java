/** What all members of a cluster go by, which is itself a document. */
@NullMarked
package io.millrace.cluster.config;

import org.jspecify.annotations.NullMarked;
