package io.millrace.http;

import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sender of a request, identified by the {@link AccessCheck}. Handlers get it from {@link
 * Request#caller}. Immutable.
 *
 * @param principal a name for people and logs, such as {@code server token}
 * @param roles what the caller may do; empty for a caller without credentials
 * @param reach what the roles are limited to
 * @param validity until when this holds
 * @param key the prefix of the key that was shown; null if there was none
 */
public record Caller(
    String principal, Set<Role> roles, Reach reach, Validity validity, @Nullable String key) {
  /** A caller on this machine, if the server requires no credentials. */
  public static final Caller LOCAL = new Caller("local", Role.ALL, Reach.EVERYTHING);

  /** A caller with the server's token. */
  public static final Caller OWNER = new Caller("server token", Role.ALL, Reach.EVERYTHING);

  /** A caller without credentials, on a route that requires none. */
  public static final Caller UNKNOWN = new Caller("unknown", Set.of(), Reach.EVERYTHING);

  /** Copies the roles. */
  public Caller {
    roles = Set.copyOf(roles);
  }

  /** The same for ever. */
  public Caller(String principal, Set<Role> roles, Reach reach) {
    this(principal, roles, reach, Validity.FOREVER, null);
  }

  /** Until when credentials hold. Safe for use by threads. */
  public interface Validity {
    /** No end. */
    Validity FOREVER = _ -> () -> {};

    /**
     * Runs {@code action} once the credentials do not hold any more, on any thread; at once if that
     * is so already. The action must be short and must not block.
     *
     * @return takes the action back
     */
    Runnable onEnd(Runnable action);
  }

  /**
   * What a caller may do. Each role from {@link #ANYONE} to {@link #ADMIN} includes those before
   * it. {@link #WORKER} includes only {@link #ANYONE}.
   */
  public enum Role {
    /** Anybody, also without credentials. */
    ANYONE,
    /** May read. */
    VIEWER,
    /** May add work, and change what it added. */
    SUBMITTER,
    /** May change what others added, and how work runs. */
    OPERATOR,
    /** May do everything. */
    ADMIN,
    /** May take work and report on it. */
    WORKER;

    private static final Set<Role> ALL = Set.of(values());

    /** This role and those that it includes. */
    public Set<Role> andBelow() {
      return this == WORKER ? Set.of(WORKER, ANYONE) : EnumSet.range(ANYONE, this);
    }
  }

  /**
   * The part of the server to which the roles of a caller are limited. A caller with a limit may
   * use only the routes that say that they keep to it, see {@link Route#limitable}.
   */
  public interface Reach {
    /** No limit. */
    Reach EVERYTHING =
        new Reach() {
          @Override
          public boolean coversEverything() {
            return true;
          }

          @Override
          public boolean includes(Area area, String name) {
            return true;
          }

          @Override
          public boolean includesAny(Area area) {
            return true;
          }
        };

    /** What names are names of. */
    enum Area {
      /** Groups of tasks and collections of documents in the store. */
      GROUPS,
      /** Queues, by name. */
      QUEUES,
      /** Types of jobs. */
      TYPES,
      /** Graph nodes, by id: the node itself, not those below it. */
      GRAPH,
      /** Blobs, by name. */
      BLOBS,
      /** Locks, permits, partitions and reports of a cluster, by name. */
      CLUSTER
    }

    /** Whether there is no limit. */
    boolean coversEverything();

    /** Whether this name is within the limits. */
    boolean includes(Area area, String name);

    /** Whether there may be any name within the limits. */
    boolean includesAny(Area area);
  }

  /** Whether the caller has valid credentials, or the server requires none at all. */
  public boolean isKnown() {
    return !roles.isEmpty();
  }

  /** Whether the caller may do what requires this role. */
  public boolean may(Role role) {
    return role == Role.ANYONE || roles.contains(role);
  }
}
