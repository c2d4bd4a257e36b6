/**
 * The members of a cluster. The document {@code members} lists their tokens and workers; it does
 * not change while they live. Their locks show that they live: those of the partitions that they
 * hold, or {@code member/TOKEN} if they hold none.
 */
@NullMarked
package io.millrace.cluster.membership;

import org.jspecify.annotations.NullMarked;
