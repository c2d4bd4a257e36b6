/**
 * What the leader of a cluster does: it takes members out of the list that are gone, makes
 * partitions and removes those that are done.
 *
 * <pre>
 *   holds the lock {@code leader} with fence F
 *     │ generation F begins: nobody takes older partitions any more
 *     ▼
 *   each turn: one listing of partitions, one of members' locks, the list of members
 *     ├─ Absences   who has shown no living lock for lease and margin ─► out of the list
 *     ├─ LeftReports   once in a lease: reports of those who are gone ─► deleted
 *     └─ Handout    windowed:   done ─► completed, deleted; old and free ─► made anew in F;
 *                               room ─► next tasks
 *                   supervised: as long as old ones are held, wait; then partition once.
 *                               members have changed ─► ask for the next fence
 *                   remote:     what a program submits ─► a partition for one member each
 * </pre>
 */
@NullMarked
package io.millrace.cluster.leader;

import org.jspecify.annotations.NullMarked;
