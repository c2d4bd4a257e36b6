package io.millrace.access;

import io.millrace.access.AccessDocuments.Entry;
import io.millrace.access.AccessDocuments.KeyEntry;
import io.millrace.access.AccessDocuments.PrincipalEntry;
import io.millrace.access.AccessDocuments.SessionEntry;
import io.millrace.access.AccessException.AccessConflictException;
import io.millrace.access.AccessException.InvalidAccessException;
import io.millrace.access.AccessException.UnknownPrincipalException;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.StoreSession;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The principals, their keys, and the sessions. Every change is one transaction, and counts in the
 * {@link AccessDirectory} when the call returns. There is one registry for a store, since the
 * directory hears of changes from it alone. Safe for use by threads.
 */
public final class AccessRegistry {
  private static final int MAX_KEYS = 100;
  private static final int LONGEST_KEY_NAME = 200;
  private static final int MAX_SESSIONS = 10_000;
  private static final int MAX_SESSIONS_EACH = 100;

  private final Session session;
  private final InstantSource clock;
  private final RandomGenerator random;
  private final AccessDirectory directory;

  /**
   * The registry in a store.
   *
   * @param random secret and unpredictable; used under its own lock
   * @param directory of the same store
   */
  public AccessRegistry(
      TaskStore store, InstantSource clock, RandomGenerator random, AccessDirectory directory) {
    this.session = new Session(store, random);
    this.clock = clock;
    this.random = random;
    this.directory = directory;
  }

  private static final class Session extends StoreSession {
    Session(TaskStore store, RandomGenerator random) {
      super(store, random);
    }

    @Override
    protected RuntimeException refused(Reason reason) {
      return switch (reason.kind()) {
        case TOO_LARGE, MALFORMED -> new InvalidAccessException(reason.message());
        default -> new AccessException(reason.message());
      };
    }

    @Override
    protected RuntimeException contended(String message) {
      return new AccessConflictException(message);
    }
  }

  /**
   * A principal to create.
   *
   * @param password null for none
   * @param rate requests a second for each of its credentials; null for any number
   */
  public record NewPrincipal(
      String name,
      Set<Role> roles,
      Reach reach,
      String note,
      @Nullable String password,
      @Nullable Integer rate) {}

  /**
   * A key to create.
   *
   * @param name for people; may be empty
   * @param expires null for never
   */
  public record NewKey(String name, @Nullable Instant expires) {}

  /**
   * A session to create.
   *
   * @param principal who has signed in
   * @param key the prefix of the key that was shown; null if none was
   * @param groups the groups of somebody who has no principal in the store; null for a principal of
   *     the store, which has shown {@code key} or, without one, its password
   * @param length for how long it may last
   * @param address from where the person signs in
   */
  public record NewSession(
      String principal,
      @Nullable String key,
      @Nullable Set<String> groups,
      Duration length,
      String address) {}

  /** A principal that was created, with its first key if one was asked for. */
  public record Created(Principal principal, AccessKey.@Nullable Created key) {}

  /**
   * What to change of a principal; null keeps it.
   *
   * @param password the new one; empty text removes it
   * @param rate the new one; 0 removes it
   */
  public record Change(
      @Nullable Set<Role> roles,
      @Nullable Reach reach,
      @Nullable String note,
      @Nullable String password,
      @Nullable Boolean disabled,
      @Nullable Integer rate) {}

  /**
   * Creates a principal, and a first key in the same transaction.
   *
   * @param key null for no key
   * @param by which principal asks for it
   * @throws InvalidAccessException if something is wrong with it
   * @throws AccessConflictException if the name is taken
   */
  public Created create(NewPrincipal wanted, @Nullable NewKey key, String by) {
    Principal.checkName(wanted.name());
    Principal.check(wanted.roles(), wanted.note(), wanted.rate());
    String password =
        wanted.password() == null ? null : directory.passwords().hash(wanted.password());
    Principal principal =
        new Principal(
            wanted.name(),
            wanted.roles(),
            wanted.reach(),
            wanted.note(),
            password != null,
            wanted.rate(),
            false,
            now(),
            by);
    Transaction.Builder transaction =
        session
            .begin()
            .put(
                AccessDocuments.principalKey(wanted.name()),
                DocumentVersion.ABSENT,
                AccessDocuments.write(principal, password));
    AccessKey.Created created = key == null ? null : add(transaction, principal.name(), key, by);
    if (!commit(transaction)) {
      throw new AccessConflictException("there is a principal \"" + wanted.name() + "\" already");
    }
    return new Created(principal, created);
  }

  /** All principals, by name. */
  public List<Principal> principals() {
    return entries(PrincipalEntry.class).map(PrincipalEntry::principal).toList();
  }

  /** The principal of this name. */
  public Optional<Principal> principal(String name) {
    return find(name).map(PrincipalEntry::principal);
  }

  /** All keys by prefix, with their last use. */
  public List<AccessKey> keys() {
    Map<DocumentKey, Instant> uses = uses();
    return entries(KeyEntry.class)
        .map(KeyEntry::key)
        .map(key ->
            key.usedAt(uses.get(AccessDocuments.useKey(AccessDocuments.keyKey(key.prefix())))))
        .toList();
  }

  /** All sessions by prefix, with their last use. */
  public List<AccessSession> sessions() {
    Map<DocumentKey, Instant> uses = uses();
    return entries(SessionEntry.class)
        .map(SessionEntry::session)
        .map(each -> {
          Instant used =
              uses.get(AccessDocuments.useKey(AccessDocuments.sessionKey(each.prefix())));
          return used == null ? each : each.usedAt(used);
        })
        .toList();
  }

  /** The times of last use, by their documents. */
  private Map<DocumentKey, Instant> uses() {
    Map<DocumentKey, Instant> uses = new HashMap<>();
    for (Document document : session.all(AccessDocuments.USES)) {
      Instant used = AccessDocuments.readUse(document);
      if (used != null) {
        uses.put(document.key(), used);
      }
    }
    return uses;
  }

  /**
   * Creates a session. If the principal has 100, the oldest ends.
   *
   * @throws UnknownPrincipalException if the principal or its key is not there any more
   * @throws AccessException if there are 10,000 sessions
   */
  public AccessSession.Created createSession(NewSession wanted) {
    return session.retry("principal " + wanted.principal(), () -> tryCreate(wanted));
  }

  private AccessSession.@Nullable Created tryCreate(NewSession wanted) {
    Transaction.Builder transaction = session.begin();
    String password = null;
    Instant now = now();
    Instant expires = now.plus(wanted.length());
    if (wanted.groups() == null) {
      PrincipalEntry principal =
          find(wanted.principal()).orElseThrow(() -> unknown(wanted.principal()));
      transaction.depend(AccessDocuments.principalKey(wanted.principal()), principal.version());
      if (wanted.key() == null) {
        password = AccessDocuments.digest(principal.password());
      } else {
        KeyEntry key =
            findKey(wanted.key())
                .filter(found -> found.key().principal().equals(wanted.principal()))
                .orElseThrow(() -> noKey(wanted.key()));
        transaction.depend(AccessDocuments.keyKey(wanted.key()), key.version());
        Instant end = key.key().expires();
        expires = end != null && end.isBefore(expires) ? end : expires;
      }
    }
    makeRoom(transaction, wanted.principal());
    String text = AccessKey.generate(AccessSession.mark(), random);
    String prefix = AccessSession.prefixOf(text);
    if (prefix == null) {
      throw new IllegalStateException("a generated session is malformed");
    }
    AccessSession created =
        new AccessSession(
            prefix,
            wanted.principal(),
            wanted.key(),
            wanted.groups(),
            now,
            expires,
            wanted.address(),
            now);
    transaction.put(
        AccessDocuments.sessionKey(prefix),
        DocumentVersion.ABSENT,
        AccessDocuments.write(created, AccessKey.hash(text), password));
    return commit(transaction) ? new AccessSession.Created(text, created) : null;
  }

  private void makeRoom(Transaction.Builder transaction, String principal) {
    List<SessionEntry> all = entries(SessionEntry.class).toList();
    List<SessionEntry> own =
        all.stream()
            .filter(entry -> entry.session().principal().equals(principal))
            .sorted(Comparator.comparing(entry -> entry.session().created()))
            .toList();
    if (own.size() >= MAX_SESSIONS_EACH) {
      remove(transaction, AccessDocuments.sessionKey(own.getFirst().session().prefix()));
    } else if (all.size() >= MAX_SESSIONS) {
      throw new AccessException(
          "there are %,d sessions, the most possible; try again when one has ended"
              .formatted(MAX_SESSIONS));
    }
  }

  /**
   * Ends a session at once.
   *
   * @param prefix the session, by its prefix
   * @throws UnknownPrincipalException if there is none
   */
  public AccessSession endSession(String prefix) {
    DocumentKey key = AccessDocuments.sessionKey(prefix);
    return session
        .retry(
            "session " + prefix,
            () -> read(key).map(SessionEntry.class::cast),
            found -> {
              Transaction.Builder transaction = session.begin();
              remove(transaction, key);
              return commit(transaction) ? found.session() : null;
            })
        .orElseThrow(() -> new UnknownPrincipalException("there is no session " + prefix));
  }

  /**
   * Changes a principal. What its credentials gave is over, unless only the note changes: open
   * streams and sockets end.
   *
   * @throws UnknownPrincipalException if there is none of this name
   * @throws InvalidAccessException if something is wrong with the change
   */
  public Principal change(String name, Change change) {
    String given = change.password();
    String password = given == null || given.isEmpty() ? null : directory.passwords().hash(given);
    return update(
        name,
        found -> {
          Principal old = found.principal();
          String kept = given == null ? found.password() : password;
          Principal changed =
              new Principal(
                  name,
                  change.roles() == null ? old.roles() : change.roles(),
                  change.reach() == null ? old.reach() : change.reach(),
                  change.note() == null ? old.note() : change.note(),
                  kept != null,
                  change.rate() == null ? old.rate() : rate(change.rate()),
                  change.disabled() == null ? old.disabled() : change.disabled(),
                  old.created(),
                  old.createdBy());
          Principal.check(changed.roles(), changed.note(), changed.rate());
          return commit(put(found, changed, kept)) ? changed : null;
        });
  }

  /**
   * Reads a principal and changes it, until nothing changed in between.
   *
   * @param change commits on what was read; null if something changed in between
   * @throws UnknownPrincipalException if there is none of this name
   */
  private <T> T update(String name, Function<PrincipalEntry, @Nullable T> change) {
    return session
        .retry("principal " + name, () -> find(name), change)
        .orElseThrow(() -> unknown(name));
  }

  private static @Nullable Integer rate(int changed) {
    return changed == 0 ? null : changed;
  }

  /**
   * Deletes a principal with its password, all its keys and its sessions, which end at once.
   *
   * @throws UnknownPrincipalException if there is none of this name
   */
  public void delete(String name) {
    var _ =
        update(
            name,
            found -> {
              Transaction.Builder transaction =
                  session.begin().delete(AccessDocuments.principalKey(name), found.version());
              keysOf(name).forEach(key -> remove(transaction, key));
              removeSessions(
                  transaction, each -> each.groups() == null && each.principal().equals(name));
              return commit(transaction) ? name : null;
            });
  }

  /**
   * Creates a key.
   *
   * @throws UnknownPrincipalException if there is no principal of this name
   * @throws InvalidAccessException if the principal has 100 keys, or something is wrong with it
   */
  public AccessKey.Created addKey(String name, NewKey key, String by) {
    return update(
        name,
        found -> {
          if (keysOf(name).size() >= MAX_KEYS) {
            throw new InvalidAccessException(
                "principal %s has %d keys; revoke one first".formatted(name, MAX_KEYS));
          }
          // The principal is written anew, so that none is deleted without its newest key.
          Transaction.Builder transaction = put(found, found.principal(), found.password());
          AccessKey.Created created = add(transaction, name, key, by);
          return commit(transaction) ? created : null;
        });
  }

  /**
   * Revokes a key, which ends at once with the sessions that it began.
   *
   * @param prefix the key, by its prefix
   * @throws UnknownPrincipalException if there is none
   */
  public AccessKey revoke(String prefix) {
    return session
        .retry(
            "key " + prefix,
            () -> findKey(prefix),
            found -> {
              Transaction.Builder transaction = session.begin();
              remove(transaction, found);
              removeSessions(transaction, each -> prefix.equals(each.key()));
              return commit(transaction) ? found.key() : null;
            })
        .orElseThrow(() -> noKey(prefix));
  }

  private void removeSessions(Transaction.Builder transaction, Predicate<AccessSession> which) {
    entries(SessionEntry.class)
        .map(SessionEntry::session)
        .filter(which)
        .forEach(each -> remove(transaction, AccessDocuments.sessionKey(each.prefix())));
  }

  private AccessKey.Created add(
      Transaction.Builder transaction, String principal, NewKey wanted, String by) {
    if (wanted.name().length() > LONGEST_KEY_NAME) {
      throw new InvalidAccessException(
          "the name of a key has at most " + LONGEST_KEY_NAME + " characters");
    }
    Instant now = now();
    if (wanted.expires() != null && !wanted.expires().isAfter(now)) {
      throw new InvalidAccessException("a key must expire in the future");
    }
    String text = AccessKey.generate(AccessKey.mark(), random);
    String prefix = AccessKey.prefixOf(text);
    if (prefix == null) {
      throw new IllegalStateException("a generated key is malformed");
    }
    AccessKey key =
        new AccessKey(prefix, principal, wanted.name(), now, by, wanted.expires(), null);
    transaction.put(
        AccessDocuments.keyKey(prefix),
        DocumentVersion.ABSENT,
        AccessDocuments.write(key, AccessKey.hash(text)));
    return new AccessKey.Created(text, key);
  }

  private void remove(Transaction.Builder transaction, KeyEntry key) {
    remove(transaction, AccessDocuments.keyKey(key.key().prefix()));
  }

  /** Removes a key or a session, with its last use. */
  private void remove(Transaction.Builder transaction, DocumentKey key) {
    transaction.delete(key, DocumentVersion.ANY);
    session
        .document(AccessDocuments.useKey(key))
        .ifPresent(use -> transaction.delete(use.key(), DocumentVersion.ANY));
  }

  private Transaction.Builder put(
      PrincipalEntry found, Principal principal, @Nullable String password) {
    return session
        .begin()
        .put(
            AccessDocuments.principalKey(principal.name()),
            found.version(),
            AccessDocuments.write(principal, password));
  }

  private <E extends Entry> Stream<E> entries(Class<E> kind) {
    return session.all(AccessDocuments.COLLECTION).stream()
        .flatMap(document -> AccessDocuments.read(document).stream())
        .filter(kind::isInstance)
        .map(kind::cast);
  }

  private List<KeyEntry> keysOf(String principal) {
    return entries(KeyEntry.class)
        .filter(entry -> entry.key().principal().equals(principal))
        .toList();
  }

  private Optional<PrincipalEntry> find(String name) {
    return read(AccessDocuments.principalKey(name)).map(PrincipalEntry.class::cast);
  }

  private Optional<KeyEntry> findKey(String prefix) {
    return read(AccessDocuments.keyKey(prefix)).map(KeyEntry.class::cast);
  }

  private Optional<Entry> read(DocumentKey key) {
    // A name that no document can have names nothing.
    return key.key().length() > 100
        ? Optional.empty()
        : session.document(key).flatMap(AccessDocuments::read);
  }

  /** Commits, and tells the directory, whatever became of it; false if something changed before. */
  private synchronized boolean commit(Transaction.Builder transaction) {
    try {
      return session.tryCommit(transaction.build()) != null;
    } finally {
      directory.refresh();
    }
  }

  /** To the millisecond, as it is stored. */
  private Instant now() {
    return Instant.ofEpochMilli(clock.millis());
  }

  private static UnknownPrincipalException noKey(@Nullable String prefix) {
    return new UnknownPrincipalException("there is no key " + prefix);
  }

  private static UnknownPrincipalException unknown(String name) {
    return new UnknownPrincipalException("there is no principal \"" + name + "\"");
  }
}
