package io.millrace.blobs.mongo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.gridfs.GridFSBuckets;
import com.mongodb.client.model.Filters;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.DatabaseBlobStoreContract;
import io.millrace.mongodb.MongoAddress;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.bson.BsonString;
import org.bson.Document;
import org.bson.types.Binary;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Blobs in a server that speaks the protocol of MongoDB. */
class MongoBlobStoreTest extends DatabaseBlobStoreContract {
  private static MongoServer server;
  private static MongoClient client;

  private final String base = "blobs" + UUID.randomUUID().toString().replace("-", "");

  @BeforeAll
  static void start() {
    server = new MongoServer(new MemoryBackend());
    client = MongoClients.create("mongodb://127.0.0.1:" + server.bind().getPort());
  }

  @AfterAll
  static void stop() {
    client.close();
    server.shutdownNow();
  }

  private MongoAddress address() {
    return new MongoAddress(
        "mongodb://127.0.0.1:" + server.getLocalAddress().getPort() + "/" + base, null, null);
  }

  private MongoDatabase database() {
    return client.getDatabase(base);
  }

  @Override
  protected BlobStore open(String store) {
    return MongoBlobTables.open(address(), store, this::now);
  }

  @Override
  protected long contents() {
    return database().getCollection("millrace_blobs.files").countDocuments();
  }

  @Override
  protected long bytesArrived() {
    long sum = 0;
    List<Document> chunks =
        database()
            .getCollection("millrace_blobs.chunks")
            .find()
            .batchSize(16)
            .into(new ArrayList<>());
    for (Document chunk : chunks) {
      sum += chunk.get("data", Binary.class).length();
    }
    return sum;
  }

  @Test
  void tools_of_gridfs_can_read_a_blob() {
    byte[] content = new byte[(1 << 20) + 5];
    content[1 << 20] = 7;
    blobs().put("report.pdf", new ByteArrayInputStream(content));
    String id =
        database()
            .getCollection("millrace_blobs.files")
            .find(Filters.eq("filename", "report.pdf"))
            .map(found -> found.getString("_id"))
            .first();

    ByteArrayOutputStream read = new ByteArrayOutputStream();
    GridFSBuckets.create(database(), "millrace_blobs").downloadToStream(new BsonString(id), read);

    assertThat(read.toByteArray()).isEqualTo(content);
  }

  @Test
  void a_server_that_cannot_be_reached_is_named() {
    assertThatThrownBy(() ->
            MongoBlobTables.check(
                new MongoAddress(
                    "mongodb://127.0.0.1:1/blobs?serverSelectionTimeoutMS=300", null, null),
                "main"))
        .isInstanceOf(BlobException.class)
        .hasMessageStartingWith("blobs in mongodb://127.0.0.1:1/blobs: no server");
    MongoBlobTables.check(address(), "main");
  }
}
