package io.millrace.cluster.remote;

/**
 * A program that has members work for it. It runs on whichever member leads, and begins anew from
 * the documents wherever another comes to lead.
 *
 * <pre>{@code
 * crew -> {
 *   Backlog files = crew.backlog("files");
 *   while (true) {
 *     List<CrewMember> idle = crew.idleMembers();
 *     files.add(namesOf(folder));
 *     Iterator<String> next = files.take(idle.size(), Duration.ofSeconds(1)).iterator();
 *     for (CrewMember member : idle) {
 *       if (next.hasNext()) {
 *         String file = next.next();
 *         member.submit(() -> { download(file); Backlogs.named("files").commit(file); return null; })
 *             .onFailureOrTimeout(() -> { member.markDead(); files.reEnqueue(file); });
 *       }
 *     }
 *   }
 * }
 * }</pre>
 */
@FunctionalInterface
public interface RemoteWork {
  /**
   * Leads. Runs on a thread of its own, where {@code Member.current()} is the leader and {@code
   * Member.guard()} the proof that it leads. The thread is interrupted when that is over.
   *
   * <p>A program that returns is over as long as this member leads without a break: what it has
   * submitted goes on, and handlers run. The next leader runs it again.
   *
   * @throws Exception where it failed: after a lease the leader begins a generation of its own, in
   *     which the program runs again
   */
  void lead(Crew crew) throws Exception;
}
