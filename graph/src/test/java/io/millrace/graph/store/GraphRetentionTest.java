package io.millrace.graph.store;

import static io.millrace.graph.GraphForms.after;
import static io.millrace.graph.GraphForms.below;
import static io.millrace.graph.GraphForms.form;
import static io.millrace.graph.GraphForms.named;
import static io.millrace.graph.GraphForms.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveQuery;
import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveSource;
import io.millrace.archive.ArchiveTable;
import io.millrace.archive.Archiver;
import io.millrace.blobs.Blob;
import io.millrace.database.DatabaseAddress;
import io.millrace.graph.Caller;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.UnknownKeyException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry.DataWrite;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import io.millrace.graph.store.GraphSession.TransactionLimits;
import io.millrace.graph.type.RunPolicy;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.work.policy.Retention;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Which graphs leave the store for the archive, and that each node stays in one of the two. */
class GraphRetentionTest {
  private static final String LARGE = "x".repeat(10_000);
  private static final Retention HOUR = new Retention(Duration.ofHours(1), null);

  /** So small that the removal of a few nodes is more than a transaction takes. */
  private static final TransactionLimits FEW = new TransactionLimits(20, 1 << 20, 64 << 10);

  private final GraphFixture world;
  private final Archive archive;
  private final Set<NodeId> needed = new HashSet<>();
  private Archiver archiver;

  GraphRetentionTest(@TempDir Path folder, @TempDir Path archiveFolder) {
    world = new GraphFixture(folder, FEW, Limits.defaults());
    archive = Archive.at(DatabaseAddress.file(archiveFolder.resolve("archive.db")));
    archiver = archiver(HOUR);
  }

  @AfterEach
  void end() {
    archive.close();
    world.close();
  }

  private Archiver archiver(Retention retention) {
    return archiver(world.graph().retention(retention, () -> needed));
  }

  private Archiver archiver(ArchiveSource source) {
    return new Archiver(archive, null, List.of(source));
  }

  /** Drives the archiver for a minute. */
  private void archive() {
    Instant end = world.now().plusSeconds(60);
    while (world.now().isBefore(end)) {
      Instant next = archiver.step(world.now());
      if (next.isAfter(world.now())) {
        world.advance(Duration.between(world.now(), next.isBefore(end) ? next : end));
      }
    }
  }

  private Set<String> live() {
    Set<String> ids = new HashSet<>();
    world
        .registry()
        .snapshot(NodeFilter.ALL)
        .nodes()
        .forEach(node -> ids.add(node.id().toString()));
    return ids;
  }

  private Set<String> archived() {
    Set<String> ids = new HashSet<>();
    archive
        .list(ArchiveQuery.newest(ArchiveTable.GRAPHS, 100_000))
        .forEach(row -> assertThat(ids.add(row.id())).isTrue());
    return ids;
  }

  private ArchiveRow row(NodeId id) {
    return archive.find(ArchiveTable.GRAPHS, id.toString()).orElseThrow();
  }

  private static String[] texts(NodeId... ids) {
    return Stream.of(ids).map(NodeId::toString).toArray(String[]::new);
  }

  private static NewNode keeping(String time, NewNode node) {
    return with(node, Map.of(RunPolicy.KEEP_FINISHED, Json.text(time)));
  }

  @Test
  void a_graph_leaves_at_its_age_with_the_data_of_all_nodes() {
    NodeId top =
        world.addOne(named("top", with(form("command"), Map.of("note", Json.text(LARGE)))));
    NodeId below = world.addOne("command", top);
    NodeId other = world.addOne("command");
    world.finish(top);
    world.advance(Duration.ofMinutes(30));
    var _ = world.start(below);
    world.end(
        below,
        new Outcome.Failed("it broke"),
        Map.of(),
        Map.of("stdout", new TextTail().write(LARGE)));
    long ended = world.nowMillis();
    world.advance(Duration.ofMinutes(50));
    archive();
    assertThat(archived()).isEmpty();

    world.advance(Duration.ofMinutes(10));
    archive();
    assertThat(live()).containsExactly(other.toString());
    ArchiveRow first = row(top);
    assertThat(first.text("graph")).isEqualTo(top.toString());
    assertThat(first.text("name")).isEqualTo("top");
    assertThat(first.text("state")).isEqualTo("finished");
    ArchiveRow second = row(below);
    assertThat(second.text("graph")).isEqualTo(top.toString());
    assertThat(second.text("parents")).isEqualTo("[\"" + top + "\"]");
    assertThat(second.text("state")).isEqualTo("failed");
    assertThat(second.text("reason")).isEqualTo("it broke");
    assertThat(second.number("attempts")).isEqualTo(1);
    assertThat(second.finishedMillis()).isEqualTo(ended);
    assertThat(world.graph().data(first, "note", 0).data()).isEqualTo(Json.text(LARGE));
    assertThat(world.graph().data(second, "stdout", 0).data()).isEqualTo(Json.text(LARGE));
    assertThatThrownBy(() -> world.graph().data(second, "note", 0))
        .isInstanceOf(UnknownKeyException.class);
    for (String collection : List.of(Keys.NODES, Keys.DATA)) {
      assertThat(world.store().documents(DocumentQuery.prefix(collection, "")).value()).hasSize(1);
    }
    world.restart();
    assertThat(live()).containsExactly(other.toString());
    // Ids are not used again.
    assertThat(world.addOne("command").value()).isGreaterThan(other.value());
  }

  @Test
  void without_limits_every_graph_stays_but_those_that_say_otherwise() {
    archiver = archiver(Retention.FOREVER);
    NodeId stays = world.addOne("command");
    NodeId leaves = world.addOne(keeping("10m", form("command")));
    world.finish(stays);
    world.finish(leaves);
    world.advance(Duration.ofDays(1_000));
    archive();
    assertThat(archived()).containsExactly(leaves.toString());
    assertThat(live()).containsExactly(stays.toString());
  }

  @Test
  void the_longest_time_that_a_node_of_a_graph_says_counts_and_may_be_changed_at_any_time() {
    List<NodeId> ids =
        world.add(
            keeping("3h", form("g", "group", NewNode.Place.ROOT)),
            keeping("10m", form(null, "command", below("g"))));
    NodeId group = ids.getFirst();
    NodeId member = ids.getLast();
    world.finish(member);
    world.advance(Duration.ofHours(2));
    archive();
    assertThat(archived()).isEmpty();
    assertThatThrownBy(() -> put(group, "soon")).isInstanceOf(InvalidGraphException.class);
    put(group, "5m");
    archive();
    assertThat(archived()).containsExactlyInAnyOrder(texts(group, member));
  }

  private void put(NodeId id, String time) {
    put(id, RunPolicy.KEEP_FINISHED, Json.text(time));
  }

  private void put(NodeId id, String key, JsonNode value) {
    var _ = world.registry().put(Caller.ANYONE, id, key, new DataWrite.Whole(value), null);
  }

  @Test
  void of_the_others_as_many_stay_as_the_count_says_those_that_ended_last() {
    archiver = archiver(new Retention(null, 2L));
    List<NodeId> ids = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      ids.add(world.addOne("command"));
    }
    NodeId own = world.addOne(keeping("30d", form("command")));
    world.finish(own);
    for (int i : new int[] {3, 1, 0, 4}) {
      world.finish(ids.get(i));
      world.advance(Duration.ofSeconds(1));
    }
    archive();
    assertThat(archived()).containsExactlyInAnyOrder(texts(ids.get(3), ids.get(1)));
    world.finish(ids.get(2));
    archive();
    assertThat(live()).containsExactlyInAnyOrder(texts(ids.get(4), ids.get(2), own));
  }

  /** Graphs of one node with this name, of which this many stay. */
  private List<NodeId> runs(String name, int count, int runs) {
    List<NodeId> ids = new ArrayList<>();
    for (int i = 0; i < runs; i++) {
      NewNode node = named(name, form("command"));
      ids.add(
          world.addOne(
              with(
                  node, Map.of(RunPolicy.KEEP_COUNT, JsonNodeFactory.instance.numberNode(count)))));
    }
    return ids;
  }

  @Test
  void a_graph_may_say_how_many_with_its_name_stay_and_change_it_at_any_time() {
    archiver = archiver(new Retention(null, 0L));
    List<NodeId> nightly = runs("nightly", 2, 4);
    List<NodeId> weekly = runs("weekly", 3, 3);
    NodeId plain = world.addOne("command");
    for (NodeId id : Stream.of(weekly, nightly, List.of(plain)).flatMap(List::stream).toList()) {
      world.finish(id);
      world.advance(Duration.ofSeconds(1));
    }
    archive();
    assertThat(archived()).containsExactlyInAnyOrder(texts(plain, nightly.get(0), nightly.get(1)));
    assertThatThrownBy(() -> put(weekly.getLast(), RunPolicy.KEEP_COUNT, Json.text("two")))
        .isInstanceOf(InvalidGraphException.class);
    world.restart();
    archiver = archiver(new Retention(null, 0L));
    // The one that ended last speaks for all.
    put(weekly.getLast(), RunPolicy.KEEP_COUNT, JsonNodeFactory.instance.numberNode(1));
    archive();
    assertThat(live())
        .containsExactlyInAnyOrder(texts(nightly.get(2), nightly.get(3), weekly.getLast()));
  }

  @Test
  void a_graph_with_a_count_leaves_by_the_age_of_all_or_by_its_own() {
    List<NodeId> counted = runs("nightly", 5, 2);
    counted.forEach(world::finish);
    put(counted.getFirst(), "3h");
    world.advance(Duration.ofHours(2));
    archive();
    assertThat(live()).containsExactly(counted.getFirst().toString());
  }

  @Test
  void graphs_that_have_not_ended_or_that_are_needed_stay() {
    NodeId failed = world.addOne("command");
    NodeId blocked = world.addOne("command", failed);
    NodeId later = world.addOne(form(null, "command", after(blocked)));
    NodeId ready = world.addOne("command");
    NodeId finished = world.addOne("command");
    NodeId next = world.addOne(form(null, "command", after(finished)));
    NodeId wanted = world.addOne("command");
    world.fail(failed);
    world.finish(finished);
    world.finish(wanted);
    needed.add(wanted);
    world.advance(Duration.ofHours(2));
    archive();
    assertThat(archived()).containsExactlyInAnyOrder(texts(failed, blocked, later));
    assertThat(row(later).text("state")).isEqualTo("blocked");
    assertThat(row(later).text("reason")).isEqualTo("node " + failed + " failed");
    assertThat(live()).containsExactlyInAnyOrder(texts(ready, finished, next, wanted));
    needed.clear();
    archive();
    assertThat(archived()).contains(wanted.toString());
  }

  @Test
  void a_graph_with_more_nodes_than_a_batch_leaves_as_a_whole() {
    List<NewNode> forms = new ArrayList<>(List.of(form("g", "group", NewNode.Place.ROOT)));
    for (int i = 0; i < 450; i++) {
      forms.add(form(null, "command", below("g")));
    }
    List<NodeId> ids = new ArrayList<>(world.add(forms.toArray(NewNode[]::new)));
    NodeId group = ids.removeFirst();
    var _ = world.work().start(ids);
    ids.forEach(id -> world.end(id, new Outcome.Finished(null)));
    assertThat(world.state(group)).isEqualTo(NodeState.FINISHED);
    world.advance(Duration.ofHours(2));
    archive();
    assertThat(live()).isEmpty();
    assertThat(archived()).hasSize(451);
    long batches =
        archive.list(ArchiveQuery.newest(ArchiveTable.GRAPHS, 1_000)).stream()
            .map(row -> row.number(ArchiveTable.ARCHIVED))
            .distinct()
            .count();
    assertThat(batches).isEqualTo(1);
  }

  @Test
  void blobs_of_archived_nodes_stay_until_their_rows_go() {
    // Blobs carry the time of this machine.
    world.advance(Duration.between(world.now(), Instant.now()));
    NodeId id = world.addOne(with(form("command"), Map.of("note", Json.text(LARGE))));
    world.finish(id);
    world.advance(Duration.ofHours(3));
    archive();
    world.graph().sweeper(archive).step(world.now());
    assertThat(blobs()).containsExactly("archived-graph." + id + ".0");
    assertThat(world.graph().data(row(id), "note", 0).data()).isEqualTo(Json.text(LARGE));
    archive.drop(ArchiveTable.GRAPHS, List.of(id.toString()));
    world.graph().sweeper(archive).step(world.now());
    assertThat(blobs()).isEmpty();
  }

  private List<String> blobs() {
    try (Stream<Blob> all = world.blobs().list("")) {
      return all.map(Blob::name).sorted().toList();
    }
  }

  /** A source whose removals are interrupted by somebody else, or by a crash. */
  private record Interrupted(ArchiveSource source, Runnable before, Runnable after)
      implements ArchiveSource {
    @Override
    public ArchiveTable table() {
      return source.table();
    }

    @Override
    public Due due(Instant now, int most) {
      return source.due(now, most);
    }

    @Override
    public Set<String> remove(List<String> ids) {
      before.run();
      Set<String> kept = source.remove(ids);
      after.run();
      return kept;
    }

    @Override
    public Set<String> present(Collection<String> ids) {
      return source.present(ids);
    }
  }

  private static final class CrashException extends RuntimeException {}

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void each_node_is_in_the_store_or_in_the_archive(long seed) {
    Random random = new Random(seed);
    Set<String> all = new HashSet<>();
    for (int round = 0; round < 40; round++) {
      addSome(random, all);
      runSome(random);
      world.advance(Duration.ofMinutes(random.nextInt(40)));
      int fate = random.nextInt(4);
      Runnable crash =
          () -> {
            throw new CrashException();
          };
      archiver =
          archiver(
              new Interrupted(
                  world.graph().retention(HOUR, Set::of),
                  fate == 0 ? crash : fate == 1 ? () -> changeSome(random, all) : () -> {},
                  fate == 2 ? crash : () -> {}));
      try {
        archive();
      } catch (CrashException _) {
        if (random.nextBoolean()) {
          world.crash();
        }
      }
    }
    archiver = archiver(HOUR);
    archive();
    Set<String> archived = archived();
    assertThat(archived).isNotEmpty().doesNotContainAnyElementsOf(live());
    archived.addAll(live());
    assertThat(archived).isEqualTo(all);
  }

  private void addSome(Random random, Set<String> all) {
    List<GraphNode> nodes = world.registry().snapshot(NodeFilter.ALL).nodes();
    for (int i = 0; i < random.nextInt(8); i++) {
      NewNode form = form("command");
      if (!nodes.isEmpty() && random.nextBoolean()) {
        NodeId above = nodes.get(random.nextInt(nodes.size())).id();
        form =
            random.nextInt(3) == 0 ? form(null, "command", after(above)) : form("command", above);
      }
      all.add(world.addOne(form).toString());
    }
  }

  private void runSome(Random random) {
    for (int i = 0; i < 3; i++) {
      for (GraphNode node : world.registry().snapshot(NodeFilter.ALL).nodes()) {
        if (node.state() == NodeState.READY && random.nextInt(4) > 0) {
          var _ = world.start(node.id());
          world.end(
              node.id(),
              random.nextInt(6) == 0 ? new Outcome.Failed("it broke") : new Outcome.Finished(null),
              Map.of(),
              random.nextInt(4) == 0 ? Map.of("stdout", new TextTail().write(LARGE)) : Map.of());
        }
      }
    }
  }

  /** Retries nodes, adds below them, and removes them. */
  private void changeSome(Random random, Set<String> all) {
    for (GraphNode node : world.registry().snapshot(NodeFilter.ALL).nodes()) {
      if (random.nextInt(3) == 0) {
        switch (random.nextInt(3)) {
          case 0 -> all.add(world.addOne("command", node.id()).toString());
          case 1 -> {
            if (node.state() == NodeState.FAILED) {
              var _ = world.registry().retry(Caller.ANYONE, node.id(), null);
            }
          }
          default -> {
            if (node.state().isTerminal() && world.registry().node(node.id()).isPresent()) {
              var _ = world.registry().remove(Caller.ANYONE, node.id(), Removal.ALONE, null);
              all.remove(node.id().toString());
            }
          }
        }
      }
    }
  }
}
