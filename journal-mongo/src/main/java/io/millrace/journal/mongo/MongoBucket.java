package io.millrace.journal.mongo;

import com.mongodb.ConnectionString;
import com.mongodb.ErrorCategory;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoCredential;
import com.mongodb.MongoException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.MongoWriteException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Projections;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.Sorts;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterType;
import io.millrace.journal.shared.Bucket;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.bson.Document;
import org.bson.types.Binary;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The objects of a store in a collection of MongoDB: each is a document with its key, after the
 * name of the store, as {@code _id}, and the bytes in {@code content}. Writes are acknowledged by a
 * majority that has them in its journals, and reads are linearizable, so that neither sees what is
 * rolled back later.
 */
final class MongoBucket implements Bucket {
  private static final Logger LOG = LoggerFactory.getLogger(MongoBucket.class);

  /** The collection, if the address names none. */
  private static final String COLLECTION = "millrace_journal";

  private static final String ID = "_id";
  private static final String CONTENT = "content";

  /** How long a call waits for a server that can be written to, if the address does not say. */
  private static final int SELECTION_SECONDS = 5;

  /** How long a majority may take to answer. */
  private static final int MAJORITY_SECONDS = 10;

  /** After this long without an answer, a request counts as lost, if the address does not say. */
  private static final int SILENCE_SECONDS = 15;

  /** How often a request is sent that may be repeated. */
  private static final int ATTEMPTS = 3;

  /** Options of a collection with which it removes documents, or takes other keys for equal. */
  private static final List<String> UNFIT = List.of("capped", "collation", "timeseries", "viewOn");

  private static final int UNAUTHORIZED = 13;

  /** The collections of which this process knows that they keep conditions. */
  private static final Set<String> TRIED = ConcurrentHashMap.newKeySet();

  private final MongoJournalOptions options;
  private final String prefix;
  private @Nullable Connection open;

  private record Connection(
      MongoClient client,
      ClusterType type,
      MongoDatabase database,
      MongoCollection<Document> objects) {}

  MongoBucket(MongoJournalOptions options) {
    this.options = options;
    this.prefix = options.store() + "/";
  }

  // ---- the address

  /**
   * Checks an address.
   *
   * @throws JournalException if it is none, or has a user
   */
  static void requireAddress(String url) {
    ConnectionString address = parse(url);
    if (address.getDatabase() == null) {
      throw new JournalException(
          "the address has no database: mongodb://HOST[:PORT][,…]/DATABASE is wanted");
    }
    if (address.getUsername() != null) {
      throw new JournalException(
          "the address has a user, whose password others of this machine could see: use store.user"
              + " and store.password-file");
    }
  }

  private static ConnectionString parse(String url) {
    try {
      return new ConnectionString(url);
    } catch (IllegalArgumentException | MongoException e) {
      throw new JournalException("not an address of a MongoDB database: " + e.getMessage(), e);
    }
  }

  private static MongoClientSettings settings(
      ConnectionString address, @Nullable MongoCredential credential) {
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
            .readPreference(ReadPreference.primary())
            // A create that the driver repeats by itself is refused because of its own document.
            .retryWrites(false);
    if (credential != null) {
      settings.credential(credential);
    }
    return settings.build();
  }

  /** The credential of the options; null for what the address says. */
  private static @Nullable MongoCredential credential(MongoJournalOptions options, String base) {
    String user = options.user();
    String password = options.password();
    if (user == null || password == null) {
      return null;
    }
    // The driver passes over this option in an address without a user.
    String[] halves = options.url().split("[?&]authSource=", 2);
    String source = halves.length == 1 ? base : halves[1].replaceFirst("&.*", "");
    return MongoCredential.createCredential(user, source, password.toCharArray());
  }

  // ---- the connection

  private synchronized Connection connection() throws IOException {
    if (open == null) {
      open = connect();
    }
    return open;
  }

  private Connection connect() throws IOException {
    ConnectionString address = parse(options.url());
    String base = Objects.requireNonNull(address.getDatabase());
    MongoClient client = MongoClients.create(settings(address, credential(options, base)));
    try {
      MongoDatabase database = client.getDatabase(base);
      var _ = database.runCommand(new Document("ping", 1));
      ClusterType type = client.getClusterDescription().getType();
      String name = Objects.requireNonNullElse(address.getCollection(), COLLECTION);
      return new Connection(
          client,
          type,
          database,
          database
              .getCollection(name)
              .withReadConcern(readConcern(type))
              .withWriteConcern(
                  WriteConcern.MAJORITY
                      .withJournal(true)
                      .withWTimeout(MAJORITY_SECONDS, TimeUnit.SECONDS)));
    } catch (MongoSecurityException e) {
      client.close();
      throw new JournalException("the user may not sign in to database " + base, e);
    } catch (MongoTimeoutException e) {
      String servers =
          client.getClusterDescription().getServerDescriptions().stream()
              .map(server -> server.getAddress() + reason(server.getException()))
              .collect(Collectors.joining(", "));
      client.close();
      throw new IOException("no server that can be written to answers: " + servers, e);
    } catch (MongoException e) {
      client.close();
      throw failed(e);
    } catch (RuntimeException e) {
      client.close();
      throw e;
    }
  }

  private static String reason(@Nullable Throwable failure) {
    Throwable last = failure;
    while (last != null && last.getCause() != null) {
      last = last.getCause();
    }
    return last == null ? "" : " (" + last.getMessage() + ")";
  }

  /** The concern of reads, which only a member of a replica set can keep. */
  private ReadConcern readConcern(ClusterType type) {
    return switch (type) {
      case REPLICA_SET -> ReadConcern.LINEARIZABLE;
      case STANDALONE -> {
        if (options.accepted().contains(MongoJournalOptions.STANDALONE)) {
          yield ReadConcern.LOCAL;
        }
        throw new JournalException(
            "the server is not a member of a replica set, so that reads may return what it loses in"
                + " a crash; make it a replica set of one member, or accept it by store.accept = "
                + MongoJournalOptions.STANDALONE);
      }
      default ->
          throw new JournalException(
              "a store is kept in a replica set, not in a cluster of the kind " + type);
    };
  }

  private static IOException failed(MongoException e) {
    return new IOException("MongoDB: " + e.getMessage(), e);
  }

  /** Sends a request that may be repeated, again if it fails. */
  private static <T extends @Nullable Object> T call(Supplier<T> request) throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return request.get();
      } catch (MongoException e) {
        // The driver has waited for a server by itself.
        if (attempt == ATTEMPTS || e instanceof MongoTimeoutException) {
          throw failed(e);
        }
      }
    }
  }

  // ---- checks

  @Override
  public void check() throws IOException {
    Connection connection = connection();
    String name = connection.objects().getNamespace().getCollectionName();
    Document description;
    try {
      description =
          connection.database().listCollections().filter(Filters.eq("name", name)).first();
    } catch (MongoCommandException e) {
      if (e.getErrorCode() == UNAUTHORIZED) {
        throw new JournalException(
            "the user may not use database " + connection.database().getName(), e);
      }
      throw failed(e);
    } catch (MongoException e) {
      throw failed(e);
    }
    if (description != null && description.get("options") instanceof Document settings) {
      for (String unfit : UNFIT) {
        if (settings.containsKey(unfit) && !Boolean.FALSE.equals(settings.get(unfit))) {
          throw new JournalException(
              "collection %s has the option '%s', so that documents may be lost or taken for others"
                  .formatted(name, unfit));
        }
      }
    }
    if (connection.type() == ClusterType.REPLICA_SET
        && !options.accepted().contains(MongoJournalOptions.NOT_JOURNALED)) {
      checkJournaled(connection);
    }
  }

  private static void checkJournaled(Connection connection) throws IOException {
    try {
      Document answer =
          connection
              .client()
              .getDatabase("admin")
              .runCommand(new Document("replSetGetConfig", 1), ReadPreference.primary());
      if (answer.get("config") instanceof Document settings
          && !settings.getBoolean(MongoJournalOptions.NOT_JOURNALED, true)) {
        throw new JournalException(
            "the replica set has %s = false, so that reads may return what it loses in a crash; set"
                    .formatted(MongoJournalOptions.NOT_JOURNALED)
                + " it to true, or accept that by store.accept = "
                + MongoJournalOptions.NOT_JOURNALED);
      }
    } catch (MongoCommandException e) {
      LOG.info("the settings of the replica set cannot be read: {}", e.getErrorMessage());
    } catch (MongoException e) {
      throw failed(e);
    }
  }

  @Override
  public void prepare() throws IOException {
    check();
    if (!TRIED.contains(options.place())) {
      Bucket.requireOneWinner(this, options.toString());
      TRIED.add(options.place());
    }
  }

  // ---- objects

  @Override
  public boolean create(String key, byte[] content) throws IOException {
    MongoCollection<Document> objects = connection().objects();
    try {
      var _ = objects.insertOne(document(key, content));
      return true;
    } catch (MongoWriteException e) {
      if (e.getError().getCategory() != ErrorCategory.DUPLICATE_KEY) {
        throw failed(e);
      }
    } catch (MongoException e) {
      throw failed(e);
    }
    // The other one may be rolled back later, unless a read returns it.
    if (get(key) == null) {
      throw new IOException("MongoDB: " + key + " was there, and is not any more");
    }
    return false;
  }

  private Document document(String key, byte[] content) {
    return new Document(ID, prefix + key).append(CONTENT, new Binary(content));
  }

  @Override
  public void put(String key, byte[] content) throws IOException {
    MongoCollection<Document> objects = connection().objects();
    var _ =
        call(() ->
            objects.replaceOne(
                Filters.eq(ID, prefix + key),
                document(key, content),
                new ReplaceOptions().upsert(true)));
  }

  @Override
  public byte @Nullable [] get(String key) throws IOException {
    MongoCollection<Document> objects = connection().objects();
    Document found =
        MongoBucket.<@Nullable Document>call(() ->
            objects
                .find(Filters.eq(ID, prefix + key))
                .maxTime(MAJORITY_SECONDS, TimeUnit.SECONDS)
                .first());
    if (found == null) {
      return null;
    }
    if (found.get(CONTENT) instanceof Binary content) {
      return content.getData();
    }
    throw new DamagedJournalException(prefix + key, 0, "the document has no content");
  }

  @Override
  public List<byte @Nullable []> getAll(List<String> keys) throws IOException {
    return Bucket.getAtOnce(this, keys);
  }

  @Override
  public List<String> list(String from, String after, int most) throws IOException {
    MongoCollection<Document> objects = connection().objects();
    // '~' comes after everything that a key may have.
    var range =
        Filters.and(
            after.isEmpty() ? Filters.gte(ID, prefix + from) : Filters.gt(ID, prefix + after),
            Filters.lt(ID, prefix + from + "~"));
    return call(() ->
        objects
            .find(range)
            .projection(Projections.include(ID))
            .sort(Sorts.ascending(ID))
            .limit(most)
            .batchSize(most)
            .maxTime(MAJORITY_SECONDS, TimeUnit.SECONDS)
            .map(document -> document.getString(ID).substring(prefix.length()))
            .into(new ArrayList<>()));
  }

  @Override
  public void delete(List<String> keys) throws IOException {
    MongoCollection<Document> objects = connection().objects();
    List<String> ids = keys.stream().map(key -> prefix + key).toList();
    var _ = call(() -> objects.deleteMany(Filters.in(ID, ids)));
  }

  @Override
  public synchronized void close() {
    if (open != null) {
      open.client().close();
    }
  }
}
