package io.millrace.queues;

import org.jspecify.annotations.Nullable;

/**
 * A queue task under way: claimed by a node, or running. There is a document for each, so that the
 * tasks under way are found without looking at those that wait.
 *
 * @param task the queue task
 * @param queue its queue
 * @param node the node that claimed it
 * @param claim the claim in the kernel
 * @param status {@link Status#CLAIMED} or {@link Status#RUNNING}
 * @param runner the identity of the process that runs it, as {@link
 *     io.millrace.processes.ProcessIdentity} writes it; null while none does
 * @param sinceMillis when it reached its status, in milliseconds since the epoch
 * @param version the version of its document
 */
public record Run(
    ObjectId task,
    ObjectId queue,
    String node,
    RunClaim claim,
    int status,
    @Nullable String runner,
    long sinceMillis,
    long version) {}
