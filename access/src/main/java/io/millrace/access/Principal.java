package io.millrace.access;

import io.millrace.access.AccessException.InvalidAccessException;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A program or a person that uses a server. Immutable.
 *
 * @param name unique; see {@link #checkName}
 * @param roles what it may do; each as granted, without the roles that it includes
 * @param reach what the roles are limited to
 * @param note for people; may be empty
 * @param hasPassword whether it can show a password beside its keys
 * @param rate how many requests a second each of its credentials may make; null for any number
 * @param disabled whether none of its credentials count for now
 * @param created when it was created
 * @param createdBy which principal created it
 */
public record Principal(
    String name,
    Set<Role> roles,
    Reach reach,
    String note,
    boolean hasPassword,
    @Nullable Integer rate,
    boolean disabled,
    Instant created,
    String createdBy) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._@-]{0,62}");

  /** Names that stand for callers without a principal of their own. */
  private static final Set<String> RESERVED = Set.of("local", "unknown", "worker", "bootstrap");

  private static final int LONGEST_NOTE = 1_000;
  private static final int LONGEST_OUTSIDE = 255;
  private static final int MAX_RATE = 1_000_000;

  /** With the roles in the order of {@link Role}. */
  public Principal {
    roles =
        Collections.unmodifiableSet(
            roles.isEmpty() ? EnumSet.noneOf(Role.class) : EnumSet.copyOf(roles));
  }

  /** Somebody who has no principal in the store, but belongs to a group with these roles. */
  static Principal ofGroups(String name, GroupRoles.Entry roles, Instant since) {
    return new Principal(name, roles.roles(), roles.reach(), "", false, null, false, since, name);
  }

  /** Whether a principal may have this name, or one that is reserved. */
  public static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  /**
   * The name of somebody who has no principal in the store. It has a colon, so it is not the name
   * of a principal.
   *
   * @param source who knows this person, for example {@code oidc}
   * @param name how the person is called there: 1 to 255 characters
   * @throws InvalidAccessException if the name is empty, is too long, or has control characters
   */
  public static String nameOutside(String source, String name) {
    if (name.isBlank()
        || name.length() > LONGEST_OUTSIDE
        || name.chars().anyMatch(Character::isISOControl)) {
      throw new InvalidAccessException(
          "the name of a person has 1 to %d characters, without control characters"
              .formatted(LONGEST_OUTSIDE));
    }
    return source + ":" + name;
  }

  /**
   * Checks a name: 1 to 63 letters, digits and {@code . _ @ -} of ASCII, beginning with a letter or
   * digit.
   *
   * @throws InvalidAccessException if it is none
   */
  public static String checkName(String name) {
    if (!isName(name)) {
      throw new InvalidAccessException(
          "a principal's name is 1 to 63 letters, digits and . _ @ - and begins with a letter or"
              + " digit, unlike \""
              + (name.length() > 80 ? name.substring(0, 80) + "…" : name)
              + "\"");
    }
    if (RESERVED.contains(name)) {
      throw new InvalidAccessException("the name \"" + name + "\" is reserved");
    }
    return name;
  }

  /** Checks what a principal may consist of. */
  static void check(Set<Role> roles, String note, @Nullable Integer rate) {
    if (rate != null && (rate < 1 || rate > MAX_RATE)) {
      throw new InvalidAccessException("a rate is 1 to " + MAX_RATE + " requests a second");
    }
    if (roles.isEmpty()) {
      throw new InvalidAccessException("a principal has at least one role");
    }
    if (note.length() > LONGEST_NOTE) {
      throw new InvalidAccessException("a note has at most " + LONGEST_NOTE + " characters");
    }
  }
}
