/**
 * Remote work: the leader has lambdas run by members, and hears what came of them.
 *
 * <pre>
 *   the leader's program (RemoteWork)            a member
 *     │ Crew.idleMembers, CrewMember.submit        │ takes the partitions that are addressed to it
 *     ▼                                            ▼
 *   partition/GENERATION-NUMBER  ── the sealed lambda, for one member and this name only ──► run once
 *     ▲                                            │
 *     │ read, then both removed                    ▼
 *   result/GENERATION-NUMBER  ◄── what it returned, or how it failed; then the partition is done
 * </pre>
 */
@NullMarked
package io.millrace.cluster.remote;

import org.jspecify.annotations.NullMarked;
