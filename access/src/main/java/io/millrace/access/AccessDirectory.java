package io.millrace.access;

import static java.util.Objects.requireNonNull;

import io.millrace.access.AccessDocuments.Entry;
import io.millrace.access.AccessDocuments.KeyEntry;
import io.millrace.access.AccessDocuments.PrincipalEntry;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Sha256;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Verifies credentials, against a copy of all principals and keys in memory. It notes when keys are
 * used, in the store once a minute. Safe for use by threads.
 */
public final class AccessDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(AccessDirectory.class);
  private static final Duration EVERY = Duration.ofSeconds(10);
  private static final Owner SELF = Owner.client(1);

  private final TaskStore store;
  private final InstantSource clock;
  private final Passwords passwords;
  private final byte[] secret = new byte[32];
  private final Map<String, User> users = new ConcurrentHashMap<>();
  private final Map<String, Key> keys = new ConcurrentHashMap<>();
  private final Map<String, Instant> uses = new ConcurrentHashMap<>();

  /** A principal, and what its password gives. */
  private static final class User {
    final PrincipalEntry entry;
    final Grant byPassword;

    /** A digest of the password that was found right; null for none yet. */
    volatile byte @Nullable [] verified;

    private User(PrincipalEntry entry, Grant byPassword) {
      this.entry = entry;
      this.byPassword = byPassword;
    }

    static User of(PrincipalEntry entry) {
      Principal principal = entry.principal();
      return new User(entry, Grant.of(principal, null, null));
    }

    /** The same access with another version of the document. */
    User with(PrincipalEntry other) {
      User same = new User(other, byPassword);
      same.verified = verified;
      return same;
    }

    boolean isSameAccess(PrincipalEntry other) {
      Principal now = other.principal();
      Principal then = entry.principal();
      return now.roles().equals(then.roles())
          && now.reach().equals(then.reach())
          && Objects.equals(now.rate(), then.rate())
          && now.disabled() == then.disabled();
    }
  }

  /**
   * A key.
   *
   * @param grant what it gives; null while its principal is absent or disabled
   */
  private record Key(KeyEntry entry, @Nullable Grant grant) {}

  private AccessDirectory(TaskStore store, InstantSource clock, RandomGenerator random) {
    this.store = store;
    this.clock = clock;
    this.passwords = new Passwords(random);
    synchronized (random) {
      random.nextBytes(secret);
    }
  }

  /**
   * Reads all principals and keys. Later changes are made by {@link AccessRegistry}, which tells of
   * them.
   *
   * @param random secret and unpredictable; used under its own lock
   * @throws StoreException if the store cannot be read
   */
  public static AccessDirectory open(TaskStore store, InstantSource clock, RandomGenerator random) {
    AccessDirectory directory = new AccessDirectory(store, clock, random);
    directory.refresh();
    return directory;
  }

  /** Whether there is a principal of this name with a password. */
  public boolean hasPassword(String name) {
    User user = users.get(name);
    return user != null && user.entry.password() != null;
  }

  /** Whether some principal that is not disabled has this role without limits, and a credential. */
  public boolean hasUnlimited(Role role) {
    return users.values().stream()
        .anyMatch(user ->
            !user.entry.principal().disabled()
                && user.entry.principal().roles().contains(role)
                && user.entry.principal().reach().coversEverything()
                && (user.entry.password() != null
                    || keys.values().stream()
                        .anyMatch(key ->
                            key.entry.key().principal().equals(user.entry.principal().name()))));
  }

  /**
   * What a key gives.
   *
   * @param text the key as a caller showed it
   * @return empty if there is no such key, or it has expired or its principal is disabled
   */
  public Optional<Grant> byKey(String text) {
    String prefix = AccessKey.prefixOf(text);
    Key key = prefix == null ? null : keys.get(prefix);
    if (key == null
        || !Passwords.isSame(key.entry.hash().toArray(), AccessKey.hash(text))
        || key.grant == null) {
      return Optional.empty();
    }
    Instant now = clock.instant();
    if (key.grant.isExpired(now)) {
      return Optional.empty();
    }
    if (key.grant.isFirstUse(now.getEpochSecond() / 60)) {
      uses.put(requireNonNull(prefix), now);
    }
    return Optional.of(key.grant);
  }

  /**
   * What the password of a principal gives. Takes some 50 ms, unless the same password was shown
   * before.
   *
   * @return empty if it is not the password of this principal, or the principal is disabled
   * @throws AccessException if too many passwords are being checked
   */
  public Optional<Grant> byPassword(String name, String password) {
    Optional<Grant> known = byKnownPassword(name, password);
    if (known.isPresent()) {
      return known;
    }
    User user = users.get(name);
    if (!passwords.matches(password, user == null ? null : user.entry.password())
        || user == null
        || user.entry.principal().disabled()) {
      return Optional.empty();
    }
    user.verified = digest(name, password);
    return Optional.of(user.byPassword);
  }

  /**
   * What the password of a principal gives, if the same one was found right before; without
   * computing for long.
   */
  public Optional<Grant> byKnownPassword(String name, String password) {
    User user = users.get(name);
    byte[] verified = user == null ? null : user.verified;
    return verified != null
            && !requireNonNull(user).entry.principal().disabled()
            && Passwords.isSame(verified, digest(name, password))
        ? Optional.of(user.byPassword)
        : Optional.empty();
  }

  private byte[] digest(String name, String password) {
    MessageDigest digest = Sha256.begin();
    digest.update(secret);
    digest.update((name + ":" + password).getBytes(StandardCharsets.UTF_8));
    return digest.digest();
  }

  Passwords passwords() {
    return passwords;
  }

  /** Reads everything again; what does not count any more ends. */
  synchronized void refresh() {
    Set<String> names = new HashSet<>();
    Set<String> prefixes = new HashSet<>();
    for (Document document :
        store.documents(DocumentQuery.prefix(AccessDocuments.COLLECTION, "")).value()) {
      take(document);
      String name = AccessDocuments.principalOf(document.key());
      if (name == null) {
        prefixes.add(AccessDocuments.prefixOf(document.key()));
      } else {
        names.add(name);
      }
    }
    List.copyOf(keys.keySet()).stream()
        .filter(prefix -> !prefixes.contains(prefix))
        .forEach(this::removeKey);
    List.copyOf(users.keySet()).stream()
        .filter(name -> !names.contains(name))
        .forEach(this::removePrincipal);
  }

  private void take(Document document) {
    Optional<Entry> entry = AccessDocuments.read(document);
    if (entry.isEmpty()) {
      remove(document.key());
      return;
    }
    switch (entry.get()) {
      case PrincipalEntry principal -> put(principal);
      case KeyEntry key -> take(key);
    }
  }

  private void put(PrincipalEntry entry) {
    String name = entry.principal().name();
    User old = users.get(name);
    if (old != null
        && old.isSameAccess(entry)
        && Objects.equals(old.entry.password(), entry.password())) {
      users.put(name, old.with(entry));
      return;
    }
    users.put(name, User.of(entry));
    if (old != null) {
      old.byPassword.end();
      if (old.isSameAccess(entry)) {
        return;
      }
    }
    regrant(name);
  }

  /** Gives the keys of a principal what they are worth now. */
  private void regrant(String name) {
    for (Key key : List.copyOf(keys.values())) {
      if (key.entry.key().principal().equals(name)) {
        put(key.entry);
      }
    }
  }

  private void take(KeyEntry entry) {
    Key old = keys.get(entry.key().prefix());
    if (old == null || old.entry.version() != entry.version()) {
      put(entry);
    }
  }

  private void put(KeyEntry entry) {
    User user = users.get(entry.key().principal());
    Principal principal = user == null ? null : user.entry.principal();
    Grant grant =
        principal == null || principal.disabled()
            ? null
            : Grant.of(principal, entry.key().prefix(), entry.key().expires());
    Key old = keys.put(entry.key().prefix(), new Key(entry, grant));
    if (old != null && old.grant != null) {
      old.grant.end();
    }
  }

  private void remove(DocumentKey key) {
    String name = AccessDocuments.principalOf(key);
    if (name == null) {
      removeKey(AccessDocuments.prefixOf(key));
    } else {
      removePrincipal(name);
    }
  }

  private void removeKey(String prefix) {
    Key old = keys.remove(prefix);
    if (old != null && old.grant != null) {
      old.grant.end();
    }
  }

  private void removePrincipal(String name) {
    User old = users.remove(name);
    if (old != null) {
      old.byPassword.end();
      regrant(name);
    }
  }

  /**
   * Ends what has expired, and stores when keys were used: a {@link io.millrace.work.Step}.
   *
   * @return when it is to be called again
   */
  public Instant step(Instant now) {
    Instant next = now.plus(EVERY);
    for (Key key : keys.values()) {
      Instant expires = key.entry.key().expires();
      if (key.grant == null || expires == null) {
        continue;
      }
      if (key.grant.isExpired(now)) {
        key.grant.end();
      } else if (expires.isBefore(next)) {
        next = expires;
      }
    }
    storeUses();
    return next;
  }

  private void storeUses() {
    for (String prefix : List.copyOf(uses.keySet())) {
      Instant used = uses.remove(prefix);
      if (used == null) {
        continue;
      }
      try {
        Outcome outcome =
            store.commit(
                Transaction.by(SELF)
                    .depend(AccessDocuments.keyKey(prefix), DocumentVersion.ANY)
                    .put(
                        AccessDocuments.useKey(prefix),
                        DocumentVersion.ANY,
                        AccessDocuments.writeUse(used))
                    .build());
        if (outcome instanceof Outcome.Refused refused) {
          LOG.debug("the last use of key {} is not noted: {}", prefix, refused.reasons());
        }
      } catch (StoreException e) {
        LOG.debug("the last use of key {} is not noted", prefix, e);
        return;
      }
    }
  }
}
