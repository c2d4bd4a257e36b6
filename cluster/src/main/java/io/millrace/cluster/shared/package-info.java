/**
 * What users' code shares over the documents of a cluster: locks by name, semaphores, and reports
 * on how work goes. All of it can be serialized, so that a lambda carries it to another member;
 * there it finds the documents by {@link io.millrace.cluster.member.Member#current}.
 *
 * <pre>
 *   NamedLock, ClusterSemaphore     a name; users have as many copies as they like
 *     │ guard(code)
 *   Gate ── Anteroom                threads of one member wait in a row: the first one tries
 *     │                             for the lock, as a {@link io.millrace.cluster.lock.Contest}
 *   Stay                            runs the code; one thread beside it renews the lease, and
 *                                   another interrupts the code when it has ended
 *   StatusReporter ── Reporting     the newest report; a thread writes it, once in a second at most
 *
 *   Commons                         what the copies in one member have in common
 * </pre>
 */
@NullMarked
package io.millrace.cluster.shared;

import org.jspecify.annotations.NullMarked;
