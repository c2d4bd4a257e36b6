package io.millrace.journal.shared;

import io.millrace.journal.shared.SimulatedWorld.Machine;
import io.millrace.journal.shared.SimulatedWorld.MachineGone;
import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.StandbyStore;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.Retention;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Three servers with their real stores and journals on one simulated database or bucket, clients
 * that write and read registers, and everything that may happen to machines and networks. A referee
 * then compares each answer with the frames that it has committed. A run is determined by its seed.
 */
final class SharedStoreSimulation {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final int SERVERS = 3;
  private static final int CLIENTS = 4;
  private static final String REGISTERS = "registers";
  private static final Duration LEASE = Duration.ofMillis(1_500);

  /** A place for a server, which is started again when it has ended. */
  private static final class Place {
    private Machine machine;
    private @Nullable EmbeddedTaskStore store;

    /** Follows until the store is there. */
    private @Nullable StandbyStore standby;

    private boolean closing;

    Place(Machine machine) {
      this.machine = machine;
    }
  }

  /** The place as a machine sees it. */
  private record Location(Machine machine, SimulatedPlace place, Retention retention)
      implements JournalLocation {
    @Override
    public JournalHome connect() {
      return place.connect(machine);
    }

    @Override
    public Duration lease() {
      return LEASE;
    }

    @Override
    public Duration deadline() {
      return Duration.ofSeconds(5);
    }

    @Override
    public String toString() {
      return "the simulated place";
    }
  }

  private final SimulatedWorld world;
  private final SplittableRandom random;
  private final SimulatedPlace shared;
  private final SharedStoreReferee referee = new SharedStoreReferee();
  private final List<Place> places = new ArrayList<>();
  private final Retention retention;

  /** The share of reads among what clients do. */
  private final double reads;

  /** The store that was opened last. */
  private @Nullable EmbeddedTaskStore newest;

  private boolean calm;
  private boolean quiet;
  private int takeovers;

  private SharedStoreSimulation(long seed, Function<SimulatedWorld, SimulatedPlace> kind) {
    this.world = new SimulatedWorld(seed);
    this.random = world.newRandom();
    this.shared = kind.apply(world);
    this.reads = random.nextDouble(0.2, 0.95);
    this.retention =
        random.nextBoolean() ? Retention.NONE : new Retention(10_000, Duration.ofMinutes(1));
  }

  /**
   * Runs a simulation to its end.
   *
   * @param kind where the servers keep their journal
   * @return how often a server has begun to lead
   * @throws AssertionError if a guarantee is broken, with the seed
   */
  static int run(long seed, Function<SimulatedWorld, SimulatedPlace> kind) {
    SharedStoreSimulation simulation = new SharedStoreSimulation(seed, kind);
    // Virtual threads hand over to each other without the operating system.
    FutureTask<Integer> run = new FutureTask<>(simulation::result);
    Thread.ofVirtual().start(run);
    try {
      return run.get();
    } catch (ExecutionException e) {
      Throwable failure = Objects.requireNonNull(e.getCause());
      throw new AssertionError("seed " + seed + ": " + failure.getMessage(), failure);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("seed " + seed + " was interrupted", e);
    }
  }

  private int result() {
    try {
      run();
      return takeovers;
    } finally {
      world.end();
    }
  }

  private void run() {
    for (int i = 0; i < SERVERS; i++) {
      Place place = new Place(world.machine());
      places.add(place);
      boot(place);
    }
    for (int i = 0; i < CLIENTS; i++) {
      SplittableRandom own = random.split();
      world.start(() -> beClient(own));
    }
    SplittableRandom ofStale = random.split();
    world.start(() -> beStaleClient(ofStale));
    world.start(this::trouble);
    world.run(Duration.ofSeconds(random.nextInt(20, 60)), () -> false);
    recover();
    judge();
  }

  // ---- servers

  private void boot(Place place) {
    Machine machine = place.machine;
    place.closing = false;
    machine.start(() -> {
      while (true) {
        serve(place, machine);
        world.pause(random.nextLong(SECOND));
      }
    });
  }

  private void serve(Place place, Machine machine) {
    EmbeddedTaskStore store;
    try {
      StandbyStore standby =
          TaskStore.standby(options(machine), () -> journal(machine, shared), null);
      place.standby = standby;
      store = standby.lead();
    } catch (DamagedJournalException e) {
      throw e;
    } catch (JournalException e) {
      return; // the database is away
    }
    takeovers++;
    place.closing = false;
    place.store = store;
    newest = store;
    CompletableFuture<Throwable> stopped = store.stopped();
    try {
      world.await(Long.MAX_VALUE, () -> stopped.isDone() || place.closing);
      place.store = null;
      store.close();
    } catch (DamagedJournalException e) {
      throw e;
    } catch (StoreException e) {
      if (!stopped.isDone()) {
        throw e;
      }
    }
  }

  private StoreOptions options(Machine machine) {
    return StoreOptions.in(Path.of("unused"))
        .withEnvironment(machine)
        .withUpkeep(new StoreOptions.Upkeep(7, Duration.ofSeconds(1), retention));
  }

  private SharedJournal journal(Machine machine, SimulatedPlace where) {
    return SharedJournal.open(machine, new Location(machine, where, retention));
  }

  // ---- clients

  private void beClient(SplittableRandom own) {
    while (!quiet) {
      // Now and then long enough that only renewals keep a lease.
      world.pause(own.nextLong(own.nextInt(30) == 0 ? 5 * SECOND : 200 * MILLI));
      boolean reader = own.nextDouble() < reads;
      EmbeddedTaskStore store = reader ? anyLeader(own) : newest;
      if (store == null || quiet) {
        continue;
      }
      if (reader) {
        read(store);
      } else {
        write(store, own);
      }
    }
  }

  private void beStaleClient(SplittableRandom own) {
    StaleClient client = new StaleClient(world, referee, own);
    while (!quiet) {
      world.pause(own.nextLong(400 * MILLI));
      Place place = places.get(own.nextInt(SERVERS));
      StandbyStore standby = place.standby;
      if (standby != null && !quiet) {
        client.read(new StaleClient.Server(place.machine, standby), REGISTERS);
      }
    }
  }

  /** A server that leads, or believes that it does. */
  private @Nullable EmbeddedTaskStore anyLeader(SplittableRandom own) {
    List<EmbeddedTaskStore> open =
        places.stream().map(place -> place.store).filter(Objects::nonNull).toList();
    return open.isEmpty() ? null : open.get(own.nextInt(open.size()));
  }

  private void write(EmbeddedTaskStore store, SplittableRandom own) {
    SharedStoreReferee.Write write = referee.write(world.nanos());
    Transaction.Builder transaction = Transaction.by(Owner.client(write.value()));
    int registers = own.nextInt(1, 3);
    for (int i = 0; i < registers; i++) {
      transaction.put(
          new DocumentKey(REGISTERS, "r" + (own.nextInt(3) + 3 * i)),
          DocumentVersion.ANY,
          Bytes.of(Long.toString(write.value())));
    }
    CompletableFuture<Outcome> answer;
    try {
      answer = store.submit(transaction.build());
    } catch (OutcomeUnknownException e) {
      throw e;
    } catch (StoreException e) {
      write.refused();
      return;
    }
    // A client that has waited for long enough knows nothing.
    if (!world.await(20 * SECOND, answer::isDone)) {
      return;
    }
    try {
      Outcome outcome = answer.join();
      write.answered(outcome.done().position(), world.nanos());
    } catch (CompletionException e) {
      if (e.getCause() instanceof OutcomeUnknownException) {
        return;
      }
      if (!(e.getCause() instanceof StoreException)) {
        throw e;
      }
      write.refused();
    }
  }

  private void read(EmbeddedTaskStore store) {
    long began = world.nanos();
    Read<List<Document>> read;
    try {
      read = store.documents(DocumentQuery.prefix(REGISTERS, ""));
    } catch (StoreException | MachineGone e) {
      return;
    }
    referee.read(began, world.nanos(), read.position(), read.value());
  }

  // ---- trouble

  private void trouble() {
    while (!calm) {
      world.pause(random.nextLong(3 * SECOND));
      if (calm) {
        return;
      }
      Place place = places.get(random.nextInt(SERVERS));
      Machine machine = place.machine;
      switch (random.nextInt(11)) {
        case 0 -> machine.stop(random.nextLong(10 * SECOND));
        case 1 -> machine.suspend(random.nextLong(10 * SECOND));
        case 2, 3 -> machine.kill();
        case 4, 5 -> place.closing = true;
        case 6 -> machine.cutOff(random.nextLong(10 * SECOND));
        case 7 -> machine.jumpWall(random.nextLong(-20_000, 20_000));
        case 8 -> shared.network().shutDown(random.nextLong(8 * SECOND));
        case 9 -> shared.network().faults(0);
        default -> shared.network().faults(random.nextDouble(0, 20));
      }
      restartKilled();
    }
  }

  private void restartKilled() {
    for (Place place : places) {
      if (place.machine.isKilled()) {
        place.store = null;
        place.standby = null;
        place.machine = world.machine();
        boot(place);
      }
    }
  }

  /** Without more trouble, one server leads within a minute, and answers. */
  private void recover() {
    calm = true;
    shared.network().faults(0);
    restartKilled();
    boolean leads =
        world.run(
            Duration.ofMinutes(1),
            () -> {
              restartKilled();
              return places.stream().anyMatch(place -> place.store != null);
            });
    if (!leads) {
      throw new AssertionError("nobody leads after a minute without trouble");
    }
    SharedStoreReferee.Write[] last = new SharedStoreReferee.Write[1];
    world.start(() -> {
      while (last[0] == null || !last[0].isAnswered()) {
        world.pause(100 * MILLI);
        for (Place place : places) {
          EmbeddedTaskStore store = place.store;
          if (store != null) {
            write(store, random.split());
            last[0] = referee.last();
          }
        }
      }
    });
    if (!world.run(Duration.ofMinutes(1), () -> last[0] != null && last[0].isAnswered())) {
      throw new AssertionError("nothing can be written after a minute without trouble");
    }
    quiet = true;
    world.run(Duration.ofMinutes(1), () -> false);
  }

  // ---- judgement

  /** Reads every commit that there ever was, and the end as the servers see it. */
  private void judge() {
    List<Commit> commits = new ArrayList<>();
    List<Document> end = new ArrayList<>();
    boolean[] done = new boolean[1];
    Machine machine = world.machine();
    machine.start(() -> {
      try (EmbeddedTaskStore store =
          TaskStore.open(options(machine), journal(machine, shared.unabridged()))) {
        long history = store.tasks(List.of()).position().history();
        Interest all = new Interest(new Position(history, 0), Set.of(), Set.of());
        try (Subscription stream = store.subscribe(all)) {
          for (Commit commit = next(stream); commit != null; commit = next(stream)) {
            commits.add(commit);
          }
        }
      }
      for (Place place : places) {
        EmbeddedTaskStore store = place.store;
        if (store != null) {
          end.addAll(store.documents(DocumentQuery.prefix(REGISTERS, "")).value());
          break;
        }
      }
      done[0] = true;
    });
    if (!world.run(Duration.ofMinutes(10), () -> done[0])) {
      throw new AssertionError("the journal cannot be read");
    }
    referee.judge(commits, end);
    referee.judgeEpochs(shared.appended(), shared.journalId());
  }

  private static @Nullable Commit next(Subscription stream) {
    try {
      return stream.next(Duration.ZERO);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
