package io.millrace.access;

import io.millrace.access.AccessDocuments.Entry;
import io.millrace.access.AccessDocuments.KeyEntry;
import io.millrace.access.AccessDocuments.PrincipalEntry;
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
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The principals and their keys. Every change is one transaction, and counts in the {@link
 * AccessDirectory} when the call returns. There is one registry for a store, since the directory
 * hears of changes from it alone. Safe for use by threads.
 */
public final class AccessRegistry {
  private static final int MAX_KEYS = 100;
  private static final int LONGEST_KEY_NAME = 200;

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
    return entries()
        .filter(PrincipalEntry.class::isInstance)
        .map(entry -> ((PrincipalEntry) entry).principal())
        .toList();
  }

  /** The principal of this name. */
  public Optional<Principal> principal(String name) {
    return find(name).map(PrincipalEntry::principal);
  }

  /** All keys by prefix, with their last use. */
  public List<AccessKey> keys() {
    Map<String, Instant> uses = new HashMap<>();
    for (Document document : session.all(AccessDocuments.USES)) {
      Instant used = AccessDocuments.readUse(document);
      if (used != null) {
        uses.put(document.key().key(), used);
      }
    }
    return entries()
        .filter(KeyEntry.class::isInstance)
        .map(entry -> ((KeyEntry) entry).key())
        .map(key ->
            new AccessKey(
                key.prefix(),
                key.principal(),
                key.name(),
                key.created(),
                key.createdBy(),
                key.expires(),
                uses.get(key.prefix())))
        .toList();
  }

  private Stream<Entry> entries() {
    return session.all(AccessDocuments.COLLECTION).stream()
        .flatMap(document -> AccessDocuments.read(document).stream());
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
    return session
        .retry(
            "principal " + name,
            () -> find(name),
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
            })
        .orElseThrow(() -> unknown(name));
  }

  private static @Nullable Integer rate(int changed) {
    return changed == 0 ? null : changed;
  }

  /**
   * Deletes a principal with its password and all its keys, which end at once.
   *
   * @throws UnknownPrincipalException if there is none of this name
   */
  public void delete(String name) {
    var _ =
        session
            .retry(
                "principal " + name,
                () -> find(name),
                found -> {
                  Transaction.Builder transaction =
                      session.begin().delete(AccessDocuments.principalKey(name), found.version());
                  keysOf(name).forEach(key -> remove(transaction, key));
                  return commit(transaction) ? name : null;
                })
            .orElseThrow(() -> unknown(name));
  }

  /**
   * Creates a key.
   *
   * @throws UnknownPrincipalException if there is no principal of this name
   * @throws InvalidAccessException if the principal has 100 keys, or something is wrong with it
   */
  public AccessKey.Created addKey(String name, NewKey key, String by) {
    return session
        .retry(
            "principal " + name,
            () -> find(name),
            found -> {
              if (keysOf(name).size() >= MAX_KEYS) {
                throw new InvalidAccessException(
                    "principal %s has %d keys; revoke one first".formatted(name, MAX_KEYS));
              }
              // The principal is written anew, so that none is deleted without its newest key.
              Transaction.Builder transaction = put(found, found.principal(), found.password());
              AccessKey.Created created = add(transaction, name, key, by);
              return commit(transaction) ? created : null;
            })
        .orElseThrow(() -> unknown(name));
  }

  /**
   * Revokes a key, which ends at once.
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
              return commit(transaction) ? found.key() : null;
            })
        .orElseThrow(() -> new UnknownPrincipalException("there is no key " + prefix));
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
    String text = AccessKey.generate(random);
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
    String prefix = key.key().prefix();
    transaction.delete(AccessDocuments.keyKey(prefix), key.version());
    session
        .document(AccessDocuments.useKey(prefix))
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

  private List<KeyEntry> keysOf(String principal) {
    return entries()
        .filter(KeyEntry.class::isInstance)
        .map(KeyEntry.class::cast)
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

  private static UnknownPrincipalException unknown(String name) {
    return new UnknownPrincipalException("there is no principal \"" + name + "\"");
  }
}
