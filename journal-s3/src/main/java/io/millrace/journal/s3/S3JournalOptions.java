package io.millrace.journal.s3;

import io.millrace.journal.shared.BucketHome;
import io.millrace.journal.shared.JournalHome;
import io.millrace.journal.shared.JournalLocation;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.Retention;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Where a journal is in a bucket, and how it is used.
 *
 * @param bucket the name of the bucket, which exists
 * @param prefix what the keys of all stores begin with, without a slash at its end; empty for
 *     nothing
 * @param region the region, such as {@code eu-central-1}; null for that of the environment, and
 *     {@code us-east-1} if that has none
 * @param endpoint the address of a server other than Amazon's; null for Amazon's
 * @param accessKey the id of the access key; null for what the environment has: {@code
 *     AWS_ACCESS_KEY_ID}, profiles, the role of the machine
 * @param secretKey the secret of that key, if there is one
 * @param store the name of the store, since a bucket may hold several: 1 to 64 letters, digits,
 *     {@code -}, {@code _} and {@code .}; default {@code main}
 * @param accepted {@code expiry} to accept a bucket with rules that delete objects. Empty by
 *     default
 * @param retention how much is kept for subscribers
 * @param lease how long a leader may answer without a sign from the bucket, at least 100 ms; a
 *     standby waits up to 1.7 times that. Default 1.5 s
 * @param deadline how long an append whose outcome is unknown is repeated, at least 1 s; default 30
 *     s
 */
public record S3JournalOptions(
    String bucket,
    String prefix,
    @Nullable String region,
    @Nullable URI endpoint,
    @Nullable String accessKey,
    @Nullable String secretKey,
    String store,
    Set<String> accepted,
    Retention retention,
    Duration lease,
    Duration deadline)
    implements JournalLocation {
  /** What an address begins with. */
  public static final String SCHEME = "s3://";

  /** In {@code accepted}: rules that delete objects. */
  static final String EXPIRY = "expiry";

  /**
   * Checks the values.
   *
   * @throws JournalException if one is wrong
   */
  public S3JournalOptions {
    accepted = Set.copyOf(accepted);
    for (String each : accepted) {
      if (!each.equals(EXPIRY)) {
        throw new JournalException("of a bucket, '" + EXPIRY + "' can be accepted, not " + each);
      }
    }
    if (!bucket.matches("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")) {
      throw new JournalException(
          "the name of a bucket has 3 to 63 small letters, digits, '-' and '.': " + bucket);
    }
    if (prefix.length() > 500 || !prefix.matches("([A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*)?")) {
      throw new JournalException(
          "a prefix in a bucket has up to 500 letters, digits, '-', '_', '.' and '/' between them: "
              + prefix);
    }
    if ((accessKey == null) != (secretKey == null)) {
      throw new JournalException("an access key of a bucket has an id and a secret");
    }
    JournalLocation.requireName(store);
    JournalLocation.requireTimes(lease, deadline);
  }

  /**
   * The defaults for an address.
   *
   * @param url {@code s3://BUCKET[/PREFIX][?region=REGION&endpoint=URL]}
   * @throws JournalException if it is none
   */
  public static S3JournalOptions at(String url) {
    if (!url.startsWith(SCHEME)) {
      throw new JournalException("the address of a bucket begins with " + SCHEME + ": " + url);
    }
    String[] halves = url.substring(SCHEME.length()).split("\\?", 2);
    String[] parts = halves[0].replaceFirst("/+$", "").split("/", 2);
    Map<String, String> query = query(url, halves.length == 1 ? "" : halves[1]);
    String region = query.remove("region");
    String endpoint = query.remove("endpoint");
    if (!query.isEmpty()) {
      throw new JournalException(
          "the address of a bucket may have region and endpoint, not "
              + String.join(", ", query.keySet())
              + ": "
              + url);
    }
    return new S3JournalOptions(
        parts[0],
        parts.length == 1 ? "" : parts[1],
        region,
        endpoint == null ? null : endpoint(endpoint),
        null,
        null,
        "main",
        Set.of(),
        Retention.DEFAULTS,
        Duration.ofMillis(1_500),
        Duration.ofSeconds(30));
  }

  private static Map<String, String> query(String url, String text) {
    Map<String, String> values = new TreeMap<>();
    for (String part : text.isEmpty() ? new String[0] : text.split("&")) {
      String[] pair = part.split("=", 2);
      if (pair.length == 1 || pair[1].isEmpty()) {
        throw new JournalException("an option without a value, " + part + ": " + url);
      }
      values.put(pair[0], URLDecoder.decode(pair[1], StandardCharsets.UTF_8));
    }
    return values;
  }

  private static URI endpoint(String text) {
    try {
      URI uri = URI.create(text);
      if (uri.getHost() != null && uri.getScheme().matches("https?")) {
        return uri;
      }
    } catch (IllegalArgumentException _) {
      // Said below.
    }
    throw new JournalException("an endpoint is http://HOST[:PORT] or https://HOST[:PORT]: " + text);
  }

  /** The same options with an access key; null for that of the environment. */
  public S3JournalOptions withKey(@Nullable String id, @Nullable String secret) {
    return with(id, secret, store, accepted, retention, lease);
  }

  /** The same options with the name of another store, and other accepted settings. */
  public S3JournalOptions withStore(String name, Set<String> accepts) {
    return with(accessKey, secretKey, name, accepts, retention, lease);
  }

  /** The same options with another retention and lease. */
  public S3JournalOptions with(Retention kept, Duration leads) {
    return with(accessKey, secretKey, store, accepted, kept, leads);
  }

  private S3JournalOptions with(
      @Nullable String id,
      @Nullable String secret,
      String name,
      Set<String> accepts,
      Retention kept,
      Duration leads) {
    return new S3JournalOptions(
        bucket, prefix, region, endpoint, id, secret, name, accepts, kept, leads, deadline);
  }

  @Override
  public JournalHome connect(boolean appends) {
    return new BucketHome(new S3Bucket(this));
  }

  /** The address and the name of the store, without the key. */
  @Override
  public String toString() {
    return SCHEME
        + bucket
        + (prefix.isEmpty() ? "" : "/" + prefix)
        + (endpoint == null ? "" : " at " + endpoint)
        + " (store "
        + store
        + ")";
  }
}
