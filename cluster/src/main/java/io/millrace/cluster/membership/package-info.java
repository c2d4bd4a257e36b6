/**
 * The members of a cluster. The document {@code members} lists their tokens and workers; it changes
 * only when members join or leave. Their locks show that they are alive: the locks of the
 * partitions that they hold, or {@code member/TOKEN} if they hold none.
 */
@NullMarked
package io.millrace.cluster.membership;

import org.jspecify.annotations.NullMarked;
