package io.millrace.journal.mongo;

import io.millrace.journal.shared.BucketHome;
import io.millrace.journal.shared.JournalHome;
import io.millrace.journal.shared.JournalLocation;
import io.millrace.mongodb.MongoAddress;
import io.millrace.mongodb.MongoAddressException;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.Retention;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a journal is in MongoDB, and how it is used.
 *
 * @param url {@code mongodb://HOST[:PORT][,…]/DATABASE[.COLLECTION][?OPTIONS]} or {@code
 *     mongodb+srv://…}, without a user. One address leads to all members of the replica set, unless
 *     it has {@code directConnection=true}. The collection is {@code millrace_journal} if none is
 *     named; it is created by the first use
 * @param user the user; null for none, or for what the options of the address say
 * @param password the password of that user, if there is one. The database that knows them is
 *     {@code authSource} of the address, by default its database
 * @param store the name of the store, since a collection may hold several: 1 to 64 letters, digits,
 *     {@code -}, {@code _} and {@code .}; default {@code main}
 * @param accepted {@code standalone} to accept a server that is no member of a replica set, {@code
 *     writeConcernMajorityJournalDefault} to accept a replica set that has this setting turned off.
 *     Empty by default
 * @param retention how much is kept for subscribers
 * @param lease how long a leader may answer without a sign from the database, at least 100 ms; a
 *     standby waits up to 1.7 times that. Default 1.5 s
 * @param deadline how long an append whose outcome is unknown is repeated, at least 1 s; default 30
 *     s
 */
public record MongoJournalOptions(
    String url,
    @Nullable String user,
    @Nullable String password,
    String store,
    Set<String> accepted,
    Retention retention,
    Duration lease,
    Duration deadline)
    implements JournalLocation {
  /** In {@code accepted}: a server that is no member of a replica set. */
  static final String STANDALONE = "standalone";

  /** In {@code accepted}, and the setting: a majority need not have its journals written. */
  static final String NOT_JOURNALED = "writeConcernMajorityJournalDefault";

  private static final List<String> ACCEPTABLE = List.of(STANDALONE, NOT_JOURNALED);

  /**
   * Checks the values.
   *
   * @throws JournalException if one is wrong
   */
  public MongoJournalOptions {
    accepted = Set.copyOf(accepted);
    for (String each : accepted) {
      if (!ACCEPTABLE.contains(each)) {
        throw new JournalException(
            "of MongoDB, %s can be accepted, not %s"
                .formatted(String.join(" and ", ACCEPTABLE), each));
      }
    }
    JournalLocation.requireName(store);
    JournalLocation.requireTimes(lease, deadline);
    var _ = address(url, user, password);
  }

  private static MongoAddress address(
      String url, @Nullable String user, @Nullable String password) {
    try {
      return new MongoAddress(url, user, password);
    } catch (MongoAddressException e) {
      throw new JournalException(String.valueOf(e.getMessage()), e);
    }
  }

  MongoAddress address() {
    return address(url, user, password);
  }

  /** Whether an address is one of MongoDB. */
  public static boolean isSupported(String url) {
    return MongoAddress.isSupported(url);
  }

  /**
   * The defaults for an address.
   *
   * @throws JournalException if it is none
   */
  public static MongoJournalOptions at(String url) {
    return new MongoJournalOptions(
        url,
        null,
        null,
        DEFAULT_STORE,
        Set.of(),
        Retention.DEFAULTS,
        DEFAULT_LEASE,
        DEFAULT_DEADLINE);
  }

  /** The same options with a user; null for what the address says. */
  public MongoJournalOptions withUser(@Nullable String name, @Nullable String secret) {
    return with(name, secret, store, accepted, retention, lease);
  }

  /** The same options with the name of another store, and other accepted settings. */
  public MongoJournalOptions withStore(String name, Set<String> accepts) {
    return with(user, password, name, accepts, retention, lease);
  }

  /** The same options with another retention and lease. */
  public MongoJournalOptions with(Retention kept, Duration leads) {
    return with(user, password, store, accepted, kept, leads);
  }

  private MongoJournalOptions with(
      @Nullable String name,
      @Nullable String secret,
      String named,
      Set<String> accepts,
      Retention kept,
      Duration leads) {
    return new MongoJournalOptions(url, name, secret, named, accepts, kept, leads, deadline);
  }

  @Override
  public JournalHome connect() {
    return new BucketHome(new MongoBucket(this));
  }

  /** The address and the name of the store, without the user. */
  @Override
  public String toString() {
    return address() + " (store " + store + ")";
  }
}
