package io.millrace.mongo;

import static com.mongodb.MongoCredential.createCredential;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCredential;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.ChunkedBlob;
import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.Tail;
import io.millrace.mongo.MongoConnection.MongoRole;
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
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.QueuesException.UnreachableException;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.Started;
import io.millrace.queues.Status;
import io.millrace.queues.search.SearchOptions;
import io.millrace.queues.search.TaskFilter;
import io.millrace.work.Watch;
import io.millrace.work.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.bson.Document;
import org.bson.types.Binary;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

class MongoQueuesTest {
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final JsonMapper JSON = new JsonMapper();
  private static final String LONG = "long".repeat(1_000);

  private final TestDatabase database = new TestDatabase();
  private final MongoQueues queues = database.node("77 start");

  @AfterEach
  void end() {
    queues.close();
    database.close();
  }

  private NodeRecord node(String name) {
    return queues
        .nodes()
        .take(name, null, new NodeIdentity(name, "here", "77 start", List.of("demo")))
        .orElseThrow();
  }

  private List<Run> claim(NodeRecord node, Queue queue) {
    return queues.runs().claim(node, queue, 10, LEASE, OutputRecovery.NOTHING);
  }

  private Queue found(ObjectId id) {
    return queues.queues().find(id.toHexString()).orElseThrow();
  }

  private Document stored(ObjectId task) {
    return Objects.requireNonNull(
        database.collection("tasks").find(new Document("_id", task)).first());
  }

  private ObjectId submitted(Queue queue, ObjectNode params) {
    List<ObjectId> ids = new ArrayList<>();
    queues
        .submission()
        .submit(
            queue,
            List.of(params),
            Terms.DEFAULTS,
            some -> some.forEach(task -> ids.add(new ObjectId(task.id().hex()))));
    return ids.getFirst();
  }

  @Test
  void a_task_has_the_fields_and_types_of_the_protocol_at_each_step() {
    Queue queue =
        queues
            .queues()
            .create("mail", "site", new Settings(1, Sort.FIFO, List.of("a"), List.of(), 0));
    assertThat(database.collection("queues").find().first())
        .containsOnlyKeys("_id", "name", "plugin", "threads", "sort", "nodes_pin")
        .containsEntry("threads", 1)
        .containsEntry("sort", "fifo")
        .containsEntry("nodes_pin", List.of("a"));

    ObjectId id = submitted(queue, JSON.createObjectNode().put("user", "ä").put("n", 5));
    Document task = stored(id);
    assertThat(task)
        .containsOnlyKeys(
            "_id", "queue", "ctime", "mtime", "node", "status", "params", "stdout", "stderr")
        .containsEntry("queue", new ObjectId(queue.id().hex()))
        .containsEntry("status", -2)
        .containsEntry("params", new Document("user", "ä").append("n", 5));
    assertThat(task.get("node")).isNull();
    assertThat(task.get("stdout")).isNull();
    assertThat(task.get("ctime")).isInstanceOf(Date.class);

    Run run = claim(node("one"), queue).getFirst();
    Date claimed = stored(id).getDate("mtime");
    assertThat(stored(id)).containsEntry("status", -1).containsEntry("node", "one");
    Started started = queues.runs().begin(run, "77 start", LEASE);
    assertThat(stored(id)).containsEntry("status", 0).containsEntry("mtime", claimed);
    queues
        .runs()
        .finish(
            started,
            new Report(2, new TaskOutput(new Output.Text("out"), Output.none()), List.of(), "why"));
    assertThat(stored(id))
        .containsEntry("status", 2)
        .containsEntry("stdout", "out")
        .containsEntry("stderr", "why\n")
        .containsEntry("node", "one");
  }

  @Test
  void what_an_old_command_interface_writes_is_read_and_its_own_fields_stay() {
    ObjectId queue = OldNode.queue(database, "old", 2L, "lifo");
    database
        .collection("queues")
        .updateOne(new Document("_id", queue), new Document("$set", new Document("owner", "ops")));
    ObjectId first = OldNode.task(database, queue, new Document("id", queue));
    ObjectId second =
        OldNode.task(database, queue, new Document("at", Date.from(Instant.ofEpochMilli(5))));

    assertThat(found(queue).settings().threads()).isEqualTo(2);
    QueueTask task =
        queues.tasks().find(new io.millrace.queues.ObjectId(first.toHexString())).orElseThrow();
    assertThat(task.params().path("id").path("$oid").asString()).isEqualTo(queue.toHexString());
    queues
        .queues()
        .change(
            found(queue).id(),
            old ->
                new io.millrace.queues.QueueBackend.Change(
                    old.name(), old.plugin(), old.settings().withThreads(1)));

    assertThat(database.collection("queues").find().first())
        .containsEntry("owner", "ops")
        .containsEntry("threads", 1);
    assertThat(claim(node("one"), found(queue)))
        .extracting(run -> run.task().hex())
        .containsExactly(second.toHexString());
  }

  @Test
  void a_claim_whose_answer_is_lost_is_found_by_reading() {
    ObjectId queue = OldNode.queue(database, "q", 3, "fifo");
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      ids.add(OldNode.task(database, queue, new Document("n", i)).toHexString());
    }
    NodeRecord node = node("one");
    database.loseNextAnswer();

    assertThat(claim(node, found(queue)))
        .extracting(run -> run.task().hex())
        .containsExactlyElementsOf(ids);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_begin_or_end_whose_answer_is_lost_is_repeated_and_counts_once(
      boolean carriedOut, @TempDir Path folder) {
    BlobStore blobs = FileBlobStore.open(folder);
    Queue queue = found(OldNode.queue(database, "q", 1, "fifo"));
    NodeRecord node = node("one");
    try (MongoQueues runner = database.runner(blobs)) {
      boolean failed = true;
      for (int at = 1; failed; at++) {
        ObjectId id = submitted(queue, JSON.createObjectNode().put("n", at));
        Run run = claim(node, queue).getFirst();
        if (at == 1) {
          database.cutAtChange(1, carriedOut);
          assertThatThrownBy(() -> runner.runs().begin(run, "78 start", LEASE))
              .isInstanceOf(UnreachableException.class);
          assertThat(stored(id)).containsEntry("status", carriedOut ? 0 : -1);
        }
        Started started = runner.runs().begin(run, "78 start", LEASE);
        assertThat(stored(id)).containsEntry("status", 0);

        Report report = longReport(blobs, run.task());
        database.cutAtChange(at, carriedOut);
        failed = !isTaken(runner, started, report);
        database.cutAtChange(0, false);
        if (failed) {
          assertThat(runner.runs().finish(started, report).status()).isEqualTo(3);
        }
        assertThat(stored(id))
            .containsEntry("status", 3)
            .containsEntry("node", "one")
            .containsEntry("stderr", "said");
        Output.Stored file =
            (Output.Stored) queues.tasks().find(run.task()).orElseThrow().output().stdout();
        assertThat(queues.outputs().text(file)).contains(LONG);
        assertThat(database.collection("tasks.files").countDocuments()).isEqualTo(at);
        Report other = new Report(4, TaskOutput.NONE, List.of(), null);
        assertThatThrownBy(() -> runner.runs().finish(started, other))
            .isInstanceOf(LostClaimException.class);
      }
    }
  }

  @Test
  void outputs_that_do_not_fit_into_a_task_are_files_also_if_the_answer_is_lost() {
    Queue queue = found(OldNode.queue(database, "q", 1, "fifo"));
    ObjectId id = submitted(queue, JSON.createObjectNode());
    Run run = claim(node("one"), queue).getFirst();
    Started started = queues.runs().begin(run, "78 start", LEASE);
    String large = "0123456789".repeat(1_700_000);
    TaskOutput output = new TaskOutput(new Output.Text(large), new Output.Text(""));
    Report report = new Report(1, output, List.of(), null);
    database.loseNextAnswer();
    assertThatThrownBy(() -> queues.runs().finish(started, report))
        .isInstanceOf(UnreachableException.class);

    queues.runs().finish(started, report);

    assertThat(stored(id)).containsEntry("status", 1).containsEntry("stderr", "");
    Output.Stored file =
        (Output.Stored) queues.tasks().find(run.task()).orElseThrow().output().stdout();
    assertThat(queues.outputs().text(file).orElseThrow()).isEqualTo(large);
    assertThat(database.collection("tasks.files").countDocuments()).isEqualTo(1);
  }

  private static boolean isTaken(MongoQueues runner, Started started, Report report) {
    try {
      return runner.runs().finish(started, report).status() == 3;
    } catch (UnreachableException e) {
      return false;
    }
  }

  /** A report with an output that is stored as a file. */
  private Report longReport(BlobStore blobs, io.millrace.queues.ObjectId task) {
    OutputFile file =
        new OutputFile(queues.newId(), task, "stdout", LONG.length(), "stdout-" + task + "-");
    new ChunkedBlob(blobs, file.chunkPrefix(), OutputFile.CHUNK_BYTES)
        .copyOf(Tail.of(LONG), LONG.length());
    Output stored = new Output.Stored(file.id(), LONG.length(), false);
    return new Report(3, new TaskOutput(stored, new Output.Text("said")), List.of(file), null);
  }

  @Test
  void tasks_are_watched_until_each_has_ended() throws InterruptedException {
    Queue queue = found(OldNode.queue(database, "q", 1, "fifo"));
    ObjectId ends = submitted(queue, JSON.createObjectNode());
    ObjectId waits = submitted(queue, JSON.createObjectNode());
    try (Watch<io.millrace.queues.ObjectId, QueueTask> tasks =
        queues.watch(List.of(BsonForm.id(ends), BsonForm.id(waits)))) {
      assertThat(tasks.pending()).isEqualTo(2);
      Run run = claim(node("one"), queue).getFirst();
      queues
          .runs()
          .finish(
              queues.runs().begin(run, "78 start", LEASE),
              new Report(1, TaskOutput.NONE, List.of(), null));
      while (tasks.pending() > 1) {
        tasks.await(Duration.ofMinutes(1));
      }
      queues.tasks().hold(BsonForm.id(waits), Status.CANCELLED, "");
      while (tasks.pending() > 0) {
        tasks.await(Duration.ofMinutes(1));
      }
    }
  }

  @Test
  void claims_beyond_the_threads_are_given_back() {
    ObjectId queue = OldNode.queue(database, "q", 1, "fifo");
    OldNode.task(database, queue, new Document("n", 1));
    ObjectId other = OldNode.task(database, queue, new Document("n", 2));
    NodeRecord node = node("one");
    Queue before = found(queue);
    Queue wide =
        new Queue(
            before.id(),
            before.name(),
            before.plugin(),
            before.settings().withThreads(2),
            before.health(),
            before.place());

    // As a node that counted before the other one claimed.
    List<Run> both = claim(node, wide);
    assertThat(both).hasSize(2);
    queues.runs().giveBack(both.get(1));
    assertThat(claim(node("two"), before)).isEmpty();
    assertThat(stored(other)).containsEntry("status", -2).containsEntry("node", null);
  }

  @Test
  void a_name_that_an_old_node_refreshes_is_not_free() {
    OldNode old = new OldNode(database, "one");
    old.refresh();
    NodeRecord seen = queues.nodes().find("one").orElseThrow();

    assertThat(seen.presence()).isNotNull();
    assertThat(seen.stateAt(seen.timestampMillis())).isEqualTo(NodeRecord.State.ALIVE);

    // It is gone, and its name is taken; then it comes back.
    NodeIdentity ours = new NodeIdentity("x", "here", "77 start", List.of("demo"));
    NodeRecord taken = queues.nodes().take("one", seen, ours).orElseThrow();
    assertThat(queues.nodes().refresh(taken, ours)).isPresent();
    database
        .collection("nodes")
        .updateOne(
            new Document("node", "one"),
            new Document("$set", new Document("timestamp", Date.from(Instant.ofEpochMilli(1)))));
    assertThat(queues.nodes().refresh(taken, ours)).isEmpty();
  }

  @Test
  void a_task_of_a_living_old_node_is_not_touched() {
    ObjectId queue = OldNode.queue(database, "q", 2, "fifo");
    ObjectId id = OldNode.task(database, queue, new Document("n", 1));
    OldNode old = new OldNode(database, "old");
    old.refresh();
    Document task = old.claim(queue).orElseThrow();
    database
        .collection("tasks")
        .updateOne(
            new Document("_id", id),
            new Document("$set", new Document("mtime", Date.from(Instant.ofEpochMilli(0)))));
    MongoRuns runs = (MongoRuns) queues.runs();

    assertThatThrownBy(
            () -> queues.tasks().terminate(new io.millrace.queues.ObjectId(id.toHexString())))
        .isInstanceOf(TaskStateException.class);
    runs.orphanUnbegun("one");
    runs.orphanUnbegunOfDead(queues.queues().all(), queues.nodes().all());
    assertThat(stored(id)).containsEntry("status", -1);
    assertThat(old.begin(task)).isTrue();

    database.collection("nodes").deleteMany(new Document());
    runs.orphanUnbegunOfDead(queues.queues().all(), queues.nodes().all());
    assertThat(stored(id)).containsEntry("status", 0);
  }

  @Test
  void what_a_dead_node_claimed_and_never_began_is_orphaned_after_five_minutes() {
    ObjectId queue = OldNode.queue(database, "q", 2, "fifo");
    ObjectId id = OldNode.task(database, queue, new Document("n", 1));
    new OldNode(database, "old").claim(queue);
    MongoRuns runs = (MongoRuns) queues.runs();
    runs.orphanUnbegunOfDead(queues.queues().all(), queues.nodes().all());
    assertThat(stored(id)).containsEntry("status", -1);
    database
        .collection("tasks")
        .updateOne(
            new Document("_id", id),
            new Document("$set", new Document("mtime", Date.from(Instant.ofEpochMilli(0)))));

    runs.orphanUnbegunOfDead(queues.queues().all(), queues.nodes().all());

    assertThat(stored(id)).containsEntry("status", Status.ORPHANED);
  }

  @Test
  void a_long_output_is_a_file_of_strings(@TempDir Path folder) {
    BlobStore blobs = FileBlobStore.open(folder);
    String text = "a" + "äß€𝄞".repeat(60_000);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    ObjectId queue = OldNode.queue(database, "q", 1, "fifo");
    ObjectId id = OldNode.task(database, queue, new Document("n", 1));
    io.millrace.queues.ObjectId task = new io.millrace.queues.ObjectId(id.toHexString());
    OutputFile file =
        new OutputFile(queues.newId(), task, "stdout", bytes.length, "stdout-of-the-task-");
    new ChunkedBlob(blobs, file.chunkPrefix(), OutputFile.CHUNK_BYTES)
        .copyOf(Tail.of(text), bytes.length);
    TaskOutput output =
        new TaskOutput(new Output.Stored(file.id(), bytes.length, false), Output.none());
    try (MongoQueues runner = database.runner(blobs)) {
      Run run = claim(node("one"), found(queue)).getFirst();
      runner
          .runs()
          .finish(
              runner.runs().begin(run, "77 start", LEASE),
              new Report(1, output, List.of(file), null));
    }

    assertThat(stored(id)).containsEntry("stdout", new ObjectId(file.id().hex()));
    Document entry = database.collection("tasks.files").find().first();
    assertThat(entry)
        .containsEntry("filename", "stdout")
        .containsEntry("length", (long) bytes.length)
        .containsEntry("metadata", new Document("task_id", id));
    StringBuilder joined = new StringBuilder();
    for (Document chunk : database.collection("tasks.chunks").find().sort(new Document("n", 1))) {
      assertThat(chunk.getString("data").getBytes(StandardCharsets.UTF_8))
          .hasSizeLessThanOrEqualTo(GridFiles.CHUNK_BYTES);
      joined.append(chunk.getString("data"));
    }
    assertThat(joined.toString()).isEqualTo(text);
    assertThat(blobs.list("")).isEmpty();
    QueueTask ended = queues.tasks().find(task).orElseThrow();
    Output.Stored shown = (Output.Stored) ended.output().stdout();
    assertThat(queues.outputs().text(shown)).contains(text);

    queues.tasks().requeue(task);
    assertThat(database.collection("tasks.chunks").countDocuments()).isZero();
  }

  @Test
  void a_file_of_binary_chunks_is_read() {
    ObjectId file = new ObjectId();
    ObjectId queue = OldNode.queue(database, "q", 1, "fifo");
    ObjectId id = OldNode.task(database, queue, new Document("n", 1));
    database
        .collection("tasks")
        .updateOne(
            new Document("_id", id),
            new Document("$set", new Document("stdout", file).append("status", 1)));
    database
        .collection("tasks.files")
        .insertOne(new Document("_id", file).append("filename", "stdout").append("length", 6));
    for (int n = 0; n < 2; n++) {
      database
          .collection("tasks.chunks")
          .insertOne(
              new Document("files_id", file)
                  .append("n", n)
                  .append("data", new Binary("abc".getBytes(StandardCharsets.UTF_8))));
    }

    var found =
        queues.search().find(TaskFilter.of(JSON.createObjectNode()), SearchOptions.DEFAULTS, false);

    Output output = found.getFirst().task().output().stdout();
    assertThat(output).isInstanceOf(Output.Stored.class);
    assertThat(queues.outputs().text((Output.Stored) output)).contains("abcabc");
  }

  @Test
  void filters_select_what_they_do_in_a_store() throws Exception {
    ObjectId queue = OldNode.queue(database, "q", 1, "fifo");
    ObjectId other = OldNode.queue(database, "other", 1, "fifo");
    for (int i = 0; i < 10; i++) {
      OldNode.task(
          database,
          i < 5 ? queue : other,
          new Document("n", i).append("tags", List.of("t" + i, "all")));
    }
    for (Map.Entry<String, Integer> each :
        Map.of(
                "{}",
                10,
                "{'queue':'" + queue.toHexString() + "'}",
                5,
                "{'params.n':{'$gte':3,'$lt':7}}",
                4,
                "{'params.tags':'t4'}",
                1,
                "{'params.n':{'$nin':[1,2]},'status':-2}",
                8,
                "{'$or':[{'params.n':1},{'params.x':{'$exists':true}}]}",
                1,
                "{'node':null,'ctime':{'$gt':0}}",
                10,
                "{'params.n':{'$ne':1}}",
                9)
            .entrySet()) {
      ObjectNode json = (ObjectNode) JSON.readTree(each.getKey().replace('\'', '"'));
      assertThat(queues.search().count(TaskFilter.of(json), false))
          .as(each.getKey())
          .isEqualTo(each.getValue().longValue());
    }
  }

  @Test
  void what_the_schema_has_no_field_for_is_refused_by_name() {
    Queue queue = found(OldNode.queue(database, "q", 1, "fifo"));
    ObjectNode params = JSON.createObjectNode().put("n", 1);
    Terms delayed = new Terms(Status.QUEUED, Duration.ofSeconds(1), null, Policy.NONE);

    assertThatThrownBy(() -> queues.submission().submit(queue, List.of(params), delayed, _ -> {}))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("delayed");
    assertThatThrownBy(() -> submitted(queue, JSON.createObjectNode().put("$x", 1)))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("$x");
    assertThatThrownBy(() -> queues.documents("tasks")).isInstanceOf(InvalidRequestException.class);
  }

  @Test
  void fields_of_the_configuration_are_read_from_active_as_well() {
    database
        .collection("config")
        .insertOne(
            new Document("label", "production")
                .append("task_runner", "/usr/bin/task_runner")
                .append("active", new Document("ignorequeues", List.of("q"))));

    assertThat(queues.config().forNode("one").ignoreQueues()).containsExactly("q");
    assertThat(queues.config().forNode("one").taskRunner()).isEmpty();
    ObjectNode change = JsonNodeFactory.instance.objectNode();
    change.putArray("ignorequeues").add("r");
    queues.config().set("", change);
    assertThat(database.collection("config").find().first())
        .containsEntry("active", new Document("ignorequeues", List.of("r")))
        .containsEntry("label", "production");
  }

  @Test
  void the_configuration_that_is_active_is_read_before_an_older_one() {
    database
        .collection("config")
        .insertMany(
            List.of(
                new Document("label", "development").append("ignorequeues", List.of("q")),
                new Document("label", "production").append("active", true)));

    assertThat(queues.config().forNode("one").ignoreQueues()).isEmpty();
    ObjectNode change = JsonNodeFactory.instance.objectNode();
    change.putArray("ignorequeues").add("r");
    queues.config().set("", change);
    assertThat(queues.config().forNode("one").ignoreQueues()).containsExactly("r");
    assertThat(database.collection("config").find(new Document("active", true)).first())
        .containsEntry("ignorequeues", List.of("r"));
  }

  @Test
  void an_address_is_checked_and_has_no_password(@TempDir Path folder) throws Exception {
    assertThatThrownBy(() -> new Address("http://host/x", null, null))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Address("mongodb://host", null, null))
        .hasMessageContaining("no database");
    assertThatThrownBy(() -> new Address("mongodb://u:p@host/x", null, null))
        .hasMessageContaining("password");
    Path file =
        Files.writeString(
            folder.resolve("auth"), "{\"disbatchd\":{\"username\":\"u\",\"password\":\"p\"}}");
    Address address = new Address("mongodb://host/x", file, null);
    assertThatThrownBy(() -> MongoQueues.forCommands(address, java.time.InstantSource.system()))
        .hasMessageContaining("disbatch_web");
    assertThat(address.environment())
        .containsOnly(
            Map.entry("MILLRACE_MONGODB_URL", "mongodb://host/x"),
            Map.entry("MILLRACE_MONGODB_AUTH", file.toString()));
  }

  @Test
  void users_are_looked_up_where_the_address_says(@TempDir Path folder) throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("auth"), "{\"disbatchd\":{\"username\":\"u\",\"password\":\"p\"}}");
    for (String[] each :
        new String[][] {
          {"mongodb://host/x", "x"},
          {"mongodb://host/x?retryWrites=false&authSource=ad%6Din&w=1", "admin"},
          {"mongodb://host/x?authsource=admin", "admin"},
        }) {
      MongoCredential credential =
          new Address(each[0], file, null).address().credential(MongoRole.DISBATCHD);
      assertThat(credential).isEqualTo(createCredential("u", each[1], "p".toCharArray()));
    }
  }
}
