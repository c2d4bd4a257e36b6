/**
 * Who belongs to a cluster. The document {@code members} lists tokens and workers; nothing in it
 * changes while members live. That they do, their locks show: those of the partitions that they
 * hold, or {@code member/TOKEN} where they hold none.
 */
@NullMarked
package io.millrace.cluster.membership;

import org.jspecify.annotations.NullMarked;
