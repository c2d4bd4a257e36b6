package io.millrace.cluster.status;

import io.millrace.cluster.lock.PartitionTask;
import org.jspecify.annotations.Nullable;

/**
 * A partition as its document shows it.
 *
 * @param id its name without {@code partition/}
 * @param holder the token of the member that works on it, or did it where it is done; null for
 *     nobody
 * @param expireMillis when the lease ends by the holder's clock, in milliseconds since 1970; 0
 *     where nobody works on it
 * @param state outstanding, which with a holder means in progress, or done: then the leader has not
 *     removed it yet
 * @param fence the fence of its last holder
 */
public record PartitionView(
    String id, @Nullable String holder, long expireMillis, PartitionTask.State state, long fence) {}
