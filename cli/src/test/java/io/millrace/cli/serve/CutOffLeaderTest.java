package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.queues.Program;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.s3.S3Server;
import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Servers on one bucket, each in a network of its own, whose leader is killed or cut off under
 * load: nothing that was acknowledged is lost or done twice, and the one that is cut off gives no
 * old answer to those on its side.
 */
@Timeout(value = 480, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CutOffLeaderTest {
  private static final String TOKEN = "token-of-the-test";
  private static final String GROUP = "work";
  private static final int CLIENTS = 4;
  private static final DocumentKey NEWS = new DocumentKey("test", "news");
  private static final Duration LEASE = Duration.ofSeconds(20);

  /** What happens to a leader. */
  private enum Fault {
    /** Nothing comes in or goes out. */
    CUT_OFF,
    /** It ends with signal 9, and is started again. */
    KILLED,
    /** What it sends arrives, but not the answers. */
    DEAF
  }

  private final Path root;
  private final List<Network> networks = new ArrayList<>();
  private final List<Thread> clients = new ArrayList<>();
  private S3Server bucket;
  private Server leader;
  private Server next;
  private volatile boolean over;

  CutOffLeaderTest(@TempDir Path root) {
    this.root = root;
  }

  /** A server in a network. */
  private record Server(Network network, Process process, String address) {
    String role() {
      ClientOptions at = options(address).withRetryFor(Duration.ZERO);
      try (JsonCalls calls = JsonCalls.open(at)) {
        JsonNode health = calls.get("/health");
        return health.path("role").asString("") + (health.has("leader") ? " of a leader" : "");
      } catch (StoreException _) {
        return "";
      }
    }

    void await(String role) {
      while (!role().equals(role)) {
        assertThat(process.isAlive()).isTrue();
        LockSupport.parkNanos(20_000_000);
      }
    }

    int port() {
      return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    /** What a caller within its network reads: the answer as it is; empty if there is none. */
    String readInside(Path scratch) throws IOException, InterruptedException {
      String request =
          "GET /store/document/%s/%s HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n"
                  .formatted(NEWS.collection(), NEWS.key())
              + "Authorization: Bearer "
              + TOKEN
              + "\\r\\n\\r\\n";
      return network.exchange(network.inside(), port(), request, scratch);
    }
  }

  private static ClientOptions options(String servers) {
    return ClientOptions.at(servers)
        .withToken(TOKEN)
        .withConnectTimeout(Duration.ofSeconds(1))
        .withResponseTimeout(Duration.ofSeconds(3));
  }

  @BeforeEach
  void connect() throws Exception {
    Network.assumePossible();
    bucket = new S3Server("0.0.0.0");
    networks.add(Network.make(0));
    networks.add(Network.make(1));
    leader = up(networks.get(0), 0);
    leader.await("leader");
    next = up(networks.get(1), 0);
  }

  @AfterEach
  void disconnect() throws Exception {
    over = true;
    Program.killAll(root);
    for (Thread client : clients) {
      client.join();
    }
    for (Network network : networks) {
      network.delete();
    }
    if (bucket != null) {
      bucket.stop();
    }
  }

  private Server up(Network network, int port) throws IOException {
    Path token = Files.writeString(root.resolve("token"), TOKEN);
    List<String> command = new ArrayList<>(network.command(Program.serverCommand()));
    command.addAll(
        List.of(
            "up",
            "--no-node",
            "--port=" + port,
            "--data=" + root.resolve(network.name()),
            "--store=" + bucket.place("store", network.outside()),
            "--set=store.user=" + S3Server.KEY,
            "--set=store.password=" + S3Server.SECRET,
            "--set=store.lease=1500ms",
            "--set=server.address=" + network.inside(),
            "--set=server.allow-unencrypted=true",
            "--set=server.token-file=" + token));
    Process process =
        new ProcessBuilder(command)
            .redirectError(
                ProcessBuilder.Redirect.appendTo(root.resolve(network.name() + ".log").toFile()))
            .start();
    String line = process.inputReader().readLine();
    assertThat(line).as(Files.readString(root.resolve(network.name() + ".log"))).isNotNull();
    int from = line.indexOf("http://");
    return new Server(network, process, line.substring(from, line.indexOf(' ', from)));
  }

  /** What clients were told. */
  private static final class Told {
    final Set<String> added = ConcurrentHashMap.newKeySet();
    final Set<String> done = ConcurrentHashMap.newKeySet();
    final Set<String> doneTwice = ConcurrentHashMap.newKeySet();

    /** Those whose end was tried, with or without an answer. */
    final Set<String> ending = ConcurrentHashMap.newKeySet();
  }

  private void start(String servers, int number, Told told) {
    Owner self = Owner.client(number + 1);
    clients.add(
        Thread.ofVirtual()
            .start(() -> {
              try (HttpTaskStore store =
                  HttpTaskStore.open(options(servers).withRetryFor(Duration.ofSeconds(5)))) {
                for (int i = 0; !over; i++) {
                  work(store, self, number + "-" + i, told);
                  // As fast as they can, clients would take the processors from the servers.
                  LockSupport.parkNanos(5_000_000);
                }
              }
            }));
  }

  private static void work(HttpTaskStore store, Owner self, String name, Told told) {
    try {
      store.commit(
          Transaction.by(self).requestId("add " + name).add(GROUP, Bytes.of(name)).build());
      told.added.add(name);
      if (store.claim(Claim.of(self, GROUP, LEASE)) instanceof Outcome.Done claimed
          && !claimed.tasks().isEmpty()) {
        Task task = claimed.tasks().getFirst();
        String text = task.data().utf8();
        told.ending.add(text);
        Outcome end = store.commit(Transaction.by(self).delete(task.ref()).build());
        if (end instanceof Outcome.Done && !told.done.add(text)) {
          told.doneTwice.add(text);
        }
      }
    } catch (StoreException _) {
      // It may have been done or not.
    }
  }

  @Test
  void what_was_acknowledged_is_neither_lost_nor_done_twice_nor_read_as_it_was() throws Exception {
    String both = leader.address + "," + next.address;
    Told told = new Told();
    for (int number = 0; number < CLIENTS; number++) {
      start(both, number, told);
    }
    try (HttpTaskStore store =
        HttpTaskStore.open(options(both).withRetryFor(Duration.ofMinutes(1)))) {
      for (Fault fault : Fault.values()) {
        put(store, "before " + fault);
        int done = told.done.size();
        while (told.done.size() < done + 20) {
          LockSupport.parkNanos(20_000_000);
        }
        findLeader("before " + fault);

        switch (fault) {
          case CUT_OFF -> leader.network.connect(false);
          case KILLED -> leader.process.destroyForcibly().waitFor();
          case DEAF -> leader.network.deafen(true);
        }
        next.await("leader");
        put(store, "after " + fault);
        if (fault != Fault.KILLED) {
          readNothingOld("before " + fault);
        }
        switch (fault) {
          case CUT_OFF -> leader.network.connect(true);
          case KILLED -> leader = up(leader.network, leader.port());
          case DEAF -> leader.network.deafen(false);
        }
      }
      over = true;
      for (Thread client : clients) {
        client.join();
      }
      Set<String> left = new HashSet<>();
      store.group(GroupQuery.all(GROUP)).value().forEach(task -> left.add(task.data().utf8()));
      assertThat(told.doneTwice).isEmpty();
      assertThat(left).doesNotContainAnyElementsOf(told.done);
      assertThat(told.added)
          .hasSizeGreaterThan(60)
          .allMatch(name -> left.contains(name) || told.ending.contains(name));
    }
  }

  /**
   * Waits until one leads, the other one follows, and a caller on the side of the one that leads
   * reads what was put. On a busy machine the lead changes without a fault.
   */
  private void findLeader(String text) throws Exception {
    while (!(leader.role().equals("leader")
        && next.role().equals("standby of a leader")
        && leader.readInside(root.resolve("inside")).contains(text))) {
      if (next.role().equals("leader")) {
        Server other = leader;
        leader = next;
        next = other;
      }
      LockSupport.parkNanos(20_000_000);
    }
  }

  private static void put(HttpTaskStore store, String text) {
    Outcome put =
        store.commit(
            Transaction.by(Owner.client(CLIENTS + 1))
                .requestId(text)
                .put(NEWS, DocumentVersion.ANY, Bytes.of(text))
                .build());
    assertThat(put).isInstanceOf(Outcome.Done.class);
  }

  /** Asks the former leader, which is cut off and cannot know what has been put since. */
  private void readNothingOld(String old) throws Exception {
    Server cutOff = leader;
    List<Thread> readers = new ArrayList<>();
    List<String> answers = new CopyOnWriteArrayList<>();
    for (int i = 0; i < 4; i++) {
      Path to = root.resolve("inside" + i);
      readers.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  answers.add(cutOff.readInside(to));
                } catch (IOException | InterruptedException e) {
                  answers.add(old + " " + e);
                }
              }));
    }
    for (Thread reader : readers) {
      reader.join();
    }
    assertThat(answers).hasSize(4).noneMatch(answer -> answer.contains(old));
  }
}
