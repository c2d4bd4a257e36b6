package io.millrace.graph.store;

import static io.millrace.graph.GraphForms.below;
import static io.millrace.graph.GraphForms.form;
import static io.millrace.graph.GraphForms.named;
import static io.millrace.graph.GraphForms.on;
import static io.millrace.graph.GraphForms.with;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.graph.Caller;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.GraphForms;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.Outcome;
import io.millrace.graph.store.GraphSession.DocumentWrite;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The documents of a graph as each version wrote them, one a line in a file: {@code graph-v1.txt}
 * by the first one, {@code graph-v2.txt} with the attempts that have ended. Those files never
 * change; another format gets another file beside them, which {@link #main} writes.
 */
class StoredFormatTest {
  private static final String FIRST = "/graph-v1.txt";
  private static final String PRESENT = "/graph-v2.txt";

  @TempDir Path folder;

  /** A graph with everything in it that is stored. */
  private static void fill(GraphFixture world) {
    List<NodeId> ids =
        world.add(
            named("build", form("g", "group", NewNode.Place.ROOT)),
            with(
                form(null, "command", below("g")),
                Map.of(
                    "command",
                    Json.text("make"),
                    "args",
                    Json.object().putArray("a").add("-j2").addNull(),
                    "note",
                    Json.text("ä".repeat(3_000)))),
            form(null, "condition", below("g")),
            new NewNode(null, null, "command", GraphForms.after(), true, Map.of()));
    NodeId command = ids.get(1);
    NodeId condition = ids.get(2);
    NodeId no = world.addOne(form(null, "command", on(Branch.ELSE, condition)));
    NodeId join = world.addOne(form("command", command, no));
    var _ = world.start(command, condition, ids.get(3));
    world.advance(Duration.ofSeconds(1));
    TextTail tail = new TextTail().write("line\n".repeat(2_000));
    world.end(
        command,
        new Outcome.Failed("exit code 2"),
        Map.of("result", Json.text("2")),
        Map.of("stdout", tail));
    world.end(condition, new Outcome.Finished(Branch.THEN));
    world
        .registry()
        .kill(Caller.ANYONE, List.of(ids.get(3)), new Kill("INT", Duration.ofMillis(1)));
    NodeId again = world.addOne(form(null, "command", GraphForms.after(condition)));
    var _ = world.start(again);
    world.end(again, new Outcome.Again(world.nowMillis() + 5_000, ""));
    var _ = world.registry().remove(Caller.ANYONE, join, Removal.LEAF, null);
  }

  private static List<String> lines(TaskStore store) {
    List<String> lines = new ArrayList<>();
    for (String collection : List.of("graph", Keys.NODES, Keys.DATA)) {
      for (Document document : store.documents(DocumentQuery.prefix(collection, "")).value()) {
        lines.add(collection + " " + document.key().key() + " " + document.body().utf8());
      }
    }
    return lines;
  }

  /** Writes the file for the format of today. */
  static void main(String[] target) throws IOException {
    try (GraphFixture world = new GraphFixture(Files.createTempDirectory("blobs"))) {
      fill(world);
      Files.write(Path.of(target[0]), lines(world.store()));
    }
  }

  private static List<String> golden(String name) throws IOException {
    try (InputStream file =
        Objects.requireNonNull(StoredFormatTest.class.getResourceAsStream(name))) {
      return new String(file.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }

  @Test
  void the_documents_look_as_they_always_did() throws IOException {
    try (GraphFixture world = new GraphFixture(folder)) {
      fill(world);
      assertThat(lines(world.store())).isEqualTo(golden(PRESENT));
    }
  }

  @Test
  void what_is_written_today_is_read(@TempDir Path other) throws IOException {
    readsAsWritten(PRESENT, other, "version");
  }

  @Test
  void what_the_first_version_wrote_is_read(@TempDir Path other) throws IOException {
    readsAsWritten(FIRST, other, "version", "phase.attempts.ended");
  }

  private void readsAsWritten(String file, Path other, String... unknown) throws IOException {
    try (GraphFixture written = new GraphFixture(folder);
        GraphFixture world = new GraphFixture(other)) {
      fill(written);
      Transaction.Builder transaction = Transaction.by(Owner.client(1));
      for (String line : golden(file)) {
        String[] parts = line.split(" ", 3);
        DocumentKey key = new DocumentKey(parts[0], parts[1]);
        transaction.put(key, DocumentVersion.ANY, Bytes.of(parts[2]));
      }
      world.store().commit(transaction.build()).done();

      world.restart();

      assertThat(world.registry().snapshot(NodeFilter.ALL).nodes())
          .usingRecursiveComparison()
          .ignoringFields(unknown)
          .isEqualTo(written.registry().snapshot(NodeFilter.ALL).nodes());
      assertThat(world.work().killing()).isEqualTo(written.work().killing()).hasSize(1);
      assertThat(world.graph().secret()).isEqualTo(written.graph().secret());
    }
  }

  @Test
  void parts_of_a_large_change_are_written_and_read_alike() {
    List<DocumentWrite> writes =
        List.of(
            new DocumentWrite(Keys.node(new NodeId(7)), Json.write(Json.object().put("type", "x"))),
            new DocumentWrite(Keys.data(new NodeId(7)), null));
    Bytes packed = DocumentWrite.pack(writes);

    assertThat(packed.utf8())
        .isEqualTo(
            "{\"writes\":[{\"collection\":\"graph.nodes\",\"key\":\"0000000000000007\","
                + "\"body\":{\"type\":\"x\"}},"
                + "{\"collection\":\"graph.data\",\"key\":\"0000000000000007\"}]}");
    assertThat(DocumentWrite.unpack(new Document(Keys.pending(0), 1, packed))).isEqualTo(writes);
  }
}
