package io.millrace.access;

import io.millrace.access.AccessException.InvalidAccessException;
import java.time.Instant;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a session: what a person got in exchange for credentials, to be shown in their
 * place for a while. Its text is shown once and kept as a hash, like that of a key. Immutable.
 *
 * @param prefix the part of its text by which it is called, unique among sessions
 * @param principal who has signed in: a principal of the store, or a person whom a provider of
 *     identities knows
 * @param key the prefix of the key that was shown; null if none was. The session ends with it
 * @param groups the groups to which the person belongs, who has no principal in the store; null for
 *     a principal of the store
 * @param created when it was created
 * @param expires when it ends in any case
 * @param address from where the person signed in
 * @param lastUsed about when it was used last, to the minute
 */
public record AccessSession(
    String prefix,
    String principal,
    @Nullable String key,
    @Nullable Set<String> groups,
    Instant created,
    Instant expires,
    String address,
    Instant lastUsed) {
  /** The most groups of a person. */
  public static final int MAX_GROUPS = 1_000;

  private static final int LONGEST_GROUP = 256;
  private static final String MARK = "ms_";

  /**
   * With the groups in order.
   *
   * @throws InvalidAccessException if there are more than {@link #MAX_GROUPS}, or if one has more
   *     than 256 characters
   */
  public AccessSession {
    if (groups != null) {
      if (groups.size() > MAX_GROUPS) {
        throw new InvalidAccessException(
            "%s belongs to %d groups, and the limit is %d"
                .formatted(principal, groups.size(), MAX_GROUPS));
      }
      if (groups.stream().anyMatch(group -> group.length() > LONGEST_GROUP)) {
        throw new InvalidAccessException(
            "%s belongs to a group whose name has more than %d characters"
                .formatted(principal, LONGEST_GROUP));
      }
      groups = Collections.unmodifiableSet(new TreeSet<>(groups));
    }
  }

  /**
   * A session that was just created.
   *
   * @param text the session itself, {@code ms_PREFIX_SECRET}, of 256 random bits
   * @param session what is known of it
   */
  public record Created(String text, AccessSession session) {
    @Override
    public String toString() {
      return "(the session " + session.prefix() + ")";
    }
  }

  /** The mark with which the texts of sessions begin. */
  static String mark() {
    return MARK;
  }

  /**
   * The prefix of a session; null if the text is not of the form of a session.
   *
   * @param text what a caller showed
   */
  public static @Nullable String prefixOf(String text) {
    return AccessKey.prefixOf(MARK, text);
  }

  /** The same with another time of last use. */
  AccessSession usedAt(Instant time) {
    return new AccessSession(prefix, principal, key, groups, created, expires, address, time);
  }
}
