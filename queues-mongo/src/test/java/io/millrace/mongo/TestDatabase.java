package io.millrace.mongo;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import io.millrace.blobs.BlobStore;
import io.millrace.mongo.MongoQueues.Address;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import org.bson.Document;

/**
 * A database in this process. What its server lacks: it plans no queries, so {@code explain} and
 * the use of an index cannot be tested with it; and it has one member, with no elections.
 */
final class TestDatabase implements AutoCloseable {
  private final Backend backend = new Backend();
  private final MongoServer server = new MongoServer(backend);
  private final InetSocketAddress address = server.bind();
  private final MongoClient client = MongoClients.create(url());

  /** A server that can lose the answer to a claim: it does it, and closes the connection. */
  private static final class Backend extends MemoryBackend {
    private volatile boolean loses;

    @Override
    public de.bwaldvogel.mongo.bson.Document handleMessage(MongoMessage message) {
      de.bwaldvogel.mongo.bson.Document answer = super.handleMessage(message);
      if (loses
          && message.getDocument().keySet().iterator().next().equalsIgnoreCase("findAndModify")) {
        loses = false;
        var _ = message.getChannel().close();
      }
      return answer;
    }
  }

  private String url() {
    return "mongodb://127.0.0.1:" + address.getPort() + "/disbatch?retryWrites=false";
  }

  Address address() {
    return new Address(url(), null, null);
  }

  /** A collection, as another program sees it. */
  MongoCollection<Document> collection(String name) {
    return client.getDatabase("disbatch").getCollection(name);
  }

  /** The next claim is carried out, and its answer is lost. */
  void loseNextAnswer() {
    backend.loses = true;
  }

  MongoQueues node(String process) {
    return MongoQueues.forNode(address(), InstantSource.system(), process);
  }

  MongoQueues runner(BlobStore blobs) {
    return MongoQueues.forRunner(address(), InstantSource.system(), blobs);
  }

  @Override
  public void close() {
    client.close();
    server.shutdownNow();
  }
}
