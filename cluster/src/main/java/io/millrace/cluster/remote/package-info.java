/**
 * Remote work: the leader's program sends lambdas to members, and gets their outcomes.
 *
 * <pre>
 *   the leader's program (RemoteWork)            a member
 *     │ idleMembers, RemoteMember.submit           │ LambdaAdmission: accepts lambdas that are addressed to it,
 *     ▼                                            ▼   signed, and not begun before
 *   partition/GENERATION-NUMBER  ── the sealed lambda, for one member and this name only ──► run once
 *     ▲                                            │
 *     │ read, then both removed                    ▼
 *   result/GENERATION-NUMBER  ◄── its result or failure; then the partition is done
 * </pre>
 */
@NullMarked
package io.millrace.cluster.remote;

import org.jspecify.annotations.NullMarked;
