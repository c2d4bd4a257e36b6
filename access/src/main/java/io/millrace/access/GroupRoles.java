package io.millrace.access;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The roles of people who have no principal in the store, but belong to groups that a provider of
 * identities or a proxy names. The first entry whose group somebody belongs to applies, alone.
 * Immutable.
 *
 * @param entries in the order in which they are tried; empty if such people may do nothing
 */
public record GroupRoles(List<Entry> entries) {
  /** The group to which everybody belongs. */
  public static final String EVERYBODY = "*";

  /** Nobody may do anything. */
  public static final GroupRoles NONE = new GroupRoles(List.of());

  /** Copies the entries. */
  public GroupRoles {
    entries = List.copyOf(entries);
  }

  /**
   * What the members of a group may do.
   *
   * @param group its name, or {@link #EVERYBODY}
   * @param roles at least one
   * @param reach what they are limited to
   */
  public record Entry(String group, Set<Role> roles, Reach reach) {
    /** Copies the roles. */
    public Entry {
      roles = Set.copyOf(roles);
    }
  }

  /** The entry for somebody who belongs to these groups; empty if there is none. */
  public Optional<Entry> of(Collection<String> groups) {
    return entries.stream()
        .filter(entry -> entry.group().equals(EVERYBODY) || groups.contains(entry.group()))
        .findFirst();
  }
}
