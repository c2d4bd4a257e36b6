package io.millrace.queues.node;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.NodeConfig.OutputLimits;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.Queue.Sort;
import io.millrace.queues.QueueTask.Place;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ServedQueuesTest {
  private final ServedQueues served = new ServedQueues("n");

  private static Queue queue(int number, List<String> pin, List<String> ignore) {
    return new Queue(
        new ObjectId("%024x".formatted(number)),
        "q" + number,
        "work",
        new Queue.Settings(1, Sort.FIFO, pin, ignore, 0),
        Queue.Health.GOOD,
        new Place(number, 1));
  }

  private static NodeConfig config(List<String> active, List<String> ignore) {
    return new NodeConfig(null, List.of(), List.of(), active, ignore, null, OutputLimits.DEFAULTS);
  }

  private boolean serves(Queue queue, NodeConfig config) {
    served.reload(List.of(queue), config, () -> Set.of("work"));
    return served.find(queue.id()).isPresent();
  }

  @Test
  void pinning_goes_before_ignoring() {
    assertThat(serves(queue(1, List.of(), List.of()), NodeConfig.DEFAULTS)).isTrue();
    assertThat(serves(queue(1, List.of("n"), List.of("n")), NodeConfig.DEFAULTS)).isTrue();
    assertThat(serves(queue(1, List.of("m"), List.of()), NodeConfig.DEFAULTS)).isFalse();
    assertThat(serves(queue(1, List.of(), List.of("n")), NodeConfig.DEFAULTS)).isFalse();
  }

  @Test
  void active_queues_go_before_ignored_ones_and_are_named_by_id_or_name() {
    Queue queue = queue(1, List.of(), List.of());
    assertThat(serves(queue, config(List.of("q1"), List.of("q1")))).isTrue();
    assertThat(serves(queue, config(List.of(queue.id().hex()), List.of()))).isTrue();
    assertThat(serves(queue, config(List.of("other"), List.of()))).isFalse();
    assertThat(serves(queue, config(List.of(), List.of("q1")))).isFalse();
    assertThat(serves(queue(1, List.of("m"), List.of()), config(List.of("q1"), List.of())))
        .isFalse();
  }

  @Test
  void every_queue_that_is_due_has_its_turn_before_any_has_a_second() {
    List<Queue> queues =
        List.of(
            queue(1, List.of(), List.of()),
            queue(2, List.of(), List.of()),
            queue(3, List.of(), List.of()));
    served.reload(queues, NodeConfig.DEFAULTS, () -> Set.of("work"));
    served.exhausted(queues.get(1).id());
    assertThat(List.of(next(), next(), next(), next())).containsExactly("q1", "q3", "q1", "q3");
    served.ring(queues.get(1).id());
    assertThat(List.of(next(), next(), next())).containsExactly("q1", "q2", "q3");
  }

  private String next() {
    return served.next().map(Queue::name).orElse("none");
  }

  @Test
  void nothing_is_due_where_nothing_may_run() {
    served.reload(
        List.of(
            new Queue(
                new ObjectId("%024x".formatted(1)),
                "q",
                "work",
                Queue.Settings.DEFAULTS,
                Queue.Health.GOOD,
                new Place(1, 1))),
        NodeConfig.DEFAULTS,
        () -> Set.of("work"));
    assertThat(served.next()).isEqualTo(Optional.empty());
    assertThat(served.dueCount()).isZero();
  }

  @Test
  void queues_of_the_configuration_that_are_not_there_are_said_once() {
    Queue queue = queue(1, List.of(), List.of());
    NodeConfig wrong = config(List.of("q1", "q2"), List.of(queue.id().hex(), "q2"));
    Logger log = (Logger) LoggerFactory.getLogger(ServedQueues.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    try {
      for (NodeConfig config : List.of(wrong, wrong, NodeConfig.DEFAULTS, wrong)) {
        served.reload(List.of(queue), config, () -> Set.of("work"));
      }
    } finally {
      log.detachAppender(lines);
    }

    String active =
        "the configuration of node n: activequeues names q2, and there is no such queue";
    String ignore = active.replace("active", "ignore");
    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly(active, ignore, active, ignore);
  }

  @Test
  void a_plugin_that_is_missing_is_said_once_and_again_once_it_has_been_there() {
    Queue queue = queue(1, List.of(), List.of());
    Logger log = (Logger) LoggerFactory.getLogger(ServedQueues.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    try {
      for (Set<String> plugins :
          List.of(
              Set.<String>of(),
              Set.<String>of(),
              Set.of("work"),
              Set.of("work"),
              Set.<String>of())) {
        served.reload(List.of(queue), NodeConfig.DEFAULTS, () -> plugins);
      }
    } finally {
      log.detachAppender(lines);
    }

    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly(
            "queue q1 is ignored: node n has no plugin work",
            "queue q1 is served: plugin work was found",
            "queue q1 is ignored: node n has no plugin work");
  }
}
