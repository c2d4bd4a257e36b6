package io.millrace.store.journal.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Stops the disk before every operation of a working life, then before every one of recovery. */
class CrashTest {
  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);
  private static final Path FOLDER = Path.of("memory");

  private record Life(long appended, long durable) {}

  /** Frames, snapshots, trims and rolls until the disk stops. */
  private static Life live(SteppedEnvironment environment, SplittableRandom random) {
    long appended = 0;
    long durable = 0;
    try {
      FileJournal journal = FileJournal.open(environment, FOLDER, SMALL);
      appended = journal.recover(new Recorded()).sequence();
      durable = appended;
      for (int round = 0; round < 12; round++) {
        List<CompletableFuture<Void>> group = new ArrayList<>();
        for (int i = random.nextInt(1, 5); i > 0; i--) {
          appended++;
          String payload = payload(appended);
          group.add(journal.append(Recorded.frame(appended, durable, payload)));
        }
        environment.run();
        for (CompletableFuture<Void> done : group) {
          if (done.isDone() && !done.isCompletedExceptionally()) {
            durable++;
          }
        }
        if (round % 4 == 3) {
          Journal.SnapshotWriter writer = journal.snapshot(Recorded.frame(durable, durable, ""));
          writer.part(Recorded.bytes("state " + durable));
          if (durable > 0) {
            writer.publish();
          }
          journal.trim(Long.MAX_VALUE);
        }
      }
      journal.close();
    } catch (JournalException e) {
      // The disk has stopped; what counts is what was promised before.
    }
    return new Life(appended, durable);
  }

  private static String payload(long sequence) {
    return ("frame " + sequence + " ").repeat((int) (sequence * 7919 % 2_000));
  }

  private static long check(SteppedEnvironment environment, Life life, String where) {
    Recorded recorded = new Recorded();
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      Journal.Tail tail = journal.recover(recorded);
      assertThat(tail.sequence()).as(where).isBetween(life.durable(), life.appended());
      long base = 0;
      if (!recorded.parts.isEmpty()) {
        base = Long.parseLong(recorded.parts.get(0).substring("state ".length()));
      }
      assertThat(base + recorded.sequences.size()).as(where).isEqualTo(tail.sequence());
      for (int i = 0; i < recorded.frames.size(); i++) {
        assertThat(recorded.frames.get(i)).as(where).isEqualTo(payload(base + i + 1));
      }
      return tail.sequence();
    }
  }

  @Test
  void nothing_promised_is_lost_by_a_crash_before_any_operation() {
    SteppedEnvironment whole = new SteppedEnvironment(0);
    live(whole, new SplittableRandom(0));
    long operations = whole.disk.operations;
    assertThat(operations).isGreaterThan(100);
    for (long stop = 0; stop < operations; stop++) {
      for (int seed = 0; seed < 3; seed++) {
        String where = "stopped after " + stop + ", seed " + seed;
        SplittableRandom random = new SplittableRandom(seed);
        SteppedEnvironment environment = new SteppedEnvironment(seed);
        environment.disk.operationsLeft = stop;
        Life life = live(environment, new SplittableRandom(0));
        environment.disk.crash(random);
        long end = check(environment, life, where);
        // Once delivered it is durable: whatever is forgotten now, the same comes back.
        environment.disk.crash(random);
        assertThat(check(environment, life, where)).isEqualTo(end);
        Life second = live(environment, new SplittableRandom(1));
        check(environment, second, where + ", second life");
      }
    }
  }

  @Test
  void a_crash_during_recovery_changes_nothing() {
    SteppedEnvironment whole = new SteppedEnvironment(0);
    live(whole, new SplittableRandom(0));
    long operations = whole.disk.operations;
    for (long stop = 0; stop < operations; stop += 5) {
      boolean finished = false;
      for (long stopRecovery = 0; !finished; stopRecovery++) {
        SplittableRandom random = new SplittableRandom(stop);
        SteppedEnvironment environment = new SteppedEnvironment(stop);
        environment.disk.operationsLeft = stop;
        Life life = live(environment, new SplittableRandom(0));
        environment.disk.crash(random);
        environment.disk.operationsLeft = stopRecovery;
        try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
          journal.recover(new Recorded());
          finished = true;
        } catch (DamagedJournalException e) {
          throw e;
        } catch (JournalException e) {
          finished = false;
        }
        environment.disk.crash(random);
        check(environment, life, "stopped after " + stop + ", recovery after " + stopRecovery);
      }
    }
  }
}
