/**
 * One member of a cluster: it competes for the lead, shows that it is alive, and works on
 * partitions.
 *
 * <pre>
 *   MemberLoop   step: the leader's lock, registration, partitions      one thread
 *   Leader       step: while the lock is held                           another one: it may call users' code
 *   attempts     the work itself                                        one thread each
 * </pre>
 */
@NullMarked
package io.millrace.cluster.member;

import org.jspecify.annotations.NullMarked;
