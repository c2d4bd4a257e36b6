package io.millrace.cluster.leader;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Tracks each member's last sign of life. A new member has the whole timeout for its first sign.
 * Reads no clock; used by one thread.
 */
public final class LivenessTracker {
  private final long timeoutMillis;
  private final Map<String, Long> lastSigns = new HashMap<>();

  /**
   * Creates a tracker without members.
   *
   * @param timeoutMillis the time without a sign after which a member is gone
   */
  public LivenessTracker(long timeoutMillis) {
    this.timeoutMillis = timeoutMillis;
  }

  /** Forgets everything: signs during an earlier leadership say nothing about the time since. */
  public void clear() {
    lastSigns.clear();
  }

  /** The tokens of the members that are known. */
  public Set<String> tokens() {
    return Set.copyOf(lastSigns.keySet());
  }

  /** Records a sign of life, and adds the member if it is new. */
  public void sign(String token, long millis) {
    lastSigns.merge(token, millis, Math::max);
  }

  /**
   * When the next member would be gone without another sign; {@link Long#MAX_VALUE} if there are no
   * members.
   */
  public long nextGoneMillis() {
    return lastSigns.values().stream()
        .mapToLong(sign -> sign + timeoutMillis)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** Forgets a member. */
  public void remove(String token) {
    lastSigns.remove(token);
  }

  /**
   * Records new signs, and forgets all other members.
   *
   * @param members the tokens of the members
   * @param signs for each token, since when the newest of the member's locks has been unchanged.
   *     That is the last sign of life, not the moment at which the lock can be taken: a leader that
   *     waited for that moment and then for the timeout would wait twice
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
      if (nowMillis - lastSigns.computeIfAbsent(token, _ -> nowMillis) >= timeoutMillis) {
        gone.add(token);
      }
    }
    return gone;
  }
}
