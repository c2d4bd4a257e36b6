package io.millrace.cluster.leader;

import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Peer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which members are gone: those in the list of whom no living lock was seen for lease and margin. A
 * member that has just come into the list has that long to take its first. Pure but for its memory;
 * used by one thread.
 */
final class Absences {
  private final LeaseTerms terms;
  private final Map<String, Long> lastSign = new HashMap<>();

  Absences(LeaseTerms terms) {
    this.terms = terms;
  }

  /**
   * Takes note of who lives.
   *
   * @param members the list of members
   * @param alive tokens that living locks name
   * @return the tokens of those who are gone
   */
  Set<String> gone(MemberList members, Set<String> alive, long nowMillis) {
    Set<String> listed = members.nodes().stream().map(Peer::token).collect(Collectors.toSet());
    lastSign.keySet().retainAll(listed);
    Set<String> gone = new HashSet<>();
    long patience = terms.lease().plus(terms.margin()).toMillis();
    for (String token : listed) {
      if (alive.contains(token)) {
        lastSign.put(token, nowMillis);
      } else if (nowMillis - lastSign.computeIfAbsent(token, t -> nowMillis) >= patience) {
        gone.add(token);
      }
    }
    return gone;
  }
}
