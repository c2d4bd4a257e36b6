package io.millrace.processes;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The session of processes that a program leads or led. */
record ProcessSession(ProcessIdentity leader, String sh) {

  /**
   * Sends KILL to its groups, one after the other, until none is found that was not sent it. A
   * group as a whole cannot escape by starting others.
   */
  void kill() {
    boolean _ = new ProcessGroup(leader, sh).signal("KILL");
    Set<Long> killed = new HashSet<>(Set.of(leader.pid()));
    try {
      List<Long> found = groups(killed);
      while (!found.isEmpty()) {
        for (long group : found) {
          boolean _ = ProcessGroup.signal(sh, "KILL", group);
        }
        killed.addAll(found);
        found = groups(killed);
      }
    } catch (IOException e) {
      throw new ProcessException("the session " + leader.pid() + " cannot be seen: " + e, e);
    }
  }

  /** Its groups but for these. */
  private List<Long> groups(Set<Long> known) throws IOException {
    // The id of a session is not given to another process while anything of the session lives.
    if (!StartMarks.mayHaveGroup(leader)) {
      return List.of();
    }
    return ProcessStat.all().stream()
        .filter(stat -> stat.isAlive() && stat.session() == leader.pid())
        .map(ProcessStat::group)
        .filter(group -> !known.contains(group))
        .distinct()
        .toList();
  }
}
