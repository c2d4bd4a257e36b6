package io.millrace.journal.s3;

import io.millrace.journal.shared.BucketHome;
import io.millrace.journal.shared.JournalHome;
import io.millrace.journal.shared.JournalLocation;
import io.millrace.s3.S3Address;
import io.millrace.s3.S3AddressException;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.Retention;
import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Where a journal is in a bucket, and how it is used.
 *
 * @param address the bucket, what the keys of all stores in it begin with, and the access key
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
    S3Address address,
    String store,
    Set<String> accepted,
    Retention retention,
    Duration lease,
    Duration deadline)
    implements JournalLocation {
  /** What an address begins with. */
  public static final String SCHEME = S3Address.SCHEME;

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
    return new S3JournalOptions(
        checked(() -> S3Address.at(url)),
        DEFAULT_STORE,
        Set.of(),
        Retention.DEFAULTS,
        DEFAULT_LEASE,
        DEFAULT_DEADLINE);
  }

  private static S3Address checked(Supplier<S3Address> address) {
    try {
      return address.get();
    } catch (S3AddressException e) {
      throw new JournalException(String.valueOf(e.getMessage()), e);
    }
  }

  /** The same options with an access key; null for that of the environment. */
  public S3JournalOptions withKey(@Nullable String id, @Nullable String secret) {
    return with(checked(() -> address.withKey(id, secret)), store, accepted, retention, lease);
  }

  /** The same options with the name of another store, and other accepted settings. */
  public S3JournalOptions withStore(String name, Set<String> accepts) {
    return with(address, name, accepts, retention, lease);
  }

  /** The same options with another retention and lease. */
  public S3JournalOptions with(Retention kept, Duration leads) {
    return with(address, store, accepted, kept, leads);
  }

  private S3JournalOptions with(
      S3Address where, String name, Set<String> accepts, Retention kept, Duration leads) {
    return new S3JournalOptions(where, name, accepts, kept, leads, deadline);
  }

  @Override
  public JournalHome connect() {
    return new BucketHome(new S3Bucket(this));
  }

  /** The address and the name of the store, without the key. */
  @Override
  public String toString() {
    return address + " (store " + store + ")";
  }
}
