package io.millrace.examples.failover;

import io.millrace.client.ClientId;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Three servers on one store. Clients add tasks, claim them and finish them, while the server that
 * leads is killed every few seconds and started again as a standby. At the end, everything that was
 * acknowledged is looked for in the store.
 *
 * <p>Each client knows the addresses of the three servers, of which it finds the one that leads,
 * and repeats a command whose answer was lost with its request id.
 */
public final class Failover implements AutoCloseable {
  /** The number of servers. */
  public static final int SERVERS = 3;

  private static final int CLIENTS = 8;
  private static final int WIDTH = 40;
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final Duration GIVE_UP = Duration.ofMinutes(1);
  private static final Duration TIME_OF_HEALTH = Duration.ofSeconds(1);

  private final Options options;
  private final Path folder;
  private final Consumer<String> report;
  private final Random random;
  private final String work;
  private final String finished;
  private final List<Integer> ports = new ArrayList<>();
  private final List<Process> servers = new ArrayList<>();
  private final AtomicLong numbers = new AtomicLong();
  private final AtomicLong commits = new AtomicLong();
  private final AtomicLong lastNanos = new AtomicLong();
  private final AtomicLong longestGapNanos = new AtomicLong();
  private final Set<Long> added = ConcurrentHashMap.newKeySet();
  private final Set<Long> ended = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
  private volatile boolean stopping;
  private volatile boolean closed;
  private int kills;

  /**
   * The options of a run.
   *
   * @param millrace the command that starts Millrace, to which arguments are added
   * @param store the address of the store, as {@code millrace up --store} takes it; null for a
   *     SQLite file in a temporary folder
   * @param settings more arguments of each server
   * @param length how long the load goes on
   * @param every how long after a kill the next one follows, about
   * @param seed the seed of the random choice of times to kill
   */
  public record Options(
      List<String> millrace,
      @Nullable String store,
      List<String> settings,
      Duration length,
      Duration every,
      long seed) {}

  /**
   * The result.
   *
   * @param commits how many commands were acknowledged
   * @param added how many of them added a task
   * @param finished how many of them finished one
   * @param lost tasks that were added or finished according to an answer, and are not in the store
   * @param twice tasks that were finished twice
   * @param kills how often the leader was killed
   * @param longestPause the longest time without an answer
   */
  public record Result(
      long commits,
      long added,
      long finished,
      long lost,
      long twice,
      int kills,
      Duration longestPause) {
    /** Whether nothing was lost or finished twice. */
    public boolean isRight() {
      return lost == 0 && twice == 0;
    }
  }

  /** The demonstration failed; the message says why. */
  public static final class FailoverException extends RuntimeException {
    private static final long serialVersionUID = 1;

    FailoverException(String message) {
      super(message);
    }
  }

  private Failover(Options options, Path folder, Consumer<String> report) {
    this.options = options;
    this.folder = folder;
    this.report = report;
    this.random = new Random(options.seed());
    String run = "failover/" + ClientId.ofThisProcess() + "/";
    this.work = run + "work";
    this.finished = run + "finished";
  }

  /**
   * Runs the demonstration. Its temporary files are removed at its end.
   *
   * @param report receives each line of progress
   * @throws FailoverException if no server answers for a minute
   */
  public static Result run(Options options, Consumer<String> report)
      throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("millrace-failover");
    try (Failover demo = new Failover(options, folder, report)) {
      Thread stop = new Thread(demo::close, "stop");
      Runtime.getRuntime().addShutdownHook(stop);
      try {
        return demo.run();
      } finally {
        Runtime.getRuntime().removeShutdownHook(stop);
      }
    }
  }

  private Result run() throws IOException, InterruptedException {
    for (int i = 0; i < SERVERS; i++) {
      ports.add(freePort());
      servers.add(start(i));
    }
    report.accept("three servers on " + url() + "; seed " + options.seed());
    List<Thread> clients = new ArrayList<>();
    try (Session first = new Session(CLIENTS)) {
      first.add();
      report.accept(lead(leader()));
      lastNanos.set(System.nanoTime());
      longestGapNanos.set(0);
      for (int i = 0; i < CLIENTS; i++) {
        int number = i;
        clients.add(Thread.ofVirtual().start(() -> load(number)));
      }
      watch();
      stopping = true;
      for (Thread client : clients) {
        client.join();
      }
      @Nullable RuntimeException failed = failure.get();
      if (failed != null) {
        throw failed;
      }
      return check(first);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private String url() {
    String store = options.store();
    return store == null ? "jdbc:sqlite:" + folder.resolve("store.db") : store;
  }

  private Process start(int server) throws IOException {
    List<String> command = new ArrayList<>(options.millrace());
    command.addAll(
        List.of(
            "up",
            "--no-node",
            "--port=" + ports.get(server),
            "--data=" + folder.resolve("server-" + (server + 1)),
            "--store=" + url(),
            "--stop-with=" + ProcessHandle.current().pid()));
    command.addAll(options.settings());
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.appendTo(log(server).toFile()));
    builder.environment().put("MILLRACE_NO_BUILD", "1");
    Process process = builder.start();
    process.getOutputStream().close();
    return process;
  }

  private Path log(int server) {
    return folder.resolve("server-" + (server + 1) + ".log");
  }

  /** Draws a line each second, and kills the leader when it is due. */
  private void watch() throws IOException, InterruptedException {
    long begin = System.nanoTime();
    long before = commits.get();
    long most = 1;
    double nextKill = delaySeconds();
    boolean led = true;
    for (int second = 1;
        second <= options.length().toSeconds() && failure.get() == null;
        second++) {
      long wait = begin + TimeUnit.SECONDS.toNanos(second) - System.nanoTime();
      TimeUnit.NANOSECONDS.sleep(Math.max(0, wait));
      long now = commits.get();
      long rate = now - before;
      before = now;
      most = Math.max(most, rate);
      String bar = "█".repeat((int) (WIDTH * rate / most));
      OptionalInt leader = leader();
      report.accept(("%-" + WIDTH + "s %6d commits/s, %s").formatted(bar, rate, lead(leader)));
      restartEnded();
      if (!led && leader.isPresent() && rate > 0) {
        led = true;
        nextKill = second + delaySeconds();
      }
      // Only one that has taken over; and the last seconds show that the work goes on.
      boolean isDue = second >= nextKill && second + 5 <= options.length().toSeconds();
      if (led && isDue && leader.isPresent()) {
        int killed = leader.getAsInt();
        servers.get(killed).destroyForcibly().waitFor();
        before = commits.get();
        kills++;
        led = false;
        servers.set(killed, start(killed));
        report.accept("kill -9 of server " + (killed + 1) + ", which led; it starts again");
      }
    }
  }

  /** The server that says that it leads; empty if none does. */
  private OptionalInt leader() {
    return IntStream.range(0, SERVERS).filter(this::leads).findFirst();
  }

  private boolean leads(int server) {
    ClientOptions options =
        ClientOptions.at(address(server))
            .withConnectTimeout(TIME_OF_HEALTH)
            .withResponseTimeout(TIME_OF_HEALTH)
            .withRetryFor(Duration.ZERO);
    try (JsonCalls calls = JsonCalls.open(options)) {
      return calls.get("/health/leader").path("role").asString("").equals("leader");
    } catch (StoreException _) {
      // A standby, or a server that was killed.
      return false;
    }
  }

  private static String lead(OptionalInt leader) {
    return leader.isPresent() ? "server " + (leader.getAsInt() + 1) + " leads" : "no server leads";
  }

  private URI address(int server) {
    return URI.create("http://127.0.0.1:" + ports.get(server));
  }

  private double delaySeconds() {
    return options.every().toMillis() / 1_000.0 * (0.75 + random.nextDouble() / 2);
  }

  /** Starts servers again that have ended by themselves, as what supervises them would. */
  private void restartEnded() throws IOException {
    for (int i = 0; i < SERVERS; i++) {
      if (!servers.get(i).isAlive() && !closed) {
        report.accept(
            "server "
                + (i + 1)
                + " ended with "
                + servers.get(i).exitValue()
                + "; it starts again");
        servers.set(i, start(i));
      }
    }
  }

  private void load(int number) {
    try (Session session = new Session(number)) {
      while (!stopping && failure.get() == null) {
        session.add();
        session.finishOne();
      }
    } catch (RuntimeException e) {
      failure.compareAndSet(null, e);
    }
  }

  private Result check(Session session) {
    Map<Long, Integer> ends = new HashMap<>();
    session.list(finished).forEach(number -> ends.merge(number, 1, Integer::sum));
    Map<Long, Integer> waiting = new HashMap<>();
    session.list(work).forEach(number -> waiting.merge(number, 1, Integer::sum));
    long lost =
        added.stream().filter(each -> !ends.containsKey(each) && !waiting.containsKey(each)).count()
            + ended.stream().filter(each -> !ends.containsKey(each)).count();
    long twice =
        ends.entrySet().stream()
            .filter(each -> each.getValue() > 1 || waiting.containsKey(each.getKey()))
            .count();
    return new Result(
        commits.get(),
        added.size(),
        ended.size(),
        lost,
        twice,
        kills,
        Duration.ofNanos(longestGapNanos.get()));
  }

  /** A client. For use by one thread. */
  private final class Session implements AutoCloseable {
    private final Owner owner;
    private final TaskStore store;
    private long requests;

    Session(int number) {
      this.owner = Owner.client(ClientId.ofThisProcess() + number);
      this.store =
          HttpTaskStore.open(
              ClientOptions.at(
                      IntStream.range(0, SERVERS).mapToObj(Failover.this::address).toList())
                  .withConnectTimeout(Duration.ofSeconds(2))
                  .withResponseTimeout(Duration.ofSeconds(5))
                  .withRetryFor(GIVE_UP));
    }

    private String request() {
      return owner.client() + "-" + requests++;
    }

    void add() {
      long number = numbers.incrementAndGet();
      run(
          Transaction.by(owner)
              .add(work, Bytes.of(Long.toString(number)))
              .requestId(request())
              .build());
      added.add(number);
    }

    void finishOne() {
      List<Task> claimed =
          run(Claim.of(owner, work, LEASE).withRequestId(request())).done().tasks();
      if (claimed.isEmpty()) {
        return;
      }
      Task task = claimed.getFirst();
      run(
          Transaction.by(owner)
              .delete(TaskRef.id(task.id()))
              .add(finished, task.data())
              .requestId(request())
              .build());
      ended.add(Long.valueOf(task.data().utf8()));
    }

    private Outcome run(Command command) {
      Outcome outcome =
          asked(() ->
              command instanceof Transaction transaction
                  ? store.commit(transaction)
                  : store.claim((Claim) command));
      outcome.done();
      commits.incrementAndGet();
      long now = System.nanoTime();
      long gap = now - lastNanos.getAndSet(now);
      longestGapNanos.accumulateAndGet(gap, Math::max);
      return outcome;
    }

    List<Long> list(String group) {
      return asked(() -> store.group(GroupQuery.all(group))).value().stream()
          .map(task -> Long.valueOf(task.data().utf8()))
          .toList();
    }

    private <T> T asked(Supplier<T> question) {
      try {
        return question.get();
      } catch (StoreException e) {
        throw new FailoverException(
            "no server answers: " + e.getMessage() + "; server 1 says: " + lastLine(log(0)));
      }
    }

    @Override
    public void close() {
      store.close();
    }
  }

  private static String lastLine(Path file) {
    try (Stream<String> lines = Files.lines(file)) {
      return lines.reduce("nothing", (_, line) -> line);
    } catch (IOException e) {
      return "its log cannot be read: " + e;
    }
  }

  /** Kills all servers and removes their files. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    servers.forEach(Process::destroyForcibly);
    servers.forEach(server -> server.onExit().join());
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      report.accept("cannot remove " + folder + ": " + e.getMessage());
    }
  }
}
