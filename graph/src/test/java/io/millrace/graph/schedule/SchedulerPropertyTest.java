package io.millrace.graph.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.graph.Definition;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.type.Attempt.Failure;
import io.millrace.graph.type.AttemptContext;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.StringNode;

/**
 * Random graphs whose attempts end at random, killed and retried anywhere, under a scheduler that
 * dies and comes again, with a store that is away at times and loses answers.
 */
class SchedulerPropertyTest {
  private static final int STEPS = 1_500;
  private static final int MAX_NODES = 60;
  private static final JsonNode ONE = number(1);

  private final World world;
  private final Set<String> begun = new HashSet<>();
  private Random random = new Random(0);

  SchedulerPropertyTest(@TempDir Path folder) {
    world = new World(folder, 3);
    Stream.of(world.work, world.quiet, world.condition)
        .forEach(type -> type.before = this::checkBeginning);
    world.graph.beforeStart = this::checkStart;
    world.graph.permits.limits.putAll(Map.of("one", 2, "two", 1));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
  void nothing_begins_twice_or_before_its_parents_and_all_comes_to_an_end(long seed) {
    random = new Random(seed);
    try {
      for (int i = 0; i < STEPS; i++) {
        disturb();
        assertThat(world.work.alive.size() + world.condition.alive.size()).isLessThanOrEqualTo(3);
        checkLimits();
      }
      comeToAnEnd();
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError("seed " + seed + ": " + e, e);
    }
  }

  private void disturb() {
    switch (random.nextInt(16)) {
      case 0, 1 -> add();
      case 2, 3, 4 -> world.step();
      case 5, 6, 7, 8, 9 -> world.task();
      case 10, 11, 12 -> end();
      case 13 -> intervene();
      case 14 -> world.nowMillis += random.nextInt(3_000);
      default -> {
        if (random.nextInt(8) == 0) {
          world.scheduler.close();
          // Some are gone when the next scheduler looks for them.
          alive().stream().filter(_ -> random.nextInt(4) == 0).forEach(fake -> end(fake, null));
          world.restart();
        } else if (random.nextInt(4) == 0) {
          world.graph.lostAnswers = random.nextInt(2);
          world.graph.refusals = random.nextInt(2);
        }
      }
    }
  }

  private void intervene() {
    List<GraphNode> nodes = world.graph.nodes();
    if (nodes.isEmpty()) {
      return;
    }
    NodeId id = nodes.get(random.nextInt(nodes.size())).id();
    if (random.nextBoolean()) {
      world.graph.kill(id, new Kill("TERM", Duration.ofSeconds(random.nextInt(2))));
      return;
    }
    try {
      world.graph.retry(id);
    } catch (NodeStateException e) {
      assertThat(e).hasMessageContaining("neither failed nor killed");
    }
  }

  private void add() {
    int there = world.graph.nodes().size();
    if (there >= MAX_NODES) {
      return;
    }
    FakeType type = List.of(world.work, world.quiet, world.condition).get(random.nextInt(3));
    boolean group = random.nextInt(8) == 0;
    NewNode.Place place =
        new NewNode.Place(
            some(there, 3),
            some(there, random.nextInt(2)),
            random.nextInt(4) == 0 ? branch() : null);
    boolean always = random.nextInt(10) == 0;
    Map<String, JsonNode> data =
        switch (random.nextInt(8)) {
          case 0 -> World.retries(random.nextInt(3), 0.5);
          case 1 -> Map.of("interruptions", IntNode.valueOf(2), "snoozes", IntNode.valueOf(2));
          case 2 ->
              Map.of("delay", number(random.nextInt(5)), "wait_timeout", number(5), "retries", ONE);
          case 3 -> Map.of("total_timeout", number(1 + random.nextInt(8)), "retries", ONE);
          case 4 -> group ? Map.of() : Map.of("limits", StringNode.valueOf("one"));
          case 5 ->
              group ? Map.of() : Map.of("limits", StringNode.valueOf("one,two"), "retries", ONE);
          default -> Map.of();
        };
    try {
      world.graph.add(new NewNode(null, null, group ? "group" : type.name(), place, always, data));
    } catch (InvalidGraphException | NodeStateException e) {
      assertThat(e).hasMessageMatching(".*(condition|group|wait).*");
    }
  }

  private static JsonNode number(int number) {
    return IntNode.valueOf(number);
  }

  private List<NodeRef> some(int there, int most) {
    List<NodeRef> refs = new ArrayList<>();
    for (int i = there == 0 ? most : random.nextInt(most + 1); i < most; i++) {
      NodeRef ref = new NodeRef.Existing(new NodeId(1 + random.nextInt(there)));
      if (!refs.contains(ref)) {
        refs.add(ref);
      }
    }
    return refs;
  }

  private Branch branch() {
    return random.nextBoolean() ? Branch.THEN : Branch.ELSE;
  }

  private void end() {
    List<FakeType.Fake> alive = alive();
    if (!alive.isEmpty()) {
      FakeType.Fake fake = alive.get(random.nextInt(alive.size()));
      switch (random.nextInt(12)) {
        case 0, 1, 2 -> end(fake, "chance");
        case 3 -> fake.endWith(new Failure.Snoozed(Duration.ofSeconds(1)), null);
        case 4 -> fake.endWith(new Failure.Interrupted("chance"), null);
        default -> end(fake, null);
      }
    }
  }

  private void end(FakeType.Fake fake, @Nullable String failure) {
    fake.end(failure, branch());
  }

  private List<FakeType.Fake> alive() {
    return Stream.of(world.work, world.quiet, world.condition)
        .flatMap(type -> type.alive.values().stream())
        .toList();
  }

  /** No more nodes run than their limits allow, and each that runs holds a permit. */
  private void checkLimits() {
    world.graph.permits.limits.forEach((name, most) ->
        assertThat(
                world.graph.nodes().stream()
                    .filter(node -> node.state() == NodeState.RUNNING)
                    .filter(node -> node.definition().limits().names().contains(name))
                    .count())
            .isLessThanOrEqualTo(most)
            .isLessThanOrEqualTo(world.graph.permits.used(name)));
  }

  /** Nothing begins twice, or before it is on record. */
  private void checkBeginning(AttemptContext work) {
    assertThat(begun.add(work.toString())).as("%s begins once", work).isTrue();
    GraphNode node = world.graph.node(work.id());
    assertThat(node.phase())
        .isInstanceOfSatisfying(
            Phase.Running.class,
            running -> assertThat(running.attempt()).isEqualTo(work.attempt()));
  }

  /** Nothing is started before what is above it, and before it, or too early or too late. */
  private void checkStart(GraphNode node) {
    Definition definition = node.definition();
    if (!definition.timing().isNone()) {
      assertThat(node.phase())
          .isInstanceOfSatisfying(
              Phase.Waiting.class,
              waiting -> {
                assertThat(waiting.dueMillis()).isBetween(1L, world.nowMillis);
                assertThat(definition.timing().expiryMillis(waiting))
                    .isGreaterThan(world.nowMillis);
              });
    }
    for (NodeId id : definition.parents()) {
      GraphNode parent = world.graph.node(id);
      if (parent.definition().kind() != Kind.GROUP) {
        checkOver(parent, definition.always());
      } else if (!hasStarted(parent)) {
        assertThat(parent.state()).matches(it -> isOver(it, definition.always()));
      }
    }
    definition.after().forEach(id -> checkOver(world.graph.node(id), definition.always()));
  }

  private static boolean hasStarted(GraphNode group) {
    return switch (group.phase()) {
      case Phase.Waiting _ -> false;
      case Phase.Running _ -> true;
      case Phase.Ended ended -> ended.startedMillis() > 0;
    };
  }

  private static void checkOver(GraphNode above, boolean always) {
    assertThat(above.state())
        .as("%s, always: %s", above, always)
        .matches(state -> isOver(state, always));
  }

  private static boolean isOver(NodeState state, boolean always) {
    return always ? state.isSettled() : state == NodeState.FINISHED || state == NodeState.SKIPPED;
  }

  private void comeToAnEnd() {
    world.graph.lostAnswers = 0;
    world.graph.refusals = 0;
    // The longest pause after a failure is four seconds here.
    world.pass(10_000);
    while (!alive().isEmpty()) {
      alive().forEach(fake -> end(fake, null));
      world.pass(10_000);
    }
    assertThat(world.graph.nodes()).allMatch(node -> node.state().isSettled());
    assertThat(world.tasks).isEmpty();
    assertThat(world.graph.permits.used("one")).as("permits that are left").isZero();
  }
}
