package io.millrace.mongo;

import io.millrace.mongo.MongoConnection.MongoRole;
import io.millrace.mongo.MongoQueues.Address;
import io.millrace.queues.QueuesException.UnreachableException;
import io.millrace.queues.Status;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * Says what an operator wants to know of a database before nodes use it: whether it can be reached
 * with the credentials of a node, its version, the indexes that it lacks, and whether it claims
 * tasks by an index. Changes nothing.
 */
public final class MongoCheck {
  /** What reads more than the documents that are asked for. */
  private static final Set<String> SLOW = Set.of("COLLSCAN", "SORT");

  private final MongoConnection connection;
  private final List<Finding> findings = new ArrayList<>();

  private MongoCheck(MongoConnection connection) {
    this.connection = connection;
  }

  /** How bad a finding is. */
  public enum Level {
    /** As it should be. */
    OK,
    /** Nodes work, but slowly, or without a promise. */
    WARNING,
    /** Nodes cannot work. */
    FAILURE
  }

  /**
   * What was found.
   *
   * @param message what is so
   * @param advice what to do about it; empty if nothing
   */
  public record Finding(Level level, String message, String advice) {}

  /**
   * Looks at a database. Waits up to 5 seconds for a server.
   *
   * @throws IllegalArgumentException if the credentials cannot be read
   */
  public static List<Finding> of(Address address) {
    try (MongoConnection connection =
        MongoConnection.open(address.address(), MongoRole.DISBATCHD)) {
      MongoCheck check = new MongoCheck(connection);
      try {
        check.server();
        check.indexes();
        check.claim();
      } catch (UnreachableException e) {
        check.add(
            Level.FAILURE,
            String.valueOf(e.getMessage()),
            "start it, or correct --queues, --queues-auth or --queues-ca");
      }
      return List.copyOf(check.findings);
    }
  }

  private void add(Level level, String message, String advice) {
    findings.add(new Finding(level, message, advice));
  }

  private void server() {
    Document build = connection.call(() -> connection.run(new Document("buildInfo", 1)));
    add(
        Level.OK,
        "version %s, %s".formatted(BsonForm.text(build, "version"), connection.servers()),
        "");
  }

  private void indexes() {
    List<MongoIndexes.Index> missing = MongoIndexes.missing(connection);
    if (missing.isEmpty()) {
      add(Level.OK, "all indexes are there", "");
    } else {
      add(
          Level.WARNING,
          missing.stream()
              .map(MongoIndexes.Index::toString)
              .collect(Collectors.joining(", ", "indexes are missing: ", "")),
          "start a node, which creates them; its log says why one cannot be created");
    }
  }

  /** Asks how a claim would be carried out. */
  private void claim() {
    Document claim =
        new Document("findAndModify", "tasks")
            .append(
                "query",
                new Document("node", null)
                    .append("status", Status.QUEUED)
                    .append("queue", new ObjectId()))
            .append("sort", new Document("_id", 1))
            .append("update", new Document("$set", new Document("status", Status.CLAIMED)));
    Document explain = new Document("explain", claim).append("verbosity", "queryPlanner");
    Document answer;
    try {
      answer = connection.call(() -> connection.run(explain));
    } catch (UnreachableException e) {
      add(Level.OK, "the server does not explain a claim: " + MongoConnection.refusal(e), "");
      return;
    }
    Plan plan = new Plan();
    plan.read(answer.get("queryPlanner"));
    if (plan.stages.stream().anyMatch(SLOW::contains)) {
      add(
          Level.WARNING,
          "a claim reads all waiting tasks: " + String.join(", ", plan.stages),
          "see to the indexes of tasks");
    } else if (plan.indexes.isEmpty()) {
      add(Level.OK, "the server does not say how it would claim a task", "");
    } else {
      add(Level.OK, "a claim uses the index " + String.join(", ", plan.indexes), "");
    }
  }

  /** The steps of a plan and the indexes that they use, of all shards. */
  private static final class Plan {
    private final Set<String> stages = new TreeSet<>();
    private final Set<String> indexes = new TreeSet<>();

    void read(@Nullable Object part) {
      switch (part) {
        case Document document ->
            document.forEach((name, value) -> {
              switch (name) {
                case "stage" -> stages.add(value.toString());
                case "indexName" -> indexes.add(value.toString());
                case "rejectedPlans" -> {}
                default -> read(value);
              }
            });
        case Collection<?> parts -> parts.forEach(this::read);
        case null, default -> {}
      }
    }
  }
}
