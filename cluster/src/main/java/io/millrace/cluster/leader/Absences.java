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
 * Which members are gone: those in the list whose locks have not changed for lease and margin. A
 * member that has just come into the list has that long to take its first lock. Pure but for its
 * memory; used by one thread.
 */
final class Absences {
  private final LeaseTerms terms;
  private final Map<String, Long> lastSigns = new HashMap<>();

  Absences(LeaseTerms terms) {
    this.terms = terms;
  }

  /** Forgets everything: what was seen during an earlier lead says nothing about the time since. */
  void begin() {
    lastSigns.clear();
  }

  /**
   * Takes note of who lives.
   *
   * @param members the list of members
   * @param signs since when the newest of the locks that name a member has been seen as it is, by
   *     token. This is the member's last sign of life, not the moment at which the lock can be
   *     taken: whoever waited for that, and then for lease and margin, would wait twice
   * @return the tokens of those who are gone
   */
  Set<String> gone(MemberList members, Map<String, Long> signs, long nowMillis) {
    Set<String> listed = members.nodes().stream().map(Peer::token).collect(Collectors.toSet());
    lastSigns.keySet().retainAll(listed);
    Set<String> gone = new HashSet<>();
    long patience = terms.lease().plus(terms.margin()).toMillis();
    for (String token : listed) {
      Long sign = signs.get(token);
      if (sign != null) {
        lastSigns.merge(token, sign, Math::max);
      }
      if (nowMillis - lastSigns.computeIfAbsent(token, _ -> nowMillis) >= patience) {
        gone.add(token);
      }
    }
    return gone;
  }
}
