package io.millrace.server.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.client.RejectedException;
import io.millrace.client.queues.QueueClient;
import io.millrace.client.queues.QueueClient.SubmittedTask;
import io.millrace.client.queues.QueueClient.Task;
import io.millrace.client.queues.QueueClient.TaskPage;
import io.millrace.client.queues.TaskOrder;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The client of queues of Java programs, with a real server. */
@Timeout(60)
final class QueueClientTest {
  record Letter(String user1, int user2) {}

  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir private Path folder;
  private Dci dci;
  private QueueClient client;

  @BeforeEach
  void start() {
    dci = new Dci(folder);
    client = QueueClient.open(dci.server().options());
  }

  @AfterEach
  void stop() {
    client.close();
    dci.close();
  }

  private Run take(String name) {
    Queue queue = dci.queues.queues().find(name).orElseThrow();
    var seen = dci.queues.nodes().find("n1").orElse(null);
    NodeIdentity presence = new NodeIdentity("i", "host", "7 mark", List.of("shell"));
    var node = dci.queues.nodes().take("n1", seen, presence).orElseThrow();
    Run run = dci.queues.runs().claim(node, queue, 1, LEASE).getFirst();
    return dci.queues.runs().start(run, "8 mark", LEASE);
  }

  private void finish(Run run, int status) {
    TaskOutput output = new TaskOutput(new Output.Text("hello"), new Output.Text(""));
    var _ = dci.queues.runs().finish(run, new Report(status, output, List.of(), null));
  }

  @Test
  void queues_are_created_changed_shown_and_deleted() {
    String id = client.create("mail", "demo", Map.of("threads", 2, "attempts", 3));
    assertThat(client.queue("mail"))
        .isEqualTo(client.queue(id))
        .satisfies(queue -> {
          assertThat(queue.id()).isEqualTo(id);
          assertThat(queue.plugin()).isEqualTo("demo");
          assertThat(queue.threads()).isEqualTo(2);
          assertThat(queue.settings().path("attempts").asInt()).isEqualTo(3);
        });
    client.change("mail", Collections.singletonMap("threads", null));
    assertThat(client.queue("mail").threads()).isNull();
    var _ = client.submit("mail", Map.of("user1", 1));
    assertThat(client.queues()).hasSize(1).allMatch(queue -> queue.queued() == 1);
    client.delete("mail");
    assertThat(client.queues()).isEmpty();
    assertThatThrownBy(() -> client.queue("mail"))
        .isInstanceOf(RejectedException.class)
        .hasMessageContaining("queue not found");
    assertThatThrownBy(() -> client.submit("mail", Map.of("user1", 1)))
        .isInstanceOf(RejectedException.class);
  }

  @Test
  void a_task_is_submitted_awaited_and_its_output_read() throws Exception {
    var _ = client.create("mail", "demo", Map.of("threads", 2));
    String id = client.submit("mail", new Letter("Ann", 2)).id();
    assertThatThrownBy(() -> client.await(id, Duration.ofMillis(20)))
        .isInstanceOf(TimeoutException.class);
    CompletableFuture<Task> ended =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return client.await(id, PATIENCE);
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            },
            Thread::startVirtualThread);
    finish(take("mail"), 1);
    Task task = ended.get(30, TimeUnit.SECONDS);
    assertThat(task.id()).isEqualTo(id);
    assertThat(task.hasSucceeded()).isTrue();
    assertThat(task.node()).isEqualTo("n1");
    assertThat(task.params().path("user1").asString()).isEqualTo("Ann");
    assertThat(task.created()).isBetween(Instant.now().minusSeconds(60), Instant.now());
    try (InputStream output = client.output(id, QueueClient.Output.STDOUT, true)) {
      assertThat(new String(output.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("hello");
    }
    assertThat(client.retry(id).status()).isEqualTo(-2);
    finish(take("mail"), 2);
    assertThat(client.await(List.of(id, "0123456789abcdef01234567"), PATIENCE))
        .isEqualTo(Map.of(id, 2));
  }

  @Test
  void an_order_delays_tasks_and_makes_them_unique() {
    var _ = client.create("mail", "demo", Map.of());
    TaskOrder order = TaskOrder.DEFAULT.withUnique("a b&c").withPriority(7).withDelay(LEASE);
    SubmittedTask first = client.submit("mail", Map.of("user1", 1), order);
    assertThat(first.duplicate()).isFalse();
    assertThat(client.submit("mail", Map.of("user1", 2), order))
        .isEqualTo(new SubmittedTask(first.id(), true));
    Task task = client.find(first.id());
    assertThat(task.all().path("priority").asInt()).isEqualTo(7);
    assertThat(task.all().path("not_before").asLong())
        .isGreaterThan(System.currentTimeMillis() + 200_000);
    Instant start = Instant.ofEpochSecond(Instant.now().getEpochSecond()).plus(Duration.ofDays(30));
    String later =
        client.submit("mail", Map.of("user1", 3), TaskOrder.DEFAULT.withStart(start)).id();
    assertThat(client.find(later).all().path("not_before").asLong())
        .isEqualTo(start.toEpochMilli());
    assertThat(client.cancel(first.id()).status()).isEqualTo(-5);
    assertThat(client.find(first.id()).isOver()).isTrue();
    assertThat(client.terminate(later).status()).isEqualTo(-3);
    assertThatThrownBy(() ->
            client.submit("mail", Map.of("user1", 3), TaskOrder.DEFAULT.with("colour", "red")))
        .isInstanceOf(RejectedException.class)
        .hasMessageContaining("colour");
    assertThatThrownBy(() -> client.submit("mail", "text"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_filter_lists_tasks_in_pages() {
    var _ = client.create("mail", "demo", Map.of());
    List<Map<String, Integer>> params = new ArrayList<>();
    for (int i = 0; i < 250; i++) {
      params.add(Map.of("user1", i, "user2", i % 2));
    }
    List<String> ids =
        client.submitAll("mail", params, TaskOrder.DEFAULT).stream()
            .map(SubmittedTask::id)
            .toList();
    Map<String, Object> odd = Map.of("params.user2", 1, "status", -2);
    assertThat(client.count(odd)).isEqualTo(125);
    List<String> listed = new ArrayList<>();
    List<Integer> sizes = new ArrayList<>();
    String next = null;
    do {
      TaskPage page = client.list(odd, next);
      sizes.add(page.tasks().size());
      page.tasks().forEach(task -> listed.add(task.id()));
      next = page.next();
    } while (next != null);
    assertThat(sizes).containsExactly(100, 25);
    assertThat(listed).isSubsetOf(ids).hasSize(125).isSorted();
    assertThat(client.list(Map.of(), null).tasks()).hasSize(QueueClient.PAGE);
    assertThatThrownBy(() -> client.list(Map.of("status", Map.of("$near", 1)), null))
        .isInstanceOf(RejectedException.class)
        .hasMessageContaining("$near");
  }
}
