package io.millrace.access;

import java.time.Instant;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What credentials give, until they are revoked, expire, or the principal changes; then it is over
 * and what was begun with it has to end. The same object for every request with the same
 * credentials. Safe for use by threads.
 */
public final class Grant {
  private static final double NANOS = 1e9;

  private final String principal;
  private final @Nullable String key;
  private final Set<Role> roles;
  private final Reach reach;
  private final @Nullable Instant expires;
  private final @Nullable Integer rate;
  private final Set<Runnable> endings = Collections.newSetFromMap(new IdentityHashMap<>());
  private boolean over;

  /** How many requests may be made at once; guarded by the monitor, like the two after it. */
  private double left;

  private long lastNanos;
  private boolean counting;
  private volatile long notedMinute;

  private Grant(Principal principal, @Nullable String key, @Nullable Instant expires) {
    this.principal = principal.name();
    this.key = key;
    this.roles = principal.roles();
    this.reach = principal.reach();
    this.expires = expires;
    this.rate = principal.rate();
    this.left = rate == null ? 0 : rate;
  }

  /**
   * What a key or the password of a principal gives.
   *
   * @param key the prefix of the key; null for the password
   * @param expires null for never
   */
  static Grant of(Principal principal, @Nullable String key, @Nullable Instant expires) {
    return new Grant(principal, key, expires);
  }

  /**
   * Counts a request, unless there were too many: in any second as many as the rate of the
   * principal, after a pause up to twice as many.
   *
   * @param nanos the time by a monotonic clock
   * @return whether the request may be served
   */
  public boolean admits(long nanos) {
    Integer perSecond = rate;
    if (perSecond == null) {
      return true;
    }
    synchronized (this) {
      long passed = counting ? Math.max(0, nanos - lastNanos) : 0;
      counting = true;
      lastNanos = nanos;
      left = Math.min(perSecond, left + passed * (double) perSecond / NANOS);
      if (left < 1) {
        return false;
      }
      left--;
      return true;
    }
  }

  /** The name of the principal. */
  public String principal() {
    return principal;
  }

  /** The prefix of the key; null if a password was shown. */
  public @Nullable String key() {
    return key;
  }

  /** The roles, as granted. */
  public Set<Role> roles() {
    return roles;
  }

  /** What they are limited to. */
  public Reach reach() {
    return reach;
  }

  /** When it ends by itself; null for never. */
  @Nullable Instant expires() {
    return expires;
  }

  boolean isExpired(Instant now) {
    return expires != null && !now.isBefore(expires);
  }

  /** Whether its use in this minute is to be noted: yes once a minute. */
  boolean isFirstUse(long minute) {
    if (notedMinute == minute) {
      return false;
    }
    notedMinute = minute;
    return true;
  }

  /** Whether it is over. */
  public synchronized boolean isOver() {
    return over;
  }

  /**
   * Runs {@code action} when it is over, at once if it is. The action must be short and must not
   * block.
   *
   * @return takes the action back
   */
  public Runnable onEnd(Runnable action) {
    synchronized (this) {
      if (!over) {
        endings.add(action);
        return () -> forget(action);
      }
    }
    action.run();
    return () -> {};
  }

  private synchronized void forget(Runnable action) {
    endings.remove(action);
  }

  /** Ends it. */
  void end() {
    List<Runnable> due;
    synchronized (this) {
      over = true;
      due = List.copyOf(endings);
      endings.clear();
    }
    due.forEach(Runnable::run);
  }
}
