package io.millrace.access;

import io.millrace.access.AccessDocuments.SessionEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of a directory, by prefix, with what each gives. Safe for use by threads; changes
 * are made by one at a time.
 */
final class Sessions {
  private final Map<String, Session> held = new ConcurrentHashMap<>();
  private final Duration idle;
  private final Function<SessionEntry, Optional<Grant>> worth;

  /** A session, and what it gives. */
  private static final class Session {
    final SessionEntry entry;

    /** Null if it gives nothing any more, so that it is to be deleted. */
    final @Nullable Grant grant;

    volatile Instant lastUsed;

    Session(SessionEntry entry, @Nullable Grant grant, Instant lastUsed) {
      this.entry = entry;
      this.grant = grant;
      this.lastUsed = lastUsed;
    }

    void end() {
      if (grant != null) {
        grant.end();
      }
    }
  }

  /**
   * Without sessions.
   *
   * @param idle for how long a session may go unused
   * @param worth what a session gives now; empty if nothing
   */
  Sessions(Duration idle, Function<SessionEntry, Optional<Grant>> worth) {
    this.idle = idle;
    this.worth = worth;
  }

  /**
   * Adds a session, or takes over its newest version.
   *
   * @param lastUsed the time of its last use in the store
   */
  void take(SessionEntry entry, Instant lastUsed) {
    String prefix = entry.session().prefix();
    Session old = held.get(prefix);
    if (old == null || old.entry.version() != entry.version()) {
      put(entry, old == null ? lastUsed : old.lastUsed);
    }
  }

  private void put(SessionEntry entry, Instant lastUsed) {
    Session old =
        held.put(
            entry.session().prefix(),
            new Session(entry, worth.apply(entry).orElse(null), lastUsed));
    if (old != null) {
      old.end();
    }
  }

  void remove(String prefix) {
    Session old = held.remove(prefix);
    if (old != null) {
      old.end();
    }
  }

  /** Gives these sessions what they are worth now; what they gave before ends. */
  void renew(Predicate<AccessSession> which) {
    for (Session session : List.copyOf(held.values())) {
      if (which.test(session.entry.session())) {
        put(session.entry, session.lastUsed);
      }
    }
  }

  boolean isKnown(SessionEntry entry) {
    return held.containsKey(entry.session().prefix());
  }

  /** Of all sessions. */
  Set<String> prefixes() {
    return Set.copyOf(held.keySet());
  }

  /** What a session gives, and notes that it is used; empty if it has ended or never was. */
  Optional<Grant> use(String text, Instant now) {
    String prefix = AccessSession.prefixOf(text);
    Session session = prefix == null ? null : held.get(prefix);
    if (session == null
        || session.grant == null
        || !Passwords.isSame(session.entry.hash().toArray(), AccessKey.hash(text))
        || isOver(session, now)) {
      return Optional.empty();
    }
    session.lastUsed = now;
    return Optional.of(session.grant);
  }

  private boolean isOver(Session session, Instant now) {
    return !now.isBefore(session.entry.session().expires())
        || !now.isBefore(session.lastUsed.plus(idle));
  }

  /** Ends the sessions whose time is over; the result are all that give nothing any more. */
  List<SessionEntry> ended(Instant now) {
    for (Session session : held.values()) {
      if (isOver(session, now)) {
        session.end();
      }
    }
    return held.values().stream()
        .filter(session -> session.grant == null || session.grant.isOver())
        .map(session -> session.entry)
        .toList();
  }

  /** When the next session ends by its time, if it is before {@code latest}. */
  Instant nextEnd(Instant latest) {
    Instant next = latest;
    for (Session session : held.values()) {
      Instant byUse = session.lastUsed.plus(idle);
      Instant end = session.entry.session().expires();
      Instant first = byUse.isBefore(end) ? byUse : end;
      if (first.isBefore(next)) {
        next = first;
      }
    }
    return next;
  }
}
