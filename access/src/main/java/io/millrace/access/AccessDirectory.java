package io.millrace.access;

import static java.util.Objects.requireNonNull;

import io.millrace.access.AccessDocuments.Entry;
import io.millrace.access.AccessDocuments.KeyEntry;
import io.millrace.access.AccessDocuments.PrincipalEntry;
import io.millrace.access.AccessDocuments.SessionEntry;
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
 * Verifies credentials, against a copy of all principals, keys and sessions in memory. It notes
 * when keys and sessions are used, in the store once a minute, and deletes sessions that have
 * ended. Safe for use by threads.
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
  private final GroupRoles groupRoles;
  private final Sessions sessions;

  /** By the document of the key or session. */
  private final Map<DocumentKey, Instant> uses = new ConcurrentHashMap<>();

  /**
   * What sessions give.
   *
   * @param idle for how long a session may go unused before it ends
   * @param roles the roles of people who have no principal in the store
   */
  public record SessionRules(Duration idle, GroupRoles roles) {
    /** Two hours, and only principals of the store have roles. */
    public static final SessionRules DEFAULT =
        new SessionRules(Duration.ofHours(2), GroupRoles.NONE);
  }

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

  private AccessDirectory(
      TaskStore store, InstantSource clock, RandomGenerator random, SessionRules rules) {
    this.groupRoles = rules.roles();
    this.sessions = new Sessions(rules.idle(), this::worth);
    this.store = store;
    this.clock = clock;
    this.passwords = new Passwords(random);
    synchronized (random) {
      random.nextBytes(secret);
    }
  }

  /**
   * Reads all principals, keys and sessions. Later changes are made by {@link AccessRegistry},
   * which tells of them.
   *
   * @param random secret and unpredictable; used under its own lock
   * @throws StoreException if the store cannot be read
   */
  public static AccessDirectory open(
      TaskStore store, InstantSource clock, RandomGenerator random, SessionRules rules) {
    AccessDirectory directory = new AccessDirectory(store, clock, random, rules);
    directory.refresh();
    return directory;
  }

  /** The same with {@link SessionRules#DEFAULT}. */
  public static AccessDirectory open(TaskStore store, InstantSource clock, RandomGenerator random) {
    return open(store, clock, random, SessionRules.DEFAULT);
  }

  /** What somebody may do who has no principal in the store, but belongs to these groups. */
  public Optional<GroupRoles.Entry> rolesOf(Set<String> groups) {
    return groupRoles.of(groups);
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
      uses.put(AccessDocuments.keyKey(requireNonNull(prefix)), now);
    }
    return Optional.of(key.grant);
  }

  /**
   * What a session gives.
   *
   * @param text the session as a caller showed it
   * @return empty if there is no such session, or it has ended
   */
  public Optional<Grant> bySession(String text) {
    Instant now = clock.instant();
    Optional<Grant> grant = sessions.use(text, now);
    grant
        .filter(used -> used.isFirstUse(now.getEpochSecond() / 60))
        .ifPresent(used -> uses.put(AccessDocuments.sessionKey(requireNonNull(used.key())), now));
    return grant;
  }

  /** What a session gives by what is known of principals, keys and groups now. */
  private Optional<Grant> worth(SessionEntry entry) {
    AccessSession session = entry.session();
    if (session.groups() != null) {
      return groupRoles
          .of(session.groups())
          .map(roles ->
              Grant.of(
                  Principal.ofGroups(session.principal(), roles, session.created()),
                  session.prefix(),
                  session.expires()));
    }
    User user = users.get(session.principal());
    if (user == null || user.entry.principal().disabled()) {
      return Optional.empty();
    }
    boolean counts =
        session.key() == null
            ? Objects.equals(entry.password(), AccessDocuments.digest(user.entry.password()))
            : keys.containsKey(session.key());
    return counts
        ? Optional.of(Grant.of(user.entry.principal(), session.prefix(), session.expires()))
        : Optional.empty();
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
  public synchronized void refresh() {
    Set<String> names = new HashSet<>();
    Set<String> prefixes = new HashSet<>();
    Set<String> ofSessions = new HashSet<>();
    for (Document document :
        store.documents(DocumentQuery.prefix(AccessDocuments.COLLECTION, "")).value()) {
      take(document);
      String name = AccessDocuments.principalOf(document.key());
      if (name != null) {
        names.add(name);
      } else if (AccessDocuments.isSession(document.key())) {
        ofSessions.add(AccessDocuments.prefixOf(document.key()));
      } else {
        prefixes.add(AccessDocuments.prefixOf(document.key()));
      }
    }
    sessions.prefixes().stream()
        .filter(prefix -> !ofSessions.contains(prefix))
        .forEach(sessions::remove);
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
      case SessionEntry session ->
          sessions.take(session, sessions.isKnown(session) ? Instant.EPOCH : lastUse(session));
    }
  }

  /** The time of the last use of a session in the store, or else of its creation. */
  private Instant lastUse(SessionEntry entry) {
    Instant created = entry.session().created();
    return store
        .document(AccessDocuments.useKey(AccessDocuments.sessionKey(entry.session().prefix())))
        .value()
        .map(AccessDocuments::readUse)
        .filter(created::isBefore)
        .orElse(created);
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
        sessions.renew(session ->
            session.groups() == null && session.key() == null && session.principal().equals(name));
        return;
      }
    }
    regrant(name);
  }

  /** Gives the keys and sessions of a principal what they are worth now. */
  private void regrant(String name) {
    sessions.renew(session -> session.groups() == null && session.principal().equals(name));
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
    if (name != null) {
      removePrincipal(name);
    } else if (AccessDocuments.isSession(key)) {
      sessions.remove(AccessDocuments.prefixOf(key));
    } else {
      removeKey(AccessDocuments.prefixOf(key));
    }
  }

  private void removeKey(String prefix) {
    Key old = keys.remove(prefix);
    if (old != null) {
      if (old.grant != null) {
        old.grant.end();
      }
      sessions.renew(session -> prefix.equals(session.key()));
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
   * Ends what has expired, and stores when keys and sessions were used: a {@link
   * io.millrace.work.Step}.
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
    deleteSessions(sessions.ended(now));
    return sessions.nextEnd(next);
  }

  private void deleteSessions(List<SessionEntry> ended) {
    for (SessionEntry entry : ended) {
      String prefix = entry.session().prefix();
      DocumentKey key = AccessDocuments.sessionKey(prefix);
      uses.remove(key);
      try {
        Transaction.Builder transaction = Transaction.by(SELF).delete(key, entry.version());
        store
            .document(AccessDocuments.useKey(key))
            .value()
            .ifPresent(use -> transaction.delete(use.key(), DocumentVersion.ANY));
        var _ = store.commit(transaction.build());
        sessions.remove(prefix);
      } catch (StoreException e) {
        LOG.debug("session {}, which has ended, is not deleted yet", prefix, e);
        return;
      }
    }
  }

  private void storeUses() {
    for (DocumentKey key : List.copyOf(uses.keySet())) {
      Instant used = uses.remove(key);
      if (used == null) {
        continue;
      }
      try {
        Outcome outcome =
            store.commit(
                Transaction.by(SELF)
                    .depend(key, DocumentVersion.ANY)
                    .put(
                        AccessDocuments.useKey(key),
                        DocumentVersion.ANY,
                        AccessDocuments.writeUse(used))
                    .build());
        if (outcome instanceof Outcome.Refused refused) {
          LOG.debug("the last use of {} is not noted: {}", key, refused.reasons());
        }
      } catch (StoreException e) {
        LOG.debug("the last use of {} is not noted", key, e);
        return;
      }
    }
  }
}
