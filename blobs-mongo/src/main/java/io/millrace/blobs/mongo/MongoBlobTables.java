package io.millrace.blobs.mongo;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoException;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndReplaceOptions;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.Projections;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.Updates;
import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobTables;
import io.millrace.blobs.DatabaseBlobStore;
import io.millrace.mongodb.MongoAddress;
import io.millrace.mongodb.MongoAddressException;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.bson.types.Binary;
import org.jspecify.annotations.Nullable;

/**
 * Blobs in MongoDB: contents are files of GridFS with their chunks, and names are documents that
 * refer to them. A database has those of several stores, by name. Reads go to the primary; writes
 * are acknowledged by a majority.
 *
 * <p>No step needs a transaction: a content is prepared for a name before it gets it, and is kept
 * for a while after it has lost one. What is between two steps when a process ends is at most a
 * content without a name.
 */
public final class MongoBlobTables implements BlobTables {
  /** How the names of the collections begin, if the address names none. */
  private static final String COLLECTIONS = "millrace_blobs";

  private static final int MAJORITY_SECONDS = 10;
  private static final int REMOVED_AT_ONCE = 100;

  private static final String ID = "_id";
  private static final String CONTENT = "content";
  private static final String SIZE = "size";
  private static final String STORED = "stored";
  private static final String FILE = "files_id";
  private static final String NUMBER = "n";
  private static final String DATA = "data";
  private static final String STORE = "metadata.store";
  private static final String STATE = "metadata.state";
  private static final String TOUCHED = "metadata.touched";

  /** The state of a content while it grows. */
  private static final int GROWING = 0;

  /** The state of a content that is complete, or from which a name was taken. */
  private static final int COMPLETE = 1;

  /** The state of a content while it is removed. */
  private static final int REMOVING = 2;

  /** The state of a content that was found to have a name some time after that. */
  private static final int NAMED = 3;

  private final MongoAddress address;
  private final String store;
  private final MongoClient client;
  private final MongoCollection<Document> names;
  private final MongoCollection<Document> files;
  private final MongoCollection<Document> chunks;
  private volatile boolean indexed;

  private MongoBlobTables(MongoAddress address, String store) {
    this.address = address;
    this.store = store;
    this.client =
        address.newClient(settings ->
            settings.writeConcern(
                WriteConcern.MAJORITY.withWTimeout(MAJORITY_SECONDS, TimeUnit.SECONDS)));
    MongoDatabase database = client.getDatabase(address.database());
    String begin = Objects.requireNonNullElse(address.collection(), COLLECTIONS);
    this.names = database.getCollection(begin + ".names");
    this.files = database.getCollection(begin + ".files");
    this.chunks = database.getCollection(begin + ".chunks");
  }

  /**
   * Opens the blobs of a store. Nothing is asked of the database yet.
   *
   * @param store the name of the store
   */
  public static BlobStore open(MongoAddress address, String store) {
    return open(address, store, InstantSource.system());
  }

  static BlobStore open(MongoAddress address, String store, InstantSource clock) {
    return new DatabaseBlobStore(new MongoBlobTables(address, store), clock);
  }

  /**
   * Checks that the database can be used, and creates the indexes that are missing.
   *
   * @throws BlobException if not; the message says what is wrong
   */
  public static void check(MongoAddress address, String store) {
    try (MongoBlobTables tables = new MongoBlobTables(address, store)) {
      address.check(tables.client);
      tables.call(() -> tables.find(""));
    } catch (MongoAddressException | IOException e) {
      throw new BlobException("blobs in " + address + ": " + e.getMessage(), e);
    }
  }

  private <T extends @Nullable Object> T call(Supplier<T> request) {
    try {
      ensureIndexes();
      return request.get();
    } catch (MongoException e) {
      throw new BlobException("blobs in " + address + ": " + e.getMessage(), e);
    }
  }

  private void ensureIndexes() {
    if (!indexed) {
      var _ = names.createIndex(Indexes.ascending(CONTENT));
      var _ = files.createIndex(Indexes.ascending(STORE, STATE, TOUCHED));
      var _ = chunks.createIndex(Indexes.ascending(FILE, NUMBER), new IndexOptions().unique(true));
      indexed = true;
    }
  }

  // ---- contents

  @Override
  public void append(String content, int number, byte[] bytes, int length, Instant now) {
    call(() -> {
      add(content, number, bytes, length, now);
      return true;
    });
  }

  private void add(String content, int number, byte[] bytes, int length, Instant now) {
    if (number == 0) {
      var _ =
          files.insertOne(
              new Document(ID, content)
                  .append("length", 0L)
                  .append("chunkSize", chunkBytes())
                  .append("uploadDate", Date.from(now))
                  .append(
                      "metadata",
                      new Document("store", store)
                          .append("state", GROWING)
                          .append("touched", Date.from(now))));
    } else {
      set(content, List.of(GROWING), now);
    }
    if (length > 0) {
      var _ =
          chunks.insertOne(
              new Document(FILE, content)
                  .append(NUMBER, number)
                  .append(
                      DATA,
                      new Binary(length == bytes.length ? bytes : Arrays.copyOf(bytes, length))));
    }
  }

  /** Changes a content that grows. */
  private void set(String content, List<Integer> states, Instant now, Bson... changes) {
    Bson all = Updates.combine(Updates.combine(changes), Updates.set(TOUCHED, Date.from(now)));
    if (files.updateOne(inState(content, states), all).getMatchedCount() == 0) {
      throw new BlobException(
          "the blob was not continued for a day, and what there was is removed");
    }
  }

  private static Bson inState(String content, List<Integer> states) {
    return Filters.and(Filters.eq(ID, content), Filters.in(STATE, states));
  }

  @Override
  public void complete(
      String name, Content content, int number, byte[] bytes, int length, Instant now) {
    call(() -> {
      if (number == 0 || length > 0) {
        add(content.id(), number, bytes, length, now);
      }
      set(
          content.id(),
          List.of(GROWING),
          now,
          Updates.set("filename", name),
          Updates.set("length", content.size()),
          Updates.set(STATE, COMPLETE));
      refer(name, content, now);
      return true;
    });
  }

  private void refer(String name, Content content, Instant now) {
    Document reference =
        new Document(ID, key(name))
            .append(CONTENT, content.id())
            .append(SIZE, content.size())
            .append(STORED, Date.from(now));
    Document before = replace(reference);
    if (before != null) {
      var _ = touch(before.getString(CONTENT), now);
    }
  }

  private @Nullable Document replace(Document reference) {
    FindOneAndReplaceOptions options =
        new FindOneAndReplaceOptions().upsert(true).returnDocument(ReturnDocument.BEFORE);
    while (true) {
      try {
        return names.findOneAndReplace(Filters.eq(ID, reference.get(ID)), reference, options);
      } catch (MongoException e) {
        // Somebody else has created it meanwhile.
        if (ErrorCategory.fromErrorCode(e.getCode()) != ErrorCategory.DUPLICATE_KEY) {
          throw e;
        }
      }
    }
  }

  /** Keeps a complete content for another while; false if it is being removed. */
  private boolean touch(String content, Instant now) {
    return files
            .updateOne(
                inState(content, List.of(COMPLETE, NAMED)),
                Updates.combine(Updates.set(STATE, COMPLETE), Updates.set(TOUCHED, Date.from(now))))
            .getMatchedCount()
        > 0;
  }

  private String key(String name) {
    return store + "/" + name;
  }

  @Override
  public Optional<Content> find(String name) {
    return call(() ->
        Optional.ofNullable(names.find(Filters.eq(ID, key(name))).first())
            .map(found -> new Content(found.getString(CONTENT), found.getLong(SIZE))));
  }

  @Override
  public byte @Nullable [] chunk(String content, int number) {
    return this.<byte @Nullable []>call(() -> {
      Document found =
          chunks.find(Filters.and(Filters.eq(FILE, content), Filters.eq(NUMBER, number))).first();
      return found == null ? null : found.get(DATA, Binary.class).getData();
    });
  }

  // ---- names

  @Override
  public boolean link(String from, String to, Instant now) {
    while (true) {
      Optional<Content> content = find(from);
      if (content.isEmpty()) {
        return false;
      }
      // From here on nobody removes it for a while; somebody may have done so since it was found.
      if (call(() -> touch(content.get().id(), now))) {
        call(() -> {
          refer(to, content.get(), now);
          return true;
        });
        return true;
      }
    }
  }

  @Override
  public boolean delete(String name, Instant now) {
    while (true) {
      Optional<Content> content = find(name);
      if (content.isEmpty()) {
        return false;
      }
      String id = content.get().id();
      long deleted =
          call(() -> {
            var _ = touch(id, now);
            return names
                .deleteOne(Filters.and(Filters.eq(ID, key(name)), Filters.eq(CONTENT, id)))
                .getDeletedCount();
          });
      if (deleted > 0) {
        return true;
      }
    }
  }

  @Override
  public List<Blob> list(String prefix, String after, int most) {
    // '~' comes after everything that a name may have.
    Bson range =
        Filters.and(
            after.isEmpty() ? Filters.gte(ID, key(prefix)) : Filters.gt(ID, key(after)),
            Filters.lt(ID, key(prefix + "~")));
    return call(() ->
        names
            .find(range)
            .sort(Sorts.ascending(ID))
            .limit(most)
            .batchSize(most)
            .map(found ->
                new Blob(
                    found.getString(ID).substring(key("").length()),
                    found.getLong(SIZE),
                    found.getDate(STORED).toInstant()))
            .into(new ArrayList<>()));
  }

  // ---- what nothing refers to

  @Override
  public boolean remove(Instant released, Instant abandoned) {
    Bson due =
        Filters.or(
            Filters.and(Filters.eq(STATE, COMPLETE), Filters.lt(TOUCHED, Date.from(released))),
            Filters.and(Filters.eq(STATE, GROWING), Filters.lt(TOUCHED, Date.from(abandoned))),
            Filters.eq(STATE, REMOVING));
    List<String> contents =
        call(() ->
            files
                .find(Filters.and(Filters.eq(STORE, store), due))
                .projection(Projections.include(ID))
                .limit(REMOVED_AT_ONCE)
                .map(found -> found.getString(ID))
                .into(new ArrayList<>()));
    for (String content : contents) {
      boolean named = call(() -> names.find(Filters.eq(CONTENT, content)).first()) != null;
      // A name that it has got or lost since then has touched it before.
      long set =
          call(() ->
              files
                  .updateOne(
                      Filters.and(Filters.eq(ID, content), due),
                      Updates.set(STATE, named ? NAMED : REMOVING))
                  .getMatchedCount());
      if (set > 0 && !named) {
        call(() -> {
          var _ = chunks.deleteMany(Filters.eq(FILE, content));
          return files.deleteOne(Filters.eq(ID, content));
        });
      }
    }
    return contents.size() == REMOVED_AT_ONCE;
  }

  @Override
  public void close() {
    client.close();
  }
}
