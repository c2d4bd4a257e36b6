package io.millrace.bench;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Claims in a group with many waiting tasks, whose tasks have keys, limits of keys or priorities,
 * beside claims in a group with as many plain tasks.
 */
final class LimitsThroughput extends Scenario {
  private static final int TASKS = 1_000_000;
  private static final int KEYS = 100_000;
  private static final int ADDED_AT_ONCE = 1_000;
  private static final int OUTSTANDING = 64;

  /** How often the plain store and the other are measured in turns. */
  private static final int TURNS = 5;

  private static final double LEAST_RATIO = 0.8;
  private static final Owner CLIENT = Owner.client(1);

  LimitsThroughput() {
    super(
        "limits",
        "claims among 1,000,000 waiting tasks of 100,000 keys, with limits and priorities");
  }

  /** What the tasks of a group have. */
  private enum Kind {
    PLAIN("plain"),
    KEYS("keys"),
    LIMITS("keys with limits, of the group and of a shared name too"),
    PRIORITIES("priorities");

    final String words;

    Kind(String words) {
      this.words = words;
    }

    Task.@Nullable Lane lane(int task, int keys) {
      return switch (this) {
        case PLAIN -> null;
        case KEYS, LIMITS -> new Task.Lane("user" + task % keys, 0);
        case PRIORITIES -> Task.Lane.of("", task % (Task.Lane.MAX_PRIORITY + 1));
      };
    }
  }

  @Override
  void run(Context context) throws IOException {
    for (Journaling journaling : List.of(Journaling.STRICT, Journaling.OPPORTUNISTIC)) {
      try (EmbeddedTaskStore plain = filled(context, journaling, Kind.PLAIN)) {
        for (Kind kind : List.of(Kind.KEYS, Kind.LIMITS, Kind.PRIORITIES)) {
          try (EmbeddedTaskStore store = filled(context, journaling, kind)) {
            compare(context, journaling, plain, store, kind);
          }
        }
      }
    }
  }

  private static EmbeddedTaskStore filled(Context context, Journaling journaling, Kind kind)
      throws IOException {
    int tasks = Math.max(OUTSTANDING, TASKS / context.scale());
    int keys = Math.max(OUTSTANDING, KEYS / context.scale());
    Path folder = context.newFolder("limits");
    EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder).withJournaling(journaling));
    if (kind == Kind.LIMITS) {
      String limits = "running 1000000\nstarts 1000000 1000\n";
      String more = "key-running 2\nkey-starts 1000 1000\nshared machine\n";
      store
          .commit(
              Transaction.by(CLIENT)
                  .put(Throttling.shared("machine"), 0, Bytes.of(limits))
                  .put(Throttling.ofGroup(Lifecycle.GROUP), 0, Bytes.of(limits + more))
                  .build())
          .done();
    }
    for (int i = 0; i < tasks; ) {
      Transaction.Builder transaction = Transaction.by(CLIENT);
      for (int end = Math.min(tasks, i + ADDED_AT_ONCE); i < end; i++) {
        transaction.add(task(kind.lane(i, keys)));
      }
      store.commit(transaction.build()).done();
    }
    return store;
  }

  private static Transaction.Add task(Task.@Nullable Lane lane) {
    return new Transaction.Add(Lifecycle.GROUP, Lifecycle.data(), When.now(), false, null, lane);
  }

  /** Measures both stores in turns, since the machine may be busy with other things as well. */
  private void compare(
      Context context,
      Journaling journaling,
      EmbeddedTaskStore plain,
      EmbeddedTaskStore store,
      Kind kind) {
    Duration turn = context.time().dividedBy(TURNS);
    cycle(plain, turn);
    cycle(store, context.time());
    List<Double> rates = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    double before = cycle(plain, turn);
    for (int i = 0; i < TURNS; i++) {
      double rate = cycle(store, turn);
      double after = cycle(plain, turn);
      rates.add(rate);
      ratios.add(2 * rate / (before + after));
      before = after;
    }
    double ratio = median(ratios);
    String what = journaling.name().toLowerCase(Locale.ROOT) + ", " + kind.words;
    Measurement measurement =
        Measurement.of(name(), what, median(rates), "claims/s").withRatio(ratio, "plain tasks");
    context.add(
        journaling == Journaling.STRICT
            ? measurement.withTarget("≥ 0.80 of plain", ratio >= LEAST_RATIO)
            : measurement);
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  /**
   * Claims the oldest task, deletes it and adds one like it, again and again, with some commands
   * under way at a time; returns the claims per second.
   */
  private static double cycle(TaskStore store, Duration time) {
    Claim claim =
        Claim.of(CLIENT, Lifecycle.GROUP, Duration.ofMinutes(10)).withOrder(Claim.Order.OLDEST);
    Queue<CompletableFuture<Outcome>> claims = new ArrayDeque<>();
    Queue<CompletableFuture<Outcome>> rest = new ArrayDeque<>();
    long began = System.nanoTime();
    long cycles = 0;
    for (int i = 0; i < OUTSTANDING; i++) {
      claims.add(store.submit(claim));
    }
    while (!claims.isEmpty()) {
      Task task = claims.remove().join().done().tasks().getFirst();
      rest.add(
          store.submit(Transaction.by(CLIENT).delete(task.ref()).add(task(task.lane())).build()));
      cycles++;
      if (System.nanoTime() - began < time.toNanos()) {
        claims.add(store.submit(claim));
      }
      while (rest.size() > OUTSTANDING) {
        rest.remove().join().done();
      }
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    rest.forEach(each -> each.join().done());
    return cycles / seconds;
  }
}
