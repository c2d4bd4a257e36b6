package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Three servers of a store with four shards are killed in turn, while clients commit to all. */
class ShardsKillTest {
  private static final int SHARDS = 4;
  private static final int GROUPS = 8;
  private static final int KILLS = 3;

  private final Path root;
  private final SharedServers shared;
  private final List<Program.Ready> servers = new ArrayList<>();
  private int started;

  ShardsKillTest(@TempDir Path root) {
    this.root = root;
    this.shared = new SharedServers(root, "2s");
  }

  @AfterEach
  void close() throws IOException {
    shared.close();
  }

  private void start() throws IOException {
    servers.add(shared.up("server-" + started++, "--set=store.shards=" + SHARDS));
  }

  /** How many shards a server leads; 0 if it does not answer yet. */
  private static int leads(Program.Ready server) {
    try (JsonCalls calls = JsonCalls.open(ClientOptions.at(SharedServers.address(server)))) {
      int count = 0;
      for (JsonNode shard : calls.get("/shards")) {
        count += shard.path("role").asString().equals("leader") ? 1 : 0;
      }
      return count;
    } catch (StoreException _) {
      return 0;
    }
  }

  /** Waits until every server leads something, and each shard has a leader. */
  private void awaitSpread() {
    while (true) {
      List<Integer> counts = servers.stream().map(ShardsKillTest::leads).toList();
      if (!counts.contains(0) && counts.stream().mapToInt(it -> it).sum() == SHARDS) {
        return;
      }
      LockSupport.parkNanos(20_000_000);
    }
  }

  private HttpTaskStore open() {
    String all = servers.stream().map(SharedServers::address).collect(Collectors.joining(","));
    return HttpTaskStore.open(ClientOptions.at(all).withRetryFor(Duration.ofMinutes(2)));
  }

  /** Commits until a server has been killed and its shards have leaders again. */
  private static void commit(
      HttpTaskStore store,
      String group,
      int round,
      Future<?> end,
      ConcurrentLinkedQueue<String> acknowledged) {
    for (int i = 0; !end.isDone() || i < 2; i++) {
      String data = group + " " + round + " " + i;
      store
          .commit(
              Transaction.by(Owner.client(1)).requestId(data).add(group, Bytes.of(data)).build())
          .done();
      acknowledged.add(data);
      // As fast as they can, clients would take the processors from the servers.
      LockSupport.parkNanos(5_000_000);
    }
  }

  @Test
  void nothing_acknowledged_is_lost_and_every_server_leads_again() throws Exception {
    for (int i = 0; i < 3; i++) {
      start();
    }
    ConcurrentLinkedQueue<String> acknowledged = new ConcurrentLinkedQueue<>();
    for (int round = 0; round < KILLS; round++) {
      awaitSpread();
      try (HttpTaskStore store = open();
          ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
        Program.Ready victim = servers.removeFirst();
        Future<?> end =
            executor.submit(() -> {
              victim.program().killAlive();
              start();
              awaitSpread();
              return null;
            });
        List<Future<?>> commits = new ArrayList<>();
        for (int i = 0; i < GROUPS; i++) {
          String group = "team" + i + "/work";
          int number = round;
          commits.add(executor.submit(() -> commit(store, group, number, end, acknowledged)));
        }
        end.get();
        for (Future<?> each : commits) {
          each.get();
        }
      }
    }
    List<String> found = new ArrayList<>();
    try (HttpTaskStore store = open()) {
      for (int i = 0; i < GROUPS; i++) {
        store
            .group(GroupQuery.all("team" + i + "/work"))
            .value()
            .forEach(task -> found.add(task.data().utf8()));
      }
    }
    assertThat(found).doesNotHaveDuplicates().hasSameElementsAs(acknowledged);
    assertThat(acknowledged).hasSizeGreaterThanOrEqualTo(KILLS * GROUPS * 2);
  }

  private String addresses() {
    return servers.stream().map(SharedServers::address).collect(Collectors.joining(","));
  }

  private JsonCalls calls() {
    return JsonCalls.open(ClientOptions.at(addresses()).withRetryFor(Duration.ofMinutes(2)));
  }

  @Test
  void tasks_of_queues_in_all_shards_are_run_once_while_servers_are_killed() throws Exception {
    for (int i = 0; i < 3; i++) {
      start();
    }
    awaitSpread();
    // The last server stays, so that the node knows where to go on.
    Program.Ready stays = servers.getLast();
    try (JsonCalls calls = calls()) {
      for (int i = 0; i < GROUPS; i++) {
        ObjectNode queue = JsonNodeFactory.instance.objectNode();
        var _ =
            calls.post(
                "/dci/queues",
                queue.put("name", "mail" + i).put("plugin", "shell").put("threads", 2));
      }
    }
    Path done = root.resolve("done");
    Program.Ready node =
        Program.startReady(
            root.resolve("node.log"),
            List.of(
                "node", "--name=n1", "--server=" + addresses(), "--data=" + root.resolve("node")));
    try {
      Set<String> submitted = new HashSet<>();
      for (int round = 0; round < 2; round++) {
        awaitSpread();
        servers.removeFirst().program().killAlive();
        // Each request goes on with the servers that are left.
        try (JsonCalls calls =
            JsonCalls.open(
                ClientOptions.at(SharedServers.address(stays))
                    .withRetryFor(Duration.ofMinutes(2)))) {
          for (int i = 0; i < GROUPS; i++) {
            submitted.addAll(submit(calls, "mail" + i, done));
          }
        }
        start();
      }
      try (JsonCalls calls = calls()) {
        awaitEnded(calls, submitted);
      }
      List<String> lines = Files.readAllLines(done);
      // A submission whose answer was lost may have been made all the same, and then again.
      assertThat(lines).doesNotHaveDuplicates();
      assertThat(lines).hasSizeGreaterThanOrEqualTo(submitted.size());
    } finally {
      node.program().killAlive();
    }
  }

  /** Submits a task, and again while it is not known to be submitted. */
  private static List<String> submit(JsonCalls calls, String queue, Path done)
      throws InterruptedException {
    while (true) {
      ArrayNode params = JsonNodeFactory.instance.arrayNode();
      params.addObject().put("command", "echo %s >> %s".formatted(UUID.randomUUID(), done));
      try {
        JsonNode answer = calls.post("/dci/tasks/" + queue, params);
        return Pattern.compile("[0-9a-f]{24}")
            .matcher(answer.toString())
            .results()
            .map(MatchResult::group)
            .toList();
      } catch (StoreException _) {
        LockSupport.parkNanos(5_000_000);
      }
    }
  }

  private static void awaitEnded(JsonCalls calls, Set<String> ids) {
    Set<String> left = new HashSet<>(ids);
    while (!left.isEmpty()) {
      left.removeIf(id -> {
        try {
          return calls.get("/dci/tasks/id/" + id).path("status").asInt() == 1;
        } catch (StoreException _) {
          return false;
        }
      });
      LockSupport.parkNanos(5_000_000);
    }
  }

  @Test
  void the_command_line_shows_the_leaders_and_has_one_hand_its_shard_over() throws Exception {
    start();
    start();
    awaitSpread();
    Program.Ready other = servers.getFirst();
    JsonNode led = shards(other).valueStream().filter(ShardsKillTest::isMovable).findAny().get();
    String shard = led.path("shard").asString();
    String asked = SharedServers.address(servers.getLast());

    Shell.CommandResult list = Shell.run("shards", "list", "--server", asked);
    assertThat(list.out()).contains("SHARD", "leader", SharedServers.address(other));
    Shell.CommandResult handedOver = Shell.run("shards", "hand-over", shard, "--server", asked);
    assertThat(handedOver.code()).as(handedOver.err()).isZero();
    assertThat(handedOver.out()).isEqualTo("shard " + shard + " is being handed over\n");

    while (shards(other).path(led.path("shard").asInt()).path("role").equals(led.path("role"))) {
      LockSupport.parkNanos(5_000_000);
    }
    assertThat(Shell.run("shards", "hand-over", "99", "--server", asked).err())
        .contains("numbered from 0 to 3");
    assertThat(Shell.run("shards", "hand-over", "0", "--server", asked).err())
        .contains("shard 0 moves when its server stops");
  }

  private static JsonNode shards(Program.Ready server) {
    try (JsonCalls calls = JsonCalls.open(ClientOptions.at(SharedServers.address(server)))) {
      return calls.get("/shards");
    }
  }

  private static boolean isMovable(JsonNode shard) {
    return shard.path("role").asString().equals("leader") && shard.path("shard").asInt() > 0;
  }
}
