package io.millrace.cli.wordcount;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.client.ClientId;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentQuery;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/** Counts words by processes that are killed while they work. For use by one thread. */
final class Demonstration {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration LOOK = Duration.ofMillis(100);
  private static final Duration REPORT = Duration.ofSeconds(2);
  private static final Duration GIVE_UP = Duration.ofMinutes(3);
  private static final int BATCH = 500;
  private static final int PAGE = 8;

  private final Fleet fleet;
  private final Killer killer;
  private final int workers;
  private final Consumer<String> report;

  /**
   * Works on a fleet that has no worker yet.
   *
   * @param workers how many worker processes
   * @param random decides who is killed and when
   * @param report gets each line of progress
   */
  Demonstration(Fleet fleet, int workers, Random random, Consumer<String> report) {
    this.fleet = fleet;
    this.workers = workers;
    this.report = report;
    this.killer = new Killer(fleet, random, report);
  }

  /** Counts the words of these pieces. */
  Counts run(List<Chunk> chunks) throws IOException, InterruptedException {
    ClientOptions options = ClientOptions.at(fleet.address()).withRetryFor(PATIENCE);
    try (TaskStore store = HttpTaskStore.open(options)) {
      add(store, chunks);
      for (int i = 0; i < workers; i++) {
        fleet.addWorker();
      }
      work(store);
      report.accept(killer.summary());
      return collect(store);
    }
  }

  private void add(TaskStore store, List<Chunk> chunks) {
    // A worker ends no map task while as few are left as there are workers: so one stays, whatever
    // they all do at the same time.
    Bytes hold = Bytes.of(Integer.toString(workers + 1));
    store.commit(transaction("hold").put(Names.HOLD, DocumentVersion.ABSENT, hold).build()).done();
    for (int from = 0; from < chunks.size(); from += BATCH) {
      Transaction.Builder batch = transaction("map-" + from);
      for (Chunk chunk : chunks.subList(from, Math.min(from + BATCH, chunks.size()))) {
        batch.add(Names.MAP, chunk.data());
      }
      store.commit(batch.build()).done();
    }
    report.accept("added " + chunks.size() + " map tasks");
  }

  /** A transaction that may be sent again when its answer is lost. */
  private static Transaction.Builder transaction(String name) {
    return Transaction.by(ClientId.owner()).requestId(ClientId.ofThisProcess() + "-" + name);
  }

  private void work(TaskStore store) throws IOException, InterruptedException {
    boolean held = true;
    Killer.Left last = new Killer.Left(0, 0);
    long changedNanos = System.nanoTime();
    long reportedNanos = changedNanos;
    while (true) {
      Thread.sleep(LOOK);
      fleet.mend();
      Killer.Left left = look(store, last);
      long now = System.nanoTime();
      if (held && killer.isDone()) {
        store.commit(transaction("go").delete(Names.HOLD, DocumentVersion.ANY).build()).done();
        held = false;
      }
      if (!held && left.isNothing()) {
        return;
      }
      killer.step(store, left);
      if (!left.equals(last)) {
        changedNanos = now;
      } else if (now - changedNanos > GIVE_UP.toNanos()) {
        throw new CommandException(ExitCode.FAILURE, "nothing happens any more; " + left);
      }
      last = left;
      if (now - reportedNanos > REPORT.toNanos()) {
        report.accept(left.toString());
        reportedNanos = now;
      }
    }
  }

  /** What is left, or what was left where the server does not answer just now. */
  private static Killer.Left look(TaskStore store, Killer.Left last) {
    try {
      return Killer.Left.of(store);
    } catch (StoreException _) {
      return last;
    }
  }

  private static Counts collect(TaskStore store) {
    Counts sum = new Counts();
    String after = "";
    while (true) {
      List<Document> page =
          store.documents(new DocumentQuery(Names.RESULT, "", after, PAGE)).value();
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
