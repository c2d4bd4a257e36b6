package io.millrace.queues;

import io.millrace.store.Owner;
import io.millrace.store.TaskRef;

/**
 * The claim of a run. Whoever knows it may act for its owner.
 *
 * @param client the client id that owns the kernel task, drawn for this claim alone
 * @param origin the first id of the kernel task
 * @param token the fencing token: larger for a later run of the same task
 */
public record RunClaim(long client, long origin, long token) {
  Owner owner() {
    return Owner.client(client);
  }

  TaskRef ref() {
    return TaskRef.origin(origin);
  }
}
