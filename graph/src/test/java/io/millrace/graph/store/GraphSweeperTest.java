package io.millrace.graph.store;

import static io.millrace.graph.GraphForms.form;
import static io.millrace.graph.GraphForms.with;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.archive.Archive;
import io.millrace.blobs.Blob;
import io.millrace.database.DatabaseAddress;
import io.millrace.graph.Caller;
import io.millrace.graph.GraphRegistry.DataWrite;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.NodeId;
import io.millrace.graph.Outcome;
import io.millrace.graph.Uniqueness;
import io.millrace.graph.store.StoredGraph.GraphSweeper;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.work.Step;
import io.millrace.work.policy.UniqueKey;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GraphSweeperTest {
  private static final String LARGE = "x".repeat(10_000);

  private final GraphFixture world;
  private final Archive archive;
  private Step sweeper;

  GraphSweeperTest(@TempDir Path folder, @TempDir Path archiveFolder) {
    world = new GraphFixture(folder);
    archive = Archive.at(DatabaseAddress.file(archiveFolder.resolve("archive.db")));
    sweeper = world.graph().sweeper(archive);
    // Blobs carry the time of this machine.
    world.advance(Duration.between(world.now(), Instant.now()).plusHours(2));
  }

  @AfterEach
  void end() {
    archive.close();
    world.close();
  }

  private List<String> blobs() {
    try (Stream<Blob> all = world.blobs().list("")) {
      return all.map(Blob::name).sorted().toList();
    }
  }

  private NodeId addLarge() {
    return world.addOne(with(form("command"), Map.of("note", Json.text(LARGE))));
  }

  private Instant step() {
    return sweeper.step(world.now());
  }

  @Test
  void unique_keys_that_nothing_holds_go_once_an_hour() {
    NodeId ended = addOnce(new Uniqueness(key("ended", null), "request"));
    world.finish(ended);
    NodeId waiting = addOnce(new Uniqueness(key("waiting", null), null));
    addOnce(new Uniqueness(key("day", Duration.ofDays(1)), null));
    step();
    assertThat(keys()).isEqualTo(3);
    assertThat(addOnce(new Uniqueness(key("waiting", null), null))).isEqualTo(waiting);

    world.finish(waiting);
    world.advance(Duration.ofHours(25));
    step();
    assertThat(keys()).as("the id of a request is kept for seven days").isEqualTo(1);
    assertThat(addOnce(new Uniqueness(null, "request"))).isEqualTo(ended);

    world.advance(Uniqueness.REQUEST_PERIOD);
    assertThat(addOnce(new Uniqueness(null, "request"))).isGreaterThan(waiting);
    step();
    assertThat(keys()).as("a key that was taken again stays").isEqualTo(1);
  }

  private static UniqueKey key(String key, @Nullable Duration period) {
    return new UniqueKey(key, List.of(), UniqueKey.Scope.UNFINISHED, period);
  }

  private NodeId addOnce(Uniqueness unique) {
    return world
        .registry()
        .add(Caller.ANYONE, List.of(form("command")), unique, null)
        .ids()
        .getFirst();
  }

  private int keys() {
    return world.store().documents(DocumentQuery.prefix(Keys.UNIQUE, "")).value().size();
  }

  @Test
  void what_was_replaced_goes_with_the_next_step() {
    NodeId id = addLarge();
    var _ = world.start(id);
    TextTail tail = new TextTail().write(LARGE);
    world.end(id, new Outcome.Failed("it broke"), Map.of(), Map.of("stdout", tail));
    step();
    assertThat(blobs()).hasSize(2);

    DataWrite small = new DataWrite.Whole(Json.text("small"));
    var _ = world.registry().put(Caller.ANYONE, id, "note", small, null);
    var _ = world.registry().retry(Caller.ANYONE, id, null);
    var _ = world.start(id);
    assertThat(blobs()).hasSize(2);

    assertThat(step()).isEqualTo(world.now().plus(GraphSweeper.PAUSE));
    assertThat(blobs()).isEmpty();
  }

  @Test
  void what_no_node_names_goes_once_it_is_old() {
    NodeId stays = addLarge();
    NodeId removed = addLarge();
    world.blobs().put("other.blob", new ByteArrayInputStream(new byte[1]));
    var _ = world.registry().remove(Caller.ANYONE, removed, Removal.LEAF, null);
    world.restart();
    sweeper = world.graph().sweeper(archive);

    step();

    assertThat(blobs()).hasSize(2).contains("other.blob");
    assertThat(world.registry().data(stays, "note", null, 0).data()).isEqualTo(Json.text(LARGE));
    world.blobs().put("graph.left", new ByteArrayInputStream(new byte[1]));
    step();
    assertThat(blobs()).contains("graph.left");
    world.advance(GraphSweeper.GRACE);
    step();
    assertThat(blobs()).hasSize(2).doesNotContain("graph.left");
  }
}
