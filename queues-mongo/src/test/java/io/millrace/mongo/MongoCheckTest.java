package io.millrace.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import de.bwaldvogel.mongo.bson.Document;
import io.millrace.mongo.MongoCheck.Finding;
import io.millrace.mongo.MongoCheck.Level;
import io.millrace.mongo.MongoConnection.MongoRole;
import io.millrace.mongo.MongoQueues.Address;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What an operator is told of a database, and the indexes that a node creates. */
class MongoCheckTest {
  private static final String MISSING =
      "indexes are missing: queues (name; unique), nodes (node; unique),"
          + " tasks (node, status, queue), tasks (node, status, queue, _id),"
          + " tasks (node, status, queue, _id descending), tasks (queue, status),"
          + " tasks.chunks (files_id, n; unique), tasks.files (metadata.task_id)";

  private final TestDatabase database = new TestDatabase();

  @AfterEach
  void end() {
    database.close();
  }

  private List<Finding> findings() {
    return MongoCheck.of(database.address());
  }

  private void ensure() {
    try (MongoConnection connection =
        MongoConnection.open(database.address().address(), MongoRole.DISBATCHD)) {
      MongoIndexes.ensure(connection);
    }
  }

  @Test
  void version_missing_indexes_and_what_cannot_be_explained_are_said() {
    List<Finding> found = findings();
    assertThat(found.get(0).message()).matches("version [0-9.]+, standalone");
    assertThat(found.get(1).level()).isEqualTo(Level.WARNING);
    assertThat(found.get(1).message()).isEqualTo(MISSING);
    assertThat(found.get(2).message()).startsWith("the server does not explain a claim: ");
    assertThat(database.collection("tasks").listIndexes()).isEmpty();

    ensure();
    assertThat(findings().get(1)).isEqualTo(new Finding(Level.OK, "all indexes are there", ""));
  }

  @Test
  void an_index_that_cannot_be_created_is_still_missing_and_the_others_are_there() {
    OldNode.queue(database, "twice", 1, "fifo");
    OldNode.queue(database, "twice", 1, "fifo");
    ensure();
    assertThat(findings().get(1).message()).isEqualTo("indexes are missing: queues (name; unique)");
  }

  @Test
  void indexes_are_created_without_the_right_to_list_them() {
    database.refuse("listIndexes");
    ensure();
    database.refuse("");
    assertThat(findings().get(1).level()).isEqualTo(Level.OK);
  }

  @Test
  void the_plan_of_a_claim_is_read_wherever_the_server_has_it() {
    assertThat(claim(plan("FETCH", plan("IXSCAN", null).append("indexName", "node_1_status_1"))))
        .isEqualTo(new Finding(Level.OK, "a claim uses the index node_1_status_1", ""));
    Document shard =
        new Document("winningPlan", plan("IXSCAN", null).append("indexName", "i"))
            .append("rejectedPlans", List.of(plan("COLLSCAN", null)));
    assertThat(claim(plan("SINGLE_SHARD", null).append("shards", List.of(shard))).message())
        .isEqualTo("a claim uses the index i");
    Finding slow = claim(plan("UPDATE", plan("SORT", plan("COLLSCAN", null))));
    assertThat(slow.level()).isEqualTo(Level.WARNING);
    assertThat(slow.message()).isEqualTo("a claim reads all waiting tasks: COLLSCAN, SORT, UPDATE");
    assertThat(claim(plan("EOF", null)).message()).contains("does not say");
  }

  private static Document plan(String stage, @Nullable Document input) {
    Document plan = new Document("stage", stage);
    return input == null ? plan : plan.append("inputStage", input);
  }

  private Finding claim(Document plan) {
    database.explain(
        new Document("ok", 1).append("queryPlanner", new Document("winningPlan", plan)));
    return findings().get(2);
  }

  @Test
  void a_database_that_cannot_be_reached_is_a_failure() {
    String closed = "mongodb://127.0.0.1:1/disbatch?serverSelectionTimeoutMS=100";
    List<Finding> found = MongoCheck.of(new Address(closed, null, null));
    assertThat(found).hasSize(1);
    assertThat(found.getFirst().level()).isEqualTo(Level.FAILURE);
    assertThat(found.getFirst().message()).contains("127.0.0.1:1");
    assertThat(found.getFirst().advice()).contains("--queues");
  }
}
