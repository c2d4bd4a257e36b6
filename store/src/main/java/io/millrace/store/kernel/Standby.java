package io.millrace.store.kernel;

import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.Position;
import io.millrace.store.StandbyStore;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreOptions;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.DurationText;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.FencedException;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.kernel.state.FrozenState;
import io.millrace.store.kernel.state.Group;
import io.millrace.store.kernel.state.Listings;
import io.millrace.store.kernel.state.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows a journal that another process leads, until that one ends or gives no sign of life for a
 * tenth longer than its lease. No clocks of two machines are compared: this one counts from when it
 * has seen the last sign.
 */
final class Standby implements StandbyStore {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedTaskStore.class);

  /** How often the journal is read, which is also the longest pause after a resignation. */
  private static final Duration POLL = Duration.ofMillis(25);

  private final StoreOptions options;
  private final Supplier<? extends Journal> journals;
  private final @Nullable String address;
  private final CompletableFuture<Void> follows = new CompletableFuture<>();
  private volatile View view = new View(null, null, null);
  private volatile boolean closed;
  private volatile @Nullable Driver following;

  /** What reads the journal; null before and after. */
  private volatile @Nullable Following reading;

  /** What follows; null before and after. */
  private volatile @Nullable Replica readable;

  Standby(StoreOptions options, Supplier<? extends Journal> journals, @Nullable String address) {
    this.options = options;
    this.journals = journals;
    this.address = address;
  }

  @Override
  public EmbeddedTaskStore lead(Supplier<Duration> patience) {
    while (true) {
      Journal journal = journals.get();
      boolean leads = false;
      try {
        Replica replica = new Replica(options, journal);
        waitUntilVacant(journal, replica, patience);
        EmbeddedStore store = replica.promote(address);
        leads = true;
        return store;
      } catch (FencedException e) {
        LOG.info("this server was not the first, and goes on as a standby: {}", e.getMessage());
      } finally {
        if (!leads) {
          journal.close();
        }
      }
    }
  }

  private void waitUntilVacant(Journal journal, Replica replica, Supplier<Duration> patience) {
    if (journal.pulse() == null) {
      return;
    }
    Environment environment = options.environment();
    Following activity = new Following(environment, journal, replica, patience);
    Driver driver = environment.drive("standby", activity);
    reading = activity;
    following = driver;
    readable = replica;
    try {
      EmbeddedStore.await(environment, activity.vacant);
    } finally {
      following = null;
      reading = null;
      readable = null;
      driver.join();
      activity.end();
    }
  }

  @Override
  public CompletableFuture<Void> follows() {
    return follows.copy();
  }

  @Override
  public View view() {
    return view;
  }

  @Override
  public CompletableFuture<Void> refreshed() {
    Following activity = reading;
    Driver driver = following;
    if (activity == null || driver == null) {
      return CompletableFuture.failedFuture(notFollowing());
    }
    CompletableFuture<Void> refreshed = activity.refreshed();
    driver.signal();
    return refreshed;
  }

  private static TooStaleException notFollowing() {
    return new TooStaleException("this server does not follow the store at the moment");
  }

  @Override
  public StaleReads reads(Duration bound, @Nullable Position after) {
    return new Reads(bound, after);
  }

  /** The reads of the replica that follows, all as of the position of the first one. */
  private final class Reads implements StaleReads {
    private final Duration bound;
    private final @Nullable Position after;
    private Replica.@Nullable Aged<FrozenState> frozen;

    Reads(Duration bound, @Nullable Position after) {
      this.bound = bound;
      this.after = after;
    }

    private <T> Replica.Aged<T> ask(Function<State, T> question) {
      Replica replica = readable;
      if (replica == null) {
        throw notFollowing();
      }
      return replica.read(bound, after, question);
    }

    private <T> Read<T> read(Function<FrozenState, T> look) {
      Read<FrozenState> read = frozen().read();
      return new Read<>(read.position(), read.timeMillis(), look.apply(read.value()));
    }

    private synchronized Replica.Aged<FrozenState> frozen() {
      Replica.Aged<FrozenState> known = frozen;
      if (known == null) {
        known = ask(State::freeze);
        frozen = known;
      }
      return known;
    }

    /** A frozen state cannot be asked for tasks, so this asks the state itself. */
    @Override
    public synchronized Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
      StateReads.check(refs, options.limits());
      if (frozen == null) {
        List<Optional<Task>> found = new ArrayList<>();
        frozen =
            ask(state -> {
              found.addAll(StateReads.find(state, refs));
              return state.freeze();
            });
        return read(_ -> found);
      }
      Read<List<Optional<Task>>> read = ask(state -> StateReads.find(state, refs)).read();
      if (!read.position().equals(position())) {
        throw new TooStaleException("the store has changed since the read before");
      }
      return read;
    }

    @Override
    public Read<List<Task>> group(GroupQuery query) {
      return read(state -> {
        Group.Frozen group = state.group(query.group());
        return group == null ? List.of() : Listings.tasks(group, query, state.timeMillis());
      });
    }

    @Override
    public Read<List<GroupSummary>> groups() {
      return read(FrozenState::summaries);
    }

    @Override
    public Read<Optional<Document>> document(DocumentKey key) {
      return read(state -> Optional.ofNullable(state.document(key)));
    }

    @Override
    public Read<List<Document>> documents(DocumentQuery query) {
      return read(state -> Listings.documents(state.documents(), query));
    }

    @Override
    public synchronized Duration age() {
      return frozen == null ? Duration.ZERO : Duration.ofNanos(frozen.ageNanos());
    }

    @Override
    public synchronized @Nullable Position position() {
      return frozen == null ? null : frozen.read().position();
    }

    @Override
    public CompletableFuture<Outcome> submit(Command command) {
      throw new UnsupportedOperationException("a standby changes nothing");
    }

    @Override
    public Subscription subscribe(Interest interest) {
      throw new UnsupportedOperationException("a standby has no subscriptions");
    }

    @Override
    public void close() {
      // It has nothing of its own.
    }
  }

  @Override
  public void close() {
    closed = true;
    Driver current = following;
    if (current != null) {
      current.signal();
    }
  }

  /** Reads the journal until nobody leads it. */
  private final class Following implements Activity {
    private final Environment environment;
    private final Journal journal;
    private final Replica replica;
    private final Supplier<Duration> patience;
    private final CompletableFuture<Void> vacant = new CompletableFuture<>();

    /** Until when the lead is left to others; null while somebody leads. */
    private @Nullable Long patientUntilNanos;

    // Guarded by this.
    private List<CompletableFuture<Void>> refreshes = new ArrayList<>();
    private boolean ended;

    private Journal.@Nullable Pulse last;
    private long seenNanos;
    private boolean told;

    Following(
        Environment environment, Journal journal, Replica replica, Supplier<Duration> patience) {
      this.environment = environment;
      this.journal = journal;
      this.replica = replica;
      this.patience = patience;
    }

    /** See {@link StandbyStore#refreshed}; the caller signals the driver. */
    synchronized CompletableFuture<Void> refreshed() {
      CompletableFuture<Void> refreshed = new CompletableFuture<>();
      if (ended) {
        refreshed.completeExceptionally(notFollowing());
      } else {
        refreshes.add(refreshed);
      }
      return refreshed;
    }

    private synchronized List<CompletableFuture<Void>> takeRefreshes() {
      if (refreshes.isEmpty()) {
        return List.of();
      }
      List<CompletableFuture<Void>> taken = refreshes;
      refreshes = new ArrayList<>();
      return taken;
    }

    /** Refuses what waits and what comes. */
    void end() {
      synchronized (this) {
        ended = true;
      }
      takeRefreshes().forEach(each -> each.completeExceptionally(notFollowing()));
    }

    @Override
    public long step() {
      if (closed) {
        vacant.completeExceptionally(new StoreClosedException("the standby is closed"));
        return FINISHED;
      }
      List<CompletableFuture<Void>> waiting = takeRefreshes();
      try {
        if (last == null && view.leader() == null) {
          // The first read may take long; clients are directed to the leader meanwhile.
          Journal.Pulse first = Objects.requireNonNull(journal.pulse());
          view = new View(view.position(), first.vacant() ? null : first.address(), null);
        }
        replica.follow();
        Journal.Pulse pulse = Objects.requireNonNull(journal.pulse());
        if (view.problem() != null) {
          LOG.info("the journal can be read again");
        }
        boolean isVacant = isVacant(pulse);
        boolean leads = isVacant && isPatienceOver();
        if (!isVacant) {
          patientUntilNanos = null;
        }
        view = new View(replica.position(), isVacant ? null : pulse.address(), null);
        waiting.forEach(each -> each.complete(null));
        if (leads) {
          vacant.complete(null);
          return FINISHED;
        }
        if (!follows.isDone()) {
          follows.complete(null);
        }
      } catch (DamagedJournalException e) {
        fail(waiting, e);
        failed(e);
        return FINISHED;
      } catch (JournalException e) {
        fail(waiting, e);
        // It may be unreachable for all. Nobody can lead it meanwhile, and this one goes on later.
        View before = view;
        if (before.problem() == null) {
          LOG.warn("the journal cannot be followed, and is tried again: {}", e.getMessage());
        }
        view = new View(before.position(), before.leader(), String.valueOf(e.getMessage()));
      }
      return POLL.toNanos();
    }

    private static void fail(List<CompletableFuture<Void>> waiting, JournalException e) {
      TooStaleException failure = new TooStaleException(String.valueOf(e.getMessage()));
      waiting.forEach(each -> each.completeExceptionally(failure));
    }

    private boolean isPatienceOver() {
      long now = environment.nanos();
      if (patientUntilNanos == null) {
        patientUntilNanos = now + patience.get().toNanos();
      }
      return now - patientUntilNanos >= 0;
    }

    private boolean isVacant(Journal.Pulse pulse) {
      if (pulse.vacant()) {
        return true;
      }
      // Read after the pulse, so that the sign is not younger.
      long now = environment.nanos();
      Journal.Pulse before = last;
      if (before == null || !pulse.isSilentSince(before)) {
        if (before != null && !told) {
          told = true;
          LOG.info("another server leads the store; following it as a standby");
        }
        last = pulse;
        seenNanos = now;
        return false;
      }
      long lease = pulse.lease().toNanos();
      boolean lapsed = now - seenNanos >= lease + lease / 10;
      if (lapsed) {
        LOG.info(
            "the leader has given no sign for {}; taking over", DurationText.show(pulse.lease()));
      }
      return lapsed;
    }

    @Override
    public void failed(Throwable thrown) {
      vacant.completeExceptionally(thrown);
    }
  }
}
