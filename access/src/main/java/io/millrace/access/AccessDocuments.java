package io.millrace.access;

import com.fasterxml.jackson.annotation.JsonInclude.Include;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The documents of access. Principals, keys and sessions are in one collection, so that one read
 * sees them as they are at one moment; times of last use are in another, which changes every
 * minute.
 */
final class AccessDocuments {
  static final String COLLECTION = "access";
  static final String USES = "access.uses";

  private static final Logger LOG = LoggerFactory.getLogger(AccessDocuments.class);
  private static final String PRINCIPAL = "principal/";
  private static final String KEY = "key/";
  private static final String SESSION = "session/";
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .changeDefaultPropertyInclusion(each -> each.withValueInclusion(Include.NON_NULL))
          .build();

  private AccessDocuments() {}

  /** What a document holds. */
  sealed interface Entry {
    /** The version of its document. */
    long version();
  }

  /**
   * A principal.
   *
   * @param password the hash of its password; null for none
   */
  record PrincipalEntry(Principal principal, @Nullable String password, long version)
      implements Entry {}

  /**
   * A key.
   *
   * @param hash the SHA-256 of its text
   */
  record KeyEntry(AccessKey key, Bytes hash, long version) implements Entry {}

  /**
   * A session.
   *
   * @param hash the SHA-256 of its text
   * @param password a digest of the stored hash of the password that was shown; null if it was not
   *     a password
   */
  record SessionEntry(AccessSession session, Bytes hash, @Nullable String password, long version)
      implements Entry {}

  private record StoredPrincipal(
      Set<String> roles,
      @Nullable Reach reach,
      String note,
      @Nullable String password,
      @Nullable Integer rate,
      boolean disabled,
      long created,
      String createdBy) {}

  private record StoredKey(
      String principal,
      String name,
      String sha256,
      long created,
      String createdBy,
      @Nullable Long expires) {}

  private record StoredSession(
      String principal,
      @Nullable String key,
      @Nullable String password,
      @Nullable Set<String> groups,
      String sha256,
      long created,
      long expires,
      String address) {}

  private record StoredUse(long lastUsed) {}

  static DocumentKey principalKey(String name) {
    return new DocumentKey(COLLECTION, PRINCIPAL + name);
  }

  static DocumentKey keyKey(String prefix) {
    return new DocumentKey(COLLECTION, KEY + prefix);
  }

  static DocumentKey sessionKey(String prefix) {
    return new DocumentKey(COLLECTION, SESSION + prefix);
  }

  /** Where the last use of the key or session in this document of {@link #COLLECTION} stands. */
  static DocumentKey useKey(DocumentKey used) {
    return new DocumentKey(USES, used.key().startsWith(SESSION) ? used.key() : prefixOf(used));
  }

  /** The name of the principal whose document this is; null for a key or a session. */
  static @Nullable String principalOf(DocumentKey key) {
    return key.key().startsWith(PRINCIPAL) ? key.key().substring(PRINCIPAL.length()) : null;
  }

  /** Whether this is the document of a session. */
  static boolean isSession(DocumentKey key) {
    return key.key().startsWith(SESSION);
  }

  /** The prefix of the key or session whose document this is. */
  static String prefixOf(DocumentKey key) {
    return key.key().substring((isSession(key) ? SESSION : KEY).length());
  }

  static Bytes write(Principal principal, @Nullable String password) {
    return write(
        new StoredPrincipal(
            principal.roles().stream().map(Role::word).collect(Collectors.toSet()),
            principal.reach().equals(Reach.EVERYTHING) ? null : principal.reach(),
            principal.note(),
            password,
            principal.rate(),
            principal.disabled(),
            principal.created().toEpochMilli(),
            principal.createdBy()));
  }

  static Bytes write(AccessKey key, byte[] hash) {
    return write(
        new StoredKey(
            key.principal(),
            key.name(),
            HexFormat.of().formatHex(hash),
            key.created().toEpochMilli(),
            key.createdBy(),
            key.expires() == null ? null : key.expires().toEpochMilli()));
  }

  static Bytes write(AccessSession session, byte[] hash, @Nullable String password) {
    return write(
        new StoredSession(
            session.principal(),
            session.key(),
            password,
            session.groups(),
            HexFormat.of().formatHex(hash),
            session.created().toEpochMilli(),
            session.expires().toEpochMilli(),
            session.address()));
  }

  /**
   * What a session keeps of the stored hash of a password, to end when it changes; null for none.
   */
  static @Nullable String digest(@Nullable String password) {
    return password == null ? null : HexFormat.of().formatHex(AccessKey.hash(password), 0, 16);
  }

  static Bytes writeUse(Instant lastUsed) {
    return write(new StoredUse(lastUsed.toEpochMilli()));
  }

  private static Bytes write(Record value) {
    return Bytes.copyOf(MAPPER.writeValueAsBytes(value));
  }

  /** What a document of {@link #COLLECTION} holds; empty, with a warning, if it is damaged. */
  static Optional<Entry> read(Document document) {
    try {
      String principal = principalOf(document.key());
      return Optional.of(
          principal != null
              ? principal(principal, document)
              : isSession(document.key()) ? session(document) : key(document));
    } catch (JacksonException | IllegalArgumentException | AccessException e) {
      LOG.warn("the {} cannot be read and counts for nothing: {}", document.key(), e.getMessage());
      return Optional.empty();
    }
  }

  private static PrincipalEntry principal(String name, Document document) {
    StoredPrincipal stored = MAPPER.readValue(document.body().toArray(), StoredPrincipal.class);
    return new PrincipalEntry(
        new Principal(
            name,
            stored.roles().stream().map(Role::of).collect(Collectors.toSet()),
            stored.reach() == null ? Reach.EVERYTHING : stored.reach(),
            stored.note(),
            stored.password() != null,
            stored.rate(),
            stored.disabled(),
            Instant.ofEpochMilli(stored.created()),
            stored.createdBy()),
        stored.password(),
        document.version());
  }

  private static KeyEntry key(Document document) {
    StoredKey stored = MAPPER.readValue(document.body().toArray(), StoredKey.class);
    return new KeyEntry(
        new AccessKey(
            prefixOf(document.key()),
            stored.principal(),
            stored.name(),
            Instant.ofEpochMilli(stored.created()),
            stored.createdBy(),
            stored.expires() == null ? null : Instant.ofEpochMilli(stored.expires()),
            null),
        Bytes.copyOf(HexFormat.of().parseHex(stored.sha256())),
        document.version());
  }

  private static SessionEntry session(Document document) {
    StoredSession stored = MAPPER.readValue(document.body().toArray(), StoredSession.class);
    Instant created = Instant.ofEpochMilli(stored.created());
    return new SessionEntry(
        new AccessSession(
            prefixOf(document.key()),
            stored.principal(),
            stored.key(),
            stored.groups(),
            created,
            Instant.ofEpochMilli(stored.expires()),
            stored.address(),
            created),
        Bytes.copyOf(HexFormat.of().parseHex(stored.sha256())),
        stored.password(),
        document.version());
  }

  /**
   * When a key or a session was last used, from its document of {@link #USES}; null if it is
   * damaged.
   */
  static @Nullable Instant readUse(Document document) {
    try {
      return Instant.ofEpochMilli(
          MAPPER.readValue(document.body().toArray(), StoredUse.class).lastUsed());
    } catch (JacksonException _) {
      return null;
    }
  }
}
