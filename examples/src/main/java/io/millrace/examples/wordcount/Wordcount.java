package io.millrace.examples.wordcount;

import io.millrace.client.ClientId;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Counts the words of files by map and reduce tasks. The processes of a server and several workers
 * are killed at random while they work. No count is lost or added twice.
 */
public final class Wordcount {
  /** The maximum number of worker processes. */
  public static final int MAX_WORKERS = 64;

  private static final long CLIENTS = 1L << 31;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration LOOK = Duration.ofMillis(100);
  private static final Duration REPORT = Duration.ofSeconds(2);
  private static final Duration GIVE_UP = Duration.ofMinutes(3);
  private static final int BATCH = 500;
  private static final int PAGE = 8;

  private final WordcountProcesses processes;
  private final FaultInjector faults;
  private final int workers;
  private final Consumer<String> report;

  private Wordcount(
      WordcountProcesses processes, int workers, Random random, Consumer<String> report) {
    this.processes = processes;
    this.workers = workers;
    this.report = report;
    this.faults = new FaultInjector(processes, random, report);
  }

  /**
   * The options of a run.
   *
   * @param millrace the command that starts Millrace, to which arguments are added
   * @param workers the number of worker processes, up to {@link #MAX_WORKERS}
   * @param seed the seed of the random choice of processes and times to kill them
   */
  public record Options(List<String> millrace, int workers, long seed) {}

  /**
   * Counts the words of files, read one after the other as one text. Temporary files are kept until
   * this process ends.
   *
   * @param files the files; {@code -} is standard input; empty for the text that is included in the
   *     program
   * @param report receives each line of progress
   * @throws WordcountException if a file cannot be read, or processes do not start or make no
   *     progress
   */
  public static Result count(
      List<Path> files, InputStream standardInput, Options options, Consumer<String> report)
      throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("millrace-wordcount");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(folder), "clean"));
    Path text = Text.of(files, folder, standardInput);
    List<WordTasks.Chunk> chunks = Text.split(text);
    Random random = new Random(options.seed());
    report.accept("seed " + options.seed() + ", " + options.workers() + " workers");
    try (WordcountProcesses processes =
        new WordcountProcesses(options.millrace(), folder, random.nextLong(1, CLIENTS))) {
      Thread stop = new Thread(processes::close, "stop");
      Runtime.getRuntime().addShutdownHook(stop);
      Counts counts = new Wordcount(processes, options.workers(), random, report).run(chunks);
      Runtime.getRuntime().removeShutdownHook(stop);
      return new Result(counts, text);
    }
  }

  private static void remove(Path folder) {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      System.err.println("millrace: cannot remove " + folder + ": " + e);
    }
  }

  /** Counts the words of these chunks. */
  private Counts run(List<WordTasks.Chunk> chunks) throws IOException, InterruptedException {
    ClientOptions options = ClientOptions.at(processes.address()).withRetryFor(PATIENCE);
    try (TaskStore store = HttpTaskStore.open(options)) {
      add(store, chunks);
      for (int i = 0; i < workers; i++) {
        processes.addWorker();
      }
      work(store);
      report.accept(faults.summary());
      return collect(store);
    }
  }

  private void add(TaskStore store, List<WordTasks.Chunk> chunks) {
    // Workers do not finish map tasks while only as many are left as there are workers, so at least
    // one is left.
    Bytes hold = Bytes.of(Integer.toString(workers + 1));
    store
        .commit(transaction("hold").put(WordTasks.HOLD, DocumentVersion.ABSENT, hold).build())
        .done();
    for (int from = 0; from < chunks.size(); from += BATCH) {
      Transaction.Builder batch = transaction("map-" + from);
      for (WordTasks.Chunk chunk : chunks.subList(from, Math.min(from + BATCH, chunks.size()))) {
        batch.add(WordTasks.MAP, chunk.data());
      }
      store.commit(batch.build()).done();
    }
    report.accept("added " + chunks.size() + " map tasks");
  }

  /** A transaction with a request id, which can be repeated if its response is lost. */
  private static Transaction.Builder transaction(String name) {
    return Transaction.by(ClientId.owner()).requestId(ClientId.ofThisProcess() + "-" + name);
  }

  private void work(TaskStore store) throws IOException, InterruptedException {
    boolean held = true;
    FaultInjector.RemainingTasks last = new FaultInjector.RemainingTasks(0, 0);
    long changedNanos = System.nanoTime();
    long reportedNanos = changedNanos;
    while (true) {
      Thread.sleep(LOOK);
      processes.restartEnded();
      FaultInjector.RemainingTasks left = look(store, last);
      long now = System.nanoTime();
      if (held && faults.isDone()) {
        store.commit(transaction("go").delete(WordTasks.HOLD, DocumentVersion.ANY).build()).done();
        held = false;
      }
      if (!held && left.isNothing()) {
        return;
      }
      faults.step(store, left);
      if (!left.equals(last)) {
        changedNanos = now;
      } else if (now - changedNanos > GIVE_UP.toNanos()) {
        throw new WordcountException("no progress for three minutes; " + left);
      }
      last = left;
      if (now - reportedNanos > REPORT.toNanos()) {
        report.accept(left.toString());
        reportedNanos = now;
      }
    }
  }

  /** The remaining work; the last known value if the server does not respond. */
  private static FaultInjector.RemainingTasks look(
      TaskStore store, FaultInjector.RemainingTasks last) {
    try {
      return FaultInjector.RemainingTasks.of(store);
    } catch (StoreException _) {
      return last;
    }
  }

  private static Counts collect(TaskStore store) {
    Counts sum = new Counts();
    String after = "";
    while (true) {
      List<Document> page =
          store.documents(new DocumentQuery(WordTasks.RESULT, "", after, PAGE)).value();
      for (Document document : page) {
        sum.add(Counts.parse(document.body()));
        after = document.key().key();
      }
      if (page.size() < PAGE) {
        return sum;
      }
    }
  }
}
