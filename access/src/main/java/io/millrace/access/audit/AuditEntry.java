package io.millrace.access.audit;

import java.time.Instant;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One entry of the audit log: a change, or several alike of one second, or repeats of one.
 * Immutable.
 *
 * @param time when it was made, the first one if there are several
 * @param until when the last one was made
 * @param origin who made it, how, and what it is about
 * @param count how many things were changed, or how many requests were refused
 * @param first the id of the first thing; null if that is not known
 * @param last the id of the last thing
 */
public record AuditEntry(
    Instant time,
    Instant until,
    Origin origin,
    long count,
    @Nullable String first,
    @Nullable String last) {

  /** An entry of one time. */
  public AuditEntry(
      Instant time, Origin origin, long count, @Nullable String first, @Nullable String last) {
    this(time, time, origin, count, first, last);
  }

  /** How a request ended. */
  public enum Result {
    /** The change was made. */
    DONE,
    /** The request was refused, and nothing changed. */
    REFUSED,
    /** The server failed, and it is not known whether something changed. */
    FAILED;

    /** The word for it, in lower case. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * What the changes of one entry have in common.
   *
   * @param principal who made it; {@code unknown} if no valid credentials were shown
   * @param key the prefix of the key that was shown; null for none
   * @param address the address of the client
   * @param api method and path of the route
   * @param action a kind of thing and a verb, for example {@code queue.create}
   * @param area of what {@code scope} is a name: {@code groups}, {@code queues}, {@code types},
   *     {@code graph}, {@code blobs} or {@code cluster}; null if the change is not within one
   * @param scope the group, queue, job type or node that it is about; empty for none
   * @param result how it ended
   * @param status the status of the response; 0 if the entry was written before it was known
   */
  public record Origin(
      String principal,
      @Nullable String key,
      String address,
      String api,
      String action,
      @Nullable String area,
      String scope,
      Result result,
      int status) {

    /** The kind of thing that the action is about. */
    public String kind() {
      int dot = action.indexOf('.');
      return dot < 0 ? action : action.substring(0, dot);
    }

    /** The same, without what an attacker could vary without end. */
    Origin merged() {
      return new Origin(principal, null, "several", api, action, null, "", result, status);
    }

    /** The same, for all principals and routes. */
    Origin mergedWholly() {
      return new Origin("several", null, "several", "", action, null, "", result, status);
    }
  }

  /**
   * Which entries are wanted; null and empty fields admit all.
   *
   * @param kind the kind of thing
   * @param action the action
   * @param id the id of a thing, or the name of a queue, job type, group or node. An entry about
   *     several things matches each id of the same length from its first to its last
   */
  public record Filter(
      @Nullable String principal,
      @Nullable String key,
      @Nullable String address,
      @Nullable String kind,
      @Nullable String action,
      @Nullable Result result,
      @Nullable String id) {
    /** Everything. */
    public static final Filter ALL = new Filter(null, null, null, null, null, null, null);

    /** Whether an entry is wanted. */
    public boolean matches(AuditEntry entry) {
      Origin origin = entry.origin;
      return (principal == null || principal.equals(origin.principal))
          && (key == null || key.equals(origin.key))
          && (address == null || address.equals(origin.address))
          && (kind == null || kind.equals(origin.kind()))
          && (action == null || action.equals(origin.action))
          && (result == null || result == origin.result)
          && (id == null || id.equals(origin.scope) || entry.mayInclude(id));
    }
  }

  /** Whether a thing with this id is one of those that were changed, as far as that is known. */
  private boolean mayInclude(String id) {
    if (first == null || last == null || count <= 2) {
      return Objects.equals(first, id) || Objects.equals(last, id);
    }
    return first.length() == last.length()
        ? id.length() == first.length() && id.compareTo(first) >= 0 && id.compareTo(last) <= 0
        : id.equals(first) || id.equals(last);
  }
}
