package io.millrace.store.kernel;

import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.FencedException;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows a journal that another process leads, until that one ends or gives no sign of life for a
 * tenth longer than its lease. No clocks of two machines are compared: this one counts from when it
 * has seen the last sign.
 */
final class Standby implements Activity {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedTaskStore.class);

  /** How often the journal is read. */
  private static final Duration POLL = Duration.ofMillis(100);

  private final Environment environment;
  private final Journal journal;
  private final Replica replica;
  private final CompletableFuture<Void> vacant = new CompletableFuture<>();
  private Journal.@Nullable Pulse last;
  private long seenNanos;
  private boolean told;
  private boolean failing;

  private Standby(Environment environment, Journal journal, Replica replica) {
    this.environment = environment;
    this.journal = journal;
    this.replica = replica;
  }

  /**
   * Opens a store once nobody else leads its journal.
   *
   * @param journals opens the journal, again if another standby was faster
   */
  static EmbeddedStore open(StoreOptions options, Supplier<? extends Journal> journals) {
    while (true) {
      Journal journal = journals.get();
      boolean open = false;
      try {
        Replica replica = new Replica(options, journal);
        waitUntilVacant(options.environment(), journal, replica);
        EmbeddedStore store = replica.promote();
        open = true;
        return store;
      } catch (FencedException e) {
        LOG.info("another server was faster: {}", e.getMessage());
      } finally {
        if (!open) {
          journal.close();
        }
      }
    }
  }

  private static void waitUntilVacant(Environment environment, Journal journal, Replica replica) {
    if (journal.pulse() == null) {
      return;
    }
    Standby standby = new Standby(environment, journal, replica);
    Driver driver = environment.drive("standby", standby);
    try {
      EmbeddedStore.await(environment, standby.vacant);
    } finally {
      driver.join();
    }
  }

  @Override
  public long step() {
    try {
      replica.follow();
      Journal.Pulse pulse = Objects.requireNonNull(journal.pulse());
      if (failing) {
        failing = false;
        LOG.info("the journal can be read again");
      }
      if (isVacant(pulse)) {
        vacant.complete(null);
        return FINISHED;
      }
    } catch (DamagedJournalException e) {
      failed(e);
      return FINISHED;
    } catch (JournalException e) {
      // It may be unreachable for all. Nobody can lead it meanwhile, and this one goes on later.
      if (!failing) {
        failing = true;
        LOG.warn("the journal cannot be followed, and is tried again: {}", e.getMessage());
      }
    }
    return POLL.toNanos();
  }

  private boolean isVacant(Journal.Pulse pulse) {
    if (pulse.vacant()) {
      return true;
    }
    // Read after the pulse, so that the sign is not younger.
    long now = environment.nanos();
    if (!pulse.equals(last)) {
      if (last != null && !told) {
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
      LOG.info("the leader has given no sign for {}; taking over", pulse.lease());
    }
    return lapsed;
  }

  @Override
  public void failed(Throwable thrown) {
    vacant.completeExceptionally(thrown);
  }
}
