package io.millrace.graph.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.IntNode;

/** What a scheduler makes of what an earlier one has left. */
class NextSchedulerTest {
  private final Path folder;
  private final World world;

  NextSchedulerTest(@TempDir Path folder) {
    this.folder = folder;
    this.world = new World(folder, 2);
  }

  @Test
  void what_runs_is_found_again_by_the_next_scheduler() {
    NodeId id = world.add(world.work, Map.of("timeout", IntNode.valueOf(30)));
    world.settle();
    world.restart();
    world.pass(30_000);
    FakeType.Fake attempt = world.work.begun.getFirst();
    assertThat(attempt.kills).containsExactly(Kill.DEFAULT);
    attempt.end(null, null);
    world.settle();

    assertThat(world.work.begun).hasSize(1);
    assertThat(world.graph.state(id)).isEqualTo(NodeState.FAILED);
  }

  @Test
  void the_output_of_what_runs_is_not_known_until_it_is_found_again() {
    NodeId waits = world.add(world.quiet, Map.of());
    NodeId id = world.add();
    assertThat(world.graph.knowsOutput(id)).isFalse();
    world.step();
    assertThat(world.graph.knowsOutput(id)).isTrue();
    world.settle();

    world.restart();
    assertThat(world.graph.knowsOutput(id)).isFalse();
    world.step();
    assertThat(world.graph.knowsOutput(id)).isFalse();
    world.task();
    world.step();

    assertThat(world.graph.knowsOutput(id)).isTrue();
    assertThat(world.graph.knowsOutput(waits)).isFalse();
  }

  @Test
  void what_ended_while_no_scheduler_was_there_is_gone_and_retried_where_asked() {
    NodeId fails = world.add();
    NodeId again = world.add(world.work, World.retries(1, 0));
    world.settle();
    world.scheduler.close();
    List.copyOf(world.work.begun).forEach(fake -> fake.end(null, null));
    world.restart();
    world.settle();

    assertThat(world.graph.state(fails)).isEqualTo(NodeState.FAILED);
    assertThat(world.graph.reason(fails))
        .isEqualTo("the server stopped, and what it had begun is gone");
    assertThat(world.graph.state(again)).isEqualTo(NodeState.RUNNING);
    assertThat(world.graph.node(again).phase().attempt()).isEqualTo(2);
  }

  @Test
  void what_was_on_record_and_never_begun_is_begun_by_the_next_scheduler() {
    NodeId id = world.add();
    world.step();
    assertThat(world.graph.state(id)).isEqualTo(NodeState.RUNNING);
    assertThat(world.work.begun).isEmpty();
    world.restart();
    world.settle();

    assertThat(world.work.begun).extracting(fake -> fake.number).containsExactly(1);
  }

  @Test
  void after_a_restart_of_the_machine_nobody_knows_whether_it_had_begun() throws IOException {
    NodeId id = world.add();
    world.step();
    Files.writeString(folder.resolve("boot"), "4711 another-boot:12\n");
    world.restart();
    world.settle();

    assertThat(world.graph.state(id)).isEqualTo(NodeState.FAILED);
    assertThat(world.graph.reason(id)).contains("machine was restarted");
    assertThat(world.work.begun).isEmpty();
  }

  @Test
  void a_type_that_is_gone_after_a_restart_stops_no_other() {
    NodeId lost = world.add(world.quiet, Map.of());
    NodeId waits = world.add(world.quiet, Map.of(), lost);
    NodeId kept = world.add();
    world.settle();
    world.restartWith(world.work);
    world.settle();

    assertThat(world.graph.state(lost)).isEqualTo(NodeState.FAILED);
    assertThat(world.graph.reason(lost)).contains("does not know the type \"quiet\"");
    assertThat(world.graph.state(waits)).isEqualTo(NodeState.BLOCKED);
    world.work.begun.getFirst().end(null, null);
    world.settle();
    assertThat(world.graph.state(kept)).isEqualTo(NodeState.FINISHED);
  }

  @Test
  void folders_go_with_the_end_and_those_of_nobody_with_the_next_start() throws IOException {
    world.add();
    world.settle();
    Files.createDirectories(folder.resolve("77.3"));
    Files.writeString(folder.resolve("77.3/stdout"), "old");
    Files.writeString(folder.resolve("77.3.begun"), "");
    assertThat(folder.resolve("1.1.begun")).exists();
    world.restart();
    world.settle();
    assertThat(folder.resolve("77.3")).doesNotExist();
    assertThat(folder.resolve("77.3.begun")).doesNotExist();
    assertThat(folder.resolve("1.1.begun")).exists();
    world.work.begun.getFirst().end(null, null);
    world.settle();

    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactly(folder.resolve("boot"));
    }
  }

  @Test
  void what_starts_before_old_folders_are_removed_keeps_its_own() throws IOException {
    Files.createDirectory(folder.resolve("77.3"));
    NodeId id = world.add();
    world.work.before =
        work -> {
          try {
            Files.createDirectory(work.folder());
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        };
    world.step();
    // The removal was asked for first, and may come last.
    world.tasks.addLast(world.tasks.removeFirst());
    world.settle();

    assertThat(folder.resolve("77.3")).doesNotExist();
    assertThat(folder.resolve(id + ".1")).exists();
  }
}
