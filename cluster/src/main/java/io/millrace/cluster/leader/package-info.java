/**
 * The leader of a cluster: it removes members that are gone from the list, creates partitions, and
 * removes those that are done.
 *
 * <pre>
 *   holds the lock {@code leader} with fence F
 *     │ generation F begins: members take no older partitions any more
 *     ▼
 *   each round: one listing of partitions, one of members' locks, the list of members
 *     ├─ LivenessTracker     members without a renewed lock for lease and margin ─► out of the list
 *     ├─ AbandonedDocuments  once per lease: reports of members that are gone ─► deleted
 *     ├─ Assigner            windowed:   done ─► completed, deleted; old and free ─► again in F;
 *     │                                  room ─► next tasks
 *     │                      supervised: wait until no old ones are held; then divide once.
 *     │                                  members have changed ─► take the lock with the next fence
 *     │                      remote:     lambdas of the program ─► a partition for one member each
 *     └─ Assignments         planned partitions ─► created
 * </pre>
 */
@NullMarked
package io.millrace.cluster.leader;

import org.jspecify.annotations.NullMarked;
