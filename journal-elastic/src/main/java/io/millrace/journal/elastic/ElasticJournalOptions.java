package io.millrace.journal.elastic;

import io.millrace.journal.shared.BucketHome;
import io.millrace.journal.shared.JournalHome;
import io.millrace.journal.shared.JournalLocation;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.Retention;
import io.millrace.work.elastic.Credentials;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a journal is in Elasticsearch 8 or OpenSearch 3, and how it is used. Experimental: a
 * machine of the engine that is cut off from the others may return an old state for a while.
 *
 * @param server the address of the engine, {@code http} or {@code https}, with a path if it has one
 * @param index the name of the alias by which the index is reached. The index itself has {@code
 *     -objects} at its end; the first use creates both
 * @param credentials the credentials; null for none
 * @param certificates a file of certificates to trust over {@code https}, PEM or DER; null for
 *     those that the JVM trusts
 * @param store the name of the store, since an index may hold several: 1 to 64 letters, digits,
 *     {@code -}, {@code _} and {@code .}; default {@code main}
 * @param accepted {@code lifecycle} to accept an index with a lifecycle policy. Empty by default
 * @param retention how much is kept for subscribers
 * @param lease how long a leader may answer without a sign from the engine, at least 100 ms; a
 *     standby waits up to 1.7 times that. Default 1.5 s
 * @param deadline how long an append whose outcome is unknown is repeated, at least 1 s; default 30
 *     s
 */
public record ElasticJournalOptions(
    URI server,
    String index,
    @Nullable Credentials credentials,
    @Nullable Path certificates,
    String store,
    Set<String> accepted,
    Retention retention,
    Duration lease,
    Duration deadline)
    implements JournalLocation {
  /** What an address begins with. */
  public static final String SCHEME = "elasticsearch:";

  /** What the name of the index has after that of its alias. */
  static final String SUFFIX = "-objects";

  /** In {@code accepted}: an index with a lifecycle policy. */
  static final String LIFECYCLE = "lifecycle";

  private static final String CERTIFICATES = "certificates=";
  private static final String WANTED = "elasticsearch:https://HOST:PORT/INDEX is wanted: ";

  /**
   * Checks the values.
   *
   * @throws JournalException if one is wrong
   */
  public ElasticJournalOptions {
    accepted = Set.copyOf(accepted);
    for (String each : accepted) {
      if (!each.equals(LIFECYCLE)) {
        throw new JournalException(
            "of a search engine, '" + LIFECYCLE + "' can be accepted, not " + each);
      }
    }
    if (!index.matches("[a-z0-9][a-z0-9._-]{0,99}")) {
      throw new JournalException(
          "the name of an index has 1 to 100 small letters, digits, '.', '_' and '-', a letter or"
              + " digit first: "
              + index);
    }
    JournalLocation.requireName(store);
    JournalLocation.requireTimes(lease, deadline);
  }

  /**
   * The defaults for an address.
   *
   * @param url {@code elasticsearch:https://HOST:PORT/INDEX[?certificates=FILE]}
   * @throws JournalException if it is none
   */
  public static ElasticJournalOptions at(String url) {
    if (!url.startsWith(SCHEME)) {
      throw new JournalException(WANTED + url);
    }
    URI uri;
    try {
      uri = URI.create(url.substring(SCHEME.length()));
    } catch (IllegalArgumentException e) {
      throw new JournalException(WANTED + url, e);
    }
    if (uri.getRawUserInfo() != null) {
      throw new JournalException(
          "the address has a user, whose password others of this machine could see: use store.user"
              + " and store.password-file");
    }
    String path = uri.getPath() == null ? "" : uri.getPath();
    int slash = path.lastIndexOf('/');
    if (uri.getHost() == null || !uri.getScheme().matches("https?") || slash == path.length() - 1) {
      throw new JournalException(WANTED + url);
    }
    String query = uri.getQuery();
    if (query != null && !query.startsWith(CERTIFICATES)) {
      throw new JournalException("the address may have certificates=FILE, not " + query);
    }
    String base =
        "%s://%s%s".formatted(uri.getScheme(), uri.getAuthority(), path.substring(0, slash));
    return new ElasticJournalOptions(
        URI.create(base),
        path.substring(slash + 1),
        null,
        query == null ? null : Path.of(query.substring(CERTIFICATES.length())),
        DEFAULT_STORE,
        Set.of(),
        Retention.DEFAULTS,
        DEFAULT_LEASE,
        DEFAULT_DEADLINE);
  }

  /**
   * The same options with a user; null for the credentials of the environment, if it has some
   * ({@link Credentials#from}).
   *
   * @throws JournalException if one of both is missing
   */
  public ElasticJournalOptions withUser(@Nullable String user, @Nullable String password) {
    if (user != null && password != null) {
      return with(Credentials.user(user, password), store, accepted, retention, lease);
    }
    if (user != null || password != null) {
      throw new JournalException("a user of a search engine has a name and a password");
    }
    Credentials found = Credentials.from(System.getenv()).orElse(null);
    return with(found, store, accepted, retention, lease);
  }

  /** The same options with the name of another store, and other accepted settings. */
  public ElasticJournalOptions withStore(String name, Set<String> accepts) {
    return with(credentials, name, accepts, retention, lease);
  }

  /** The same options with another retention and lease. */
  public ElasticJournalOptions with(Retention kept, Duration leads) {
    return with(credentials, store, accepted, kept, leads);
  }

  private ElasticJournalOptions with(
      @Nullable Credentials shown,
      String name,
      Set<String> accepts,
      Retention kept,
      Duration leads) {
    return new ElasticJournalOptions(
        server, index, shown, certificates, name, accepts, kept, leads, deadline);
  }

  /** The address, for people. */
  String place() {
    return SCHEME + server + "/" + index;
  }

  @Override
  public JournalHome connect() {
    return new BucketHome(new ElasticBucket(this));
  }

  /** The address and the name of the store, without credentials. */
  @Override
  public String toString() {
    return place() + " (store " + store + ")";
  }
}
