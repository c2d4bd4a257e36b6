/**
 * Objects that users' code shares through the documents of a cluster: named locks, semaphores and
 * status reporters. All of them are serializable, so that a lambda can take them to another member.
 * There they find the documents by {@link io.millrace.cluster.member.Member#current}.
 *
 * <pre>
 *   NamedLock, ClusterSemaphore   a name; users may have any number of copies
 *     │ guard(code)
 *   GuardedSection                waits in the member's WaitingLine, whose first thread tries to
 *     │                           acquire the lock or a permit (FairAcquirer, which joins the
 *     │                           WaitingQueue of all members); then runs the code. A thread
 *     │                           beside it renews the lease; a timer interrupts the code when the
 *     │                           lease has ended
 *   StatusReporter.Writer         writes the newest report, at most one a second
 *
 *   SharedState                   what all copies in one member share
 * </pre>
 */
@NullMarked
package io.millrace.cluster.shared;

import org.jspecify.annotations.NullMarked;
