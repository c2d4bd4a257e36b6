package io.millrace.cluster.leader;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * When each member has shown last that it lives. A member that has just become known has the whole
 * patience to show its first sign. Pure but for its memory; used by one thread.
 */
public final class LivenessTracker {
  private final long patienceMillis;
  private final Map<String, Long> lastSigns = new HashMap<>();

  /**
   * Knows no members yet.
   *
   * @param patienceMillis after so long without a sign a member is gone
   */
  public LivenessTracker(long patienceMillis) {
    this.patienceMillis = patienceMillis;
  }

  /** Forgets everything: signs during an earlier lead say nothing about the time since. */
  public void clear() {
    lastSigns.clear();
  }

  /** The tokens of the members that are known. */
  public Set<String> tokens() {
    return Set.copyOf(lastSigns.keySet());
  }

  /** Takes note of a sign of a member, which may become known by it. */
  public void sign(String token, long millis) {
    lastSigns.merge(token, millis, Math::max);
  }

  /** Forgets a member. */
  public void remove(String token) {
    lastSigns.remove(token);
  }

  /**
   * Takes note of new signs, and forgets all other members.
   *
   * @param members the tokens of the members
   * @param signs since when the newest of the locks that name a member has been seen as it is, by
   *     token. This is the last sign of life, not the moment when the lock can be taken: a leader
   *     that waited for that, and then for its patience, would wait twice
   * @return the tokens of the members that are gone
   */
  public Set<String> gone(Set<String> members, Map<String, Long> signs, long nowMillis) {
    lastSigns.keySet().retainAll(members);
    Set<String> gone = new HashSet<>();
    for (String token : members) {
      Long sign = signs.get(token);
      if (sign != null) {
        sign(token, sign);
      }
      if (nowMillis - lastSigns.computeIfAbsent(token, _ -> nowMillis) >= patienceMillis) {
        gone.add(token);
      }
    }
    return gone;
  }
}
