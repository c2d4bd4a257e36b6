package io.millrace.journal.mongo;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.MongoWriteException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Projections;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.Sorts;
import com.mongodb.connection.ClusterType;
import io.millrace.journal.shared.Bucket;
import io.millrace.mongodb.MongoAddress;
import io.millrace.mongodb.MongoAddressException;
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

  /** How long a majority may take to answer. */
  private static final int MAJORITY_SECONDS = 10;

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

  // ---- the connection

  private synchronized Connection connection() throws IOException {
    if (open == null) {
      open = connect();
    }
    return open;
  }

  private Connection connect() throws IOException {
    MongoAddress address = options.address();
    // A create that the driver repeats by itself is refused because of its own document.
    MongoClient client = address.newClient(settings -> settings.retryWrites(false));
    boolean good = false;
    try {
      address.check(client);
      ClusterType type = client.getClusterDescription().getType();
      MongoDatabase database = client.getDatabase(address.database());
      String name = Objects.requireNonNullElse(address.collection(), COLLECTION);
      Connection made =
          new Connection(
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
      good = true;
      return made;
    } catch (MongoAddressException e) {
      throw new JournalException(String.valueOf(e.getMessage()), e);
    } finally {
      if (!good) {
        client.close();
      }
    }
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

  /** Sends a request that may be repeated, again if it fails. */
  private static <T extends @Nullable Object> T call(Supplier<T> request) throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return request.get();
      } catch (MongoException e) {
        // The driver has waited for a server by itself.
        if (attempt == ATTEMPTS || e instanceof MongoTimeoutException) {
          throw MongoAddress.failure(e);
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
      throw MongoAddress.failure(e);
    } catch (MongoException e) {
      throw MongoAddress.failure(e);
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
      throw MongoAddress.failure(e);
    }
  }

  @Override
  public void prepare() throws IOException {
    check();
    if (!TRIED.contains(options.address().toString())) {
      Bucket.requireOneWinner(this, options.toString());
      TRIED.add(options.address().toString());
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
        throw MongoAddress.failure(e);
      }
    } catch (MongoException e) {
      throw MongoAddress.failure(e);
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
