/**
 * One member of a cluster: it tries to lead, shows that it lives, and works on partitions.
 *
 * <pre>
 *   MemberLoop   step: the leader's lock, presence, partitions          one thread
 *   Leader       step: while the lock is held                           another: it may call users
 *   attempts     the work itself                                        one thread each
 * </pre>
 */
@NullMarked
package io.millrace.cluster.member;

import org.jspecify.annotations.NullMarked;
