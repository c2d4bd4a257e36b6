package io.millrace.mongodb;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.MongoException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.connection.ClusterConnectionMode;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * A database of MongoDB, and the user for it.
 *
 * @param url {@code mongodb://HOST[:PORT][,…]/DATABASE[.COLLECTION][?OPTIONS]} or {@code
 *     mongodb+srv://…}, without a user. One address leads to all members of the replica set, unless
 *     it has {@code directConnection=true}
 * @param user the user; null for none, or for what the options of the address say
 * @param password the password of that user, if there is one. The database that knows them is
 *     {@code authSource} of the address, by default its database
 */
public record MongoAddress(String url, @Nullable String user, @Nullable String password) {
  /** How long a call waits for a server that can be written to, if the address does not say. */
  private static final int SELECTION_SECONDS = 5;

  /** After this long without an answer, a request counts as lost, if the address does not say. */
  private static final int SILENCE_SECONDS = 15;

  /**
   * Checks the values.
   *
   * @throws MongoAddressException if one is wrong
   */
  public MongoAddress {
    if ((user == null) != (password == null)) {
      throw new MongoAddressException("a user of MongoDB has a name and a password");
    }
    ConnectionString address = parse(url);
    if (address.getDatabase() == null) {
      throw new MongoAddressException(
          "the address has no database: mongodb://HOST[:PORT][,…]/DATABASE is wanted");
    }
    if (address.getUsername() != null) {
      throw new MongoAddressException(
          "the address has a user, whose password others of this machine could see: give the two"
              + " apart from it");
    }
  }

  /** Whether an address is one of MongoDB. */
  public static boolean isSupported(String url) {
    return url.startsWith("mongodb://") || url.startsWith("mongodb+srv://");
  }

  private static ConnectionString parse(String url) {
    try {
      return new ConnectionString(url);
    } catch (IllegalArgumentException | MongoException e) {
      throw new MongoAddressException("not an address of a MongoDB database: " + e.getMessage(), e);
    }
  }

  /** The database. */
  public String database() {
    return Objects.requireNonNull(parse(url).getDatabase());
  }

  /** The collection that the address names; null for none. */
  public @Nullable String collection() {
    return parse(url).getCollection();
  }

  /**
   * Makes a client that reads from the primary; to be closed. It connects when it is used.
   *
   * @param more adds to its settings
   */
  public MongoClient newClient(Consumer<MongoClientSettings.Builder> more) {
    ConnectionString address = parse(url);
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder()
            .applyToClusterSettings(
                cluster -> cluster.serverSelectionTimeout(SELECTION_SECONDS, TimeUnit.SECONDS))
            .applyToSocketSettings(socket ->
                socket
                    .connectTimeout(SELECTION_SECONDS, TimeUnit.SECONDS)
                    .readTimeout(SILENCE_SECONDS, TimeUnit.SECONDS))
            .applyConnectionString(address)
            .applyToClusterSettings(cluster -> {
              if (!Boolean.TRUE.equals(address.isDirectConnection())) {
                // One address leads to all members, so that an election does not cut us off.
                cluster.mode(ClusterConnectionMode.MULTIPLE);
              }
            })
            .applicationName("millrace")
            .readPreference(ReadPreference.primary());
    MongoCredential credential = credential();
    if (credential != null) {
      settings.credential(credential);
    }
    more.accept(settings);
    return MongoClients.create(settings.build());
  }

  private @Nullable MongoCredential credential() {
    if (user == null || password == null) {
      return null;
    }
    // The driver passes over this option in an address without a user.
    String[] halves = url.split("[?&]authSource=", 2);
    String source = halves.length == 1 ? database() : halves[1].replaceFirst("&.*", "");
    return MongoCredential.createCredential(user, source, password.toCharArray());
  }

  /**
   * Waits until a client can be used.
   *
   * @throws MongoAddressException if the user may not sign in
   * @throws IOException if no server that can be written to answers
   */
  public void check(MongoClient client) throws IOException {
    try {
      var _ = client.getDatabase(database()).runCommand(new Document("ping", 1));
    } catch (MongoSecurityException e) {
      throw new MongoAddressException("the user may not sign in to database " + database(), e);
    } catch (MongoTimeoutException e) {
      String servers =
          client.getClusterDescription().getServerDescriptions().stream()
              .map(server -> server.getAddress() + reason(server.getException()))
              .collect(Collectors.joining(", "));
      throw new IOException("no server that can be written to answers: " + servers, e);
    } catch (MongoException e) {
      throw failure(e);
    }
  }

  private static String reason(@Nullable Throwable failure) {
    Throwable last = failure;
    while (last != null && last.getCause() != null) {
      last = last.getCause();
    }
    return last == null ? "" : " (" + last.getMessage() + ")";
  }

  /** An exception with what a request has met, for people. */
  public static IOException failure(MongoException e) {
    return new IOException("MongoDB: " + e.getMessage(), e);
  }

  /** The address without its options and without the user. */
  @Override
  public String toString() {
    return url.replaceFirst("\\?.*", "");
  }
}
