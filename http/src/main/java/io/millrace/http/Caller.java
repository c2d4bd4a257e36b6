package io.millrace.http;

import java.util.EnumSet;
import java.util.Set;

/**
 * Who sends a request, as the {@link AccessCheck} found out; every handler can ask by {@link
 * Request#caller}. Immutable.
 *
 * @param principal a name for people and logs, such as {@code server token}
 * @param roles what the caller may do; empty for one that showed no credentials
 * @param reach what the roles are limited to
 */
public record Caller(String principal, Set<Role> roles, Reach reach) {
  /** Somebody on this machine, on a server that asks for no credentials. */
  public static final Caller LOCAL = new Caller("local", Role.ALL, Reach.EVERYTHING);

  /** Somebody with the server's token. */
  public static final Caller OWNER = new Caller("server token", Role.ALL, Reach.EVERYTHING);

  /** Somebody without credentials, on a route that needs none. */
  public static final Caller UNKNOWN = new Caller("unknown", Set.of(), Reach.EVERYTHING);

  /** With these roles. */
  public Caller {
    roles = Set.copyOf(roles);
  }

  /**
   * What a caller may do. The first four include each other upwards; {@link #WORKER} stands apart.
   */
  public enum Role {
    /** Any caller, without credentials. */
    ANYONE,
    /** Reads. */
    VIEWER,
    /** Adds work, and changes what it added. */
    SUBMITTER,
    /** Changes what others added, and how work runs. */
    OPERATOR,
    /** May do everything. */
    ADMIN,
    /** Takes work and reports on it. */
    WORKER;

    private static final Set<Role> ALL = Set.of(values());

    /** This role and those that it includes. */
    public Set<Role> andBelow() {
      return this == WORKER ? Set.of(WORKER, ANYONE) : EnumSet.range(ANYONE, this);
    }
  }

  /** What the roles of a caller are limited to: a part of the server knows its own limits. */
  public interface Reach {
    /** No limit. */
    Reach EVERYTHING = new Reach() {};
  }

  /** Whether the caller showed credentials, or needs none on this server at all. */
  public boolean isKnown() {
    return !roles.isEmpty();
  }

  /** Whether the caller may do what needs this role. */
  public boolean may(Role role) {
    return role == Role.ANYONE || roles.contains(role);
  }
}
