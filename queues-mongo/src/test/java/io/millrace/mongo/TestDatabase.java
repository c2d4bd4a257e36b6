package io.millrace.mongo;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.exception.MongoServerError;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import io.millrace.blobs.BlobStore;
import io.millrace.mongo.MongoQueues.Address;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * A database in this process. What its server lacks: it plans no queries, so {@code explain} and
 * the use of an index cannot be tested with it; and it has one member, with no elections.
 */
final class TestDatabase implements AutoCloseable {
  private static final Set<String> OF_CONNECTIONS =
      Set.of("hello", "isMaster", "ismaster", "ping", "endSessions");
  private static final long LATE_NANOS = 300_000_000;
  private static final Set<String> CHANGES = Set.of("insert", "update", "delete", "findAndModify");

  private final Backend backend = new Backend();
  private final MongoServer server = new MongoServer(backend);
  private final InetSocketAddress address = server.bind();
  private final MongoClient client = MongoClients.create(url());

  /**
   * A server that can lose a message or the answer to it: it closes the connection, before or after
   * it has done what was asked.
   */
  private static final class Backend extends MemoryBackend {
    private volatile boolean loses;
    private final AtomicInteger untilCut = new AtomicInteger();
    private final AtomicInteger faulty = new AtomicInteger();
    private final List<de.bwaldvogel.mongo.bson.Document> seen = new CopyOnWriteArrayList<>();
    private volatile boolean carriesOut;
    private volatile boolean records;
    private volatile Fault fault = Fault.AWAY;
    private final Queue<Fault> planned = new ConcurrentLinkedQueue<>();
    private final AtomicInteger done = new AtomicInteger();
    private volatile int faultyAtOnce;
    private volatile int pause = Integer.MAX_VALUE;
    private volatile String refused = "";
    private volatile de.bwaldvogel.mongo.bson.@Nullable Document plan;

    @Override
    public de.bwaldvogel.mongo.bson.Document handleMessage(MongoMessage message) {
      String command = message.getDocument().keySet().iterator().next();
      if (records) {
        seen.add(message.getDocument());
      }
      if (command.equals(refused)) {
        throw new MongoServerError(13, "Unauthorized", "not authorized to execute " + command);
      }
      de.bwaldvogel.mongo.bson.Document explained = plan;
      if (explained != null && command.equals("explain")) {
        return explained;
      }
      if (CHANGES.contains(command) && faulty.get() <= 0 && done.incrementAndGet() % pause == 0) {
        Fault next = planned.poll();
        if (next != null) {
          fault = next;
          faulty.set(faultyAtOnce);
        }
      }
      if (faulty.get() > 0 && (fault == Fault.AWAY || !OF_CONNECTIONS.contains(command))) {
        faulty.decrementAndGet();
        switch (fault) {
          case AWAY -> {
            var _ = message.getChannel().close();
            throw new IllegalStateException("away");
          }
          case STEPPED_DOWN ->
              throw new MongoServerError(10107, "NotWritablePrimary", "not primary");
          case STEPS_DOWN -> {
            var _ = super.handleMessage(message);
            throw new MongoServerError(189, "PrimarySteppedDown", "stepped down meanwhile");
          }
          case LATE -> LockSupport.parkNanos(LATE_NANOS);
        }
      }
      if (CHANGES.contains(command) && untilCut.getAndDecrement() == 1) {
        if (carriesOut) {
          var _ = super.handleMessage(message);
        }
        var _ = message.getChannel().close();
        throw new IllegalStateException("cut");
      }
      de.bwaldvogel.mongo.bson.Document answer = super.handleMessage(message);
      if (loses && command.equalsIgnoreCase("findAndModify")) {
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

  /** What a server does with a message. */
  enum Fault {
    /** It closes the connection, new ones too, so that drivers take it for gone. */
    AWAY,
    /** It is no longer the primary, and does nothing. */
    STEPPED_DOWN,
    /** It has done what was asked, and steps down before it answers. */
    STEPS_DOWN,
    /** It answers after a while. */
    LATE
  }

  /**
   * Has the server do each of these in turn, after some changes in which it works, with the next
   * messages of all programs.
   */
  void failInTurn(int changes, int messages) {
    backend.faultyAtOnce = messages;
    backend.pause = changes;
    backend.planned.addAll(List.of(Fault.values()));
  }

  /** Has the server refuse a command to all users; an empty name ends that. */
  void refuse(String command) {
    backend.refused = command;
  }

  /** Has the server answer so to whoever asks how it would carry out a command. */
  void explain(de.bwaldvogel.mongo.bson.Document answer) {
    backend.plan = answer;
  }

  /** Whether that is over. */
  boolean isWell() {
    return backend.faulty.get() <= 0 && backend.planned.isEmpty();
  }

  /** Begins to record commands. */
  void record() {
    backend.records = true;
  }

  /** The commands since then. */
  List<Map<String, Object>> recorded() {
    return List.copyOf(backend.seen);
  }

  /**
   * Cuts the connection at a change.
   *
   * @param number the number of the change from now on, from 1; 0 for none
   * @param carriesOut whether the change is carried out
   */
  void cutAtChange(int number, boolean carriesOut) {
    backend.carriesOut = carriesOut;
    backend.untilCut.set(number);
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
