package io.millrace.journal.mongo;

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import io.netty.channel.Channel;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A server of MongoDB in this process, with documents in memory, which says that it is the only
 * member of a replica set. What it lacks: it takes no notice of read and write concerns, checks no
 * users, and has no elections.
 */
final class MongoTestServer implements AutoCloseable {
  private final Backend backend = new Backend();
  private final MongoServer server = new MongoServer(backend);
  private final String host = "127.0.0.1:" + server.bind().getPort();

  private final class Backend extends MemoryBackend {
    private final List<Map<String, Object>> seen = new CopyOnWriteArrayList<>();
    private volatile boolean standalone;
    private volatile boolean journaled = true;
    private volatile boolean capped;
    private volatile boolean rollsBack;
    private volatile boolean losesAnswer;

    @Override
    public Document handleCommand(
        Channel channel, String database, String command, Document query) {
      return switch (command.toLowerCase(Locale.ROOT)) {
        case "hello", "ismaster" -> {
          Document answer = super.handleCommand(channel, database, command, query);
          yield standalone ? answer : asMember(answer);
        }
        case "replsetgetconfig" ->
            new Document("ok", 1)
                .append("config", new Document("writeConcernMajorityJournalDefault", journaled));
        case "insert" -> {
          seen.add(query);
          if (rollsBack) {
            Document error =
                new Document("index", 0).append("code", 11000).append("errmsg", "E11000 duplicate");
            yield new Document("ok", 1).append("n", 0).append("writeErrors", List.of(error));
          }
          Document answer = super.handleCommand(channel, database, command, query);
          if (losesAnswer) {
            losesAnswer = false;
            var _ = channel.close();
          }
          yield answer;
        }
        case "listcollections" -> {
          Document batch = super.handleCommand(channel, database, command, query);
          if (capped && batch.get("cursor") instanceof Document cursor) {
            Document one =
                new Document("name", "millrace_journal")
                    .append("options", new Document("capped", true));
            cursor.put("firstBatch", List.of(one));
          }
          yield batch;
        }
        default -> {
          seen.add(query);
          yield super.handleCommand(channel, database, command, query);
        }
      };
    }

    private Document asMember(Document answer) {
      answer.put("setName", "test");
      answer.put("setVersion", 1);
      answer.put("hosts", List.of(host));
      answer.put("me", host);
      answer.put("primary", host);
      answer.put("isWritablePrimary", true);
      answer.put("ismaster", true);
      answer.put("secondary", false);
      return answer;
    }
  }

  /** Says from now on that it is no member of a replica set. */
  MongoTestServer standalone() {
    backend.standalone = true;
    return this;
  }

  /** Says from now on that a majority need not have its journals written. */
  MongoTestServer notJournaled() {
    backend.journaled = false;
    return this;
  }

  /** Says from now on that the collection is capped. */
  MongoTestServer capped() {
    backend.capped = true;
    return this;
  }

  /** Whether inserts find a document that is gone when it is read. */
  void rollBack(boolean does) {
    backend.rollsBack = does;
  }

  /** The next insert is carried out, and its answer is lost. */
  void loseNextAnswer() {
    backend.losesAnswer = true;
  }

  /** The commands of a kind that have come. */
  List<Map<String, Object>> seen(String command) {
    return backend.seen.stream().filter(each -> each.containsKey(command)).toList();
  }

  /** The address of a database. */
  String url(String database) {
    return "mongodb://" + host + "/" + database;
  }

  /** A new place for stores. */
  MongoJournalOptions newPlace() {
    return MongoJournalOptions.at(url("test." + UUID.randomUUID()));
  }

  @Override
  public void close() {
    server.shutdownNow();
  }
}
