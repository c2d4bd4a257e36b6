package io.millrace.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.Tail;
import io.millrace.mongo.MongoQueues.Address;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.Queue;
import io.millrace.queues.Queue.Settings;
import io.millrace.queues.Queue.Sort;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** The schema of Disbatch 4, field by field: what it asks for, and what its examples say. */
class MongoSchemaTest {
  private static final Duration LEASE = Duration.ofMinutes(5);

  /** The fields of a task, with the types that each may have. */
  private static final Map<String, List<Class<?>>> TASK =
      new TreeMap<>(
          Map.of(
              "_id", List.of(ObjectId.class),
              "queue", List.of(ObjectId.class),
              "ctime", List.of(Date.class),
              "mtime", List.of(Date.class),
              "node", List.of(String.class, Void.class),
              "status", List.of(Integer.class),
              "params", List.of(Document.class),
              "stdout", List.of(String.class, ObjectId.class, Void.class),
              "stderr", List.of(String.class, ObjectId.class, Void.class)));

  private static final Map<String, List<Class<?>>> QUEUE =
      Map.of(
          "_id", List.of(ObjectId.class),
          "name", List.of(String.class),
          "plugin", List.of(String.class),
          "threads", List.of(Integer.class, Void.class),
          "sort", List.of(String.class));

  private static final Map<String, List<Class<?>>> NODE =
      Map.of(
          "_id", List.of(ObjectId.class),
          "node", List.of(String.class),
          "timestamp", List.of(Date.class),
          "maxthreads", List.of(Integer.class, Void.class),
          // The one field of ours.
          "millrace", List.of(Document.class));

  private static final Map<String, List<Class<?>>> FILE =
      Map.of(
          "_id", List.of(ObjectId.class),
          "filename", List.of(String.class),
          "length", List.of(Long.class),
          "chunkSize", List.of(Integer.class),
          "uploadDate", List.of(Date.class),
          "metadata", List.of(Document.class));

  private static final Map<String, List<Class<?>>> CHUNK =
      Map.of(
          "_id", List.of(ObjectId.class),
          "files_id", List.of(ObjectId.class),
          "n", List.of(Integer.class),
          "data", List.of(String.class));

  private final TestDatabase database = new TestDatabase();
  private final MongoQueues queues = database.node("77 start");

  @AfterEach
  void end() {
    queues.close();
    database.close();
  }

  private void conforms(Map<String, List<Class<?>>> schema, String collection) {
    assertThat(database.collection(collection).countDocuments()).isPositive();
    for (Document document : database.collection(collection).find()) {
      assertThat(document.keySet()).as("%s", document).isSubsetOf(schema.keySet());
      document.forEach((field, value) ->
          assertThat(schema.get(field))
              .as("the type of %s in %s", field, document)
              .contains(value == null ? Void.class : value.getClass()));
    }
  }

  private @Nullable Document first(String collection) {
    return database.collection(collection).find().first();
  }

  @Test
  void a_majority_acknowledges_each_change_whatever_the_address_says() {
    Address address = database.address();
    try (MongoQueues other =
        MongoQueues.forCommands(
            new Address(address.url() + "&w=1&readPreference=secondary", null, null),
            InstantSource.system())) {
      database.record();
      Queue queue = other.queues().create("q", "demo", Settings.DEFAULTS.withThreads(1));
      var _ = other.queues().find(queue.id());
      other.queues().delete(queue.id());
    }
    Set<String> seen = new HashSet<>();
    for (Map<String, Object> command : database.recorded()) {
      String name = command.keySet().iterator().next();
      seen.add(name);
      assertThat(String.valueOf(command.get("$readPreference"))).doesNotContain("secondary");
      if (Set.of("insert", "update", "delete", "findAndModify").contains(name)) {
        assertThat(String.valueOf(command.get("writeConcern"))).as(name).contains("majority");
      }
    }
    assertThat(seen).contains("insert", "find").containsAnyOf("delete", "findAndModify");
  }

  @Test
  void every_document_of_ours_has_the_fields_and_types_of_the_schema(@TempDir Path folder) {
    NodeRecord node =
        queues
            .nodes()
            .take("one", null, new NodeIdentity("i", "here", "77 start", List.of("demo")))
            .orElseThrow();
    queues.nodes().limit("one", 5);
    Queue queue =
        queues.queues().create("q", "demo", new Settings(9, Sort.FIFO, List.of(), List.of(), 0));
    JsonMapper json = new JsonMapper();
    queues
        .submission()
        .submit(
            queue,
            List.of(
                json.createObjectNode().put("user1", "ä"),
                json.createObjectNode(),
                json.createObjectNode(),
                json.createObjectNode()),
            Terms.DEFAULTS,
            _ -> {});
    conforms(TASK, "tasks");
    assertThat(Objects.requireNonNull(first("tasks")).keySet())
        .containsExactlyInAnyOrderElementsOf(TASK.keySet());
    FileBlobStore blobs = FileBlobStore.open(folder);
    try (MongoQueues runner = database.runner(blobs)) {
      List<Run> runs = queues.runs().claim(node, queue, 3, LEASE, OutputRecovery.NOTHING);
      conforms(TASK, "tasks");
      var started = runner.runs().begin(runs.getFirst(), "78 start", LEASE);
      conforms(TASK, "tasks");
      blobs.put(
          "queue-task-x-stdout-0",
          new ByteArrayInputStream("long".getBytes(StandardCharsets.UTF_8)));
      OutputFile file =
          new OutputFile(
              queues.newId(), runs.getFirst().task(), "stdout", 4, "queue-task-x-stdout-");
      runner
          .runs()
          .finish(
              started,
              new Report(
                  1,
                  new TaskOutput(new Output.Stored(file.id(), 4, false), new Output.Text("errors")),
                  List.of(file),
                  null));
      var _ = queues.runs().orphan(runs.get(1), new Report(-6, TaskOutput.NONE, List.of(), "gone"));
    }
    var _ =
        queues
            .tasks()
            .hold(
                BsonForm.id(
                    Objects.requireNonNull(
                            database.collection("tasks").find(new Document("status", -2)).first())
                        .getObjectId("_id")),
                -4,
                "");
    conforms(TASK, "tasks");
    conforms(QUEUE, "queues");
    conforms(NODE, "nodes");
    conforms(FILE, "tasks.files");
    conforms(CHUNK, "tasks.chunks");
    assertThat(first("tasks.files")).containsEntry("filename", "stdout");
    Map<Integer, Integer> statuses = new HashMap<>();
    database
        .collection("tasks")
        .find()
        .forEach(task -> statuses.merge(task.getInteger("status"), 1, Integer::sum));
    assertThat(statuses).isEqualTo(Map.of(1, 1, -6, 1, -1, 1, -4, 1));
  }

  @Test
  void the_examples_of_the_schema_are_read_field_by_field() {
    ObjectId queueId = new ObjectId("571f8951b75bf335634ec271");
    ObjectId taskId = new ObjectId("571fac85ee63413233049fbd");
    ObjectId stderr = new ObjectId("571fbac9d8590b78fe4830b4");
    ObjectId stdout = new ObjectId("571fbac9d8590b78fe4830b2");
    database
        .collection("nodes")
        .insertOne(
            new Document("_id", new ObjectId("56fc05087aa3a33942e42a6a"))
                .append("node", "mig01.example.com")
                .append("timestamp", Date.from(Instant.parse("2016-04-26T19:26:33.649Z")))
                .append("maxthreads", 5));
    database
        .collection("queues")
        .insertOne(
            new Document("_id", queueId)
                .append("plugin", "Disbatch::Plugin::Demo")
                .append("name", "demo")
                .append("threads", 0)
                .append("sort", "fifo"));
    database
        .collection("tasks")
        .insertOne(
            new Document("_id", taskId)
                .append(
                    "params",
                    new Document("migration", "oneoff")
                        .append("user1", "ashley@example.com")
                        .append("user2", "ashley@example.com")
                        .append("commands", "*"))
                .append("ctime", Date.from(Instant.parse("2016-04-26T17:59:33Z")))
                .append("status", 1)
                .append("mtime", Date.from(Instant.parse("2016-04-26T18:37:40Z")))
                .append("queue", queueId)
                .append("node", "mig01.example.com")
                .append("stderr", stderr)
                .append("stdout", stdout));
    for (ObjectId file : List.of(stdout, stderr)) {
      database
          .collection("tasks.files")
          .insertOne(
              new Document("_id", file)
                  .append("filename", file.equals(stdout) ? "stdout" : "stderr")
                  .append("length", 3)
                  .append("metadata", new Document("task_id", taskId)));
      database
          .collection("tasks.chunks")
          .insertOne(
              new Document("files_id", file)
                  .append("n", 0)
                  .append("data", file.equals(stdout) ? "out" : "err"));
    }

    NodeRecord node = queues.nodes().find("mig01.example.com").orElseThrow();
    assertThat(node.id().hex()).isEqualTo("56fc05087aa3a33942e42a6a");
    assertThat(node.maxthreads()).isEqualTo(5);
    assertThat(node.timestampMillis())
        .isEqualTo(Instant.parse("2016-04-26T19:26:33.649Z").toEpochMilli());
    Queue queue = queues.queues().find("demo").orElseThrow();
    assertThat(queue.id()).isEqualTo(BsonForm.id(queueId));
    assertThat(queue.plugin()).isEqualTo("Disbatch::Plugin::Demo");
    assertThat(queue.settings()).isEqualTo(new Settings(0, Sort.FIFO, List.of(), List.of(), 0));
    QueueTask task = queues.tasks().find(BsonForm.id(taskId)).orElseThrow();
    assertThat(task.queue()).isEqualTo(queue.id());
    assertThat(task.status()).isEqualTo(1);
    assertThat(task.progress().node()).isEqualTo("mig01.example.com");
    assertThat(task.ctimeMillis()).isEqualTo(Instant.parse("2016-04-26T17:59:33Z").toEpochMilli());
    assertThat(task.progress().mtimeMillis())
        .isEqualTo(Instant.parse("2016-04-26T18:37:40Z").toEpochMilli());
    assertThat(task.params())
        .isEqualTo(
            new JsonMapper()
                .createObjectNode()
                .put("migration", "oneoff")
                .put("user1", "ashley@example.com")
                .put("user2", "ashley@example.com")
                .put("commands", "*"));
    assertThat(task.output().stdout()).isEqualTo(new Output.Stored(BsonForm.id(stdout), 3, false));
    try (MongoConnection connection =
        MongoConnection.open(
            database.address().address(), MongoConnection.MongoRole.DISBATCH_WEB)) {
      Tail content = new GridFiles(connection).read(BsonForm.id(stderr)).orElseThrow();
      assertThat(content.read(0, 9)).isEqualTo("err".getBytes(StandardCharsets.UTF_8));
    }
  }
}
