package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Folder;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.journal.files.JournalCheck;
import io.millrace.store.testkit.contract.JournalContract.Delivered;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Cuts the power before each operation of a journal in use, and then of its recovery. */
final class FileJournalCrashTest {
  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);
  private static final Path FOLDER = Path.of("journal");

  private record Workload(long appended, long durable) {}

  private static SimulatedEnvironment environment(long seed) {
    SimulatedEnvironment environment = new SimulatedEnvironment(seed);
    environment.scheduler().eager(false);
    return environment;
  }

  private static FileJournal open(SimulatedEnvironment environment) {
    return FileJournal.open(environment, FOLDER, SMALL);
  }

  private static Frame frame(long sequence, long durable, String payload) {
    return new Frame(
        sequence, 1, 77, 1_000 + sequence, durable, sequence, JournalContract.bytes(payload));
  }

  /** Frames, snapshots, trims and rolls until the power is gone. */
  private static Workload live(SimulatedEnvironment environment, SplittableRandom random) {
    long appended = 0;
    long durable = 0;
    try {
      FileJournal journal = open(environment);
      appended = JournalContract.lead(journal).tail().sequence();
      durable = appended;
      for (int round = 0; round < 12; round++) {
        List<CompletableFuture<Void>> group = new ArrayList<>();
        for (int i = random.nextInt(1, 5); i > 0; i--) {
          appended++;
          group.add(journal.append(frame(appended, durable, payload(appended))));
        }
        environment.runUntilIdle();
        for (CompletableFuture<Void> done : group) {
          if (done.isDone() && !done.isCompletedExceptionally()) {
            durable++;
          }
        }
        if (round % 4 == 3) {
          Journal.SnapshotWriter writer = journal.snapshot(frame(durable, durable, ""));
          writer.part(JournalContract.bytes("state " + durable));
          if (durable > 0) {
            writer.publish();
          }
          journal.trim(Long.MAX_VALUE);
        }
      }
      journal.close();
    } catch (JournalException e) {
      assertThat(environment.disk().powerOff()).isTrue();
    }
    return new Workload(appended, durable);
  }

  private static String payload(long sequence) {
    return ("frame " + sequence + " ").repeat((int) (sequence * 7919 % 2_000));
  }

  private static long check(SimulatedEnvironment environment, Workload life, String where) {
    try (FileJournal journal = open(environment)) {
      Delivered delivered = JournalContract.lead(journal);
      long end = delivered.tail().sequence();
      assertThat(end).as(where).isBetween(life.durable(), life.appended());
      long base =
          delivered.parts.isEmpty()
              ? 0
              : Long.parseLong(delivered.parts.getFirst().substring("state ".length()));
      assertThat(base + delivered.frames.size()).as(where).isEqualTo(end);
      for (int i = 0; i < delivered.frames.size(); i++) {
        assertThat(JournalContract.text(delivered.frames.get(i).payload()))
            .as(where)
            .isEqualTo(payload(base + i + 1));
      }
      return end;
    }
  }

  /** The operations of a life in which nothing goes wrong. */
  private static long operations() {
    SimulatedEnvironment environment = environment(0);
    live(environment, new SplittableRandom(0));
    assertThat(environment.disk().operations()).isGreaterThan(100);
    return environment.disk().operations();
  }

  @Test
  void nothing_promised_is_lost_by_a_crash_before_any_operation() {
    long operations = operations();
    for (long stop = 1; stop <= operations; stop++) {
      for (int seed = 0; seed < 3; seed++) {
        String where = "the power is cut at operation " + stop + ", seed " + seed;
        SimulatedEnvironment environment = environment(seed);
        environment.disk().cutPowerAfter(stop);
        Workload life = live(environment, new SplittableRandom(0));
        environment.cutPower();
        long end = check(environment, life, where);
        // Once delivered it is durable: whatever is lost now, the same comes back.
        environment.cutPower();
        assertThat(check(environment, life, where)).isEqualTo(end);
        Workload second = live(environment, new SplittableRandom(1));
        check(environment, second, where + ", second life");
      }
    }
  }

  @Test
  void a_crash_during_recovery_changes_nothing() {
    long operations = operations();
    for (long stop = 1; stop <= operations; stop += 5) {
      boolean finished = false;
      for (long stopRecovery = 1; !finished; stopRecovery++) {
        SimulatedEnvironment environment = environment(stop);
        environment.disk().cutPowerAfter(stop);
        Workload life = live(environment, new SplittableRandom(0));
        environment.cutPower();
        finished = recovers(environment, stopRecovery);
        check(environment, life, "cut at " + stop + ", recovery cut at " + stopRecovery);
      }
    }
  }

  /** Recovers until the power is cut at this operation; whether that was after the end. */
  private static boolean recovers(SimulatedEnvironment environment, long stop) {
    environment.disk().cutPowerAfter(stop);
    boolean finished;
    try (FileJournal journal = open(environment)) {
      JournalContract.lead(journal);
      finished = true;
    } catch (DamagedJournalException e) {
      throw e;
    } catch (JournalException e) {
      finished = false;
    }
    environment.cutPower();
    return finished;
  }

  @Test
  void a_cut_is_told_until_a_frame_has_been_appended_even_if_recovery_crashes() throws IOException {
    int frames = 5;
    String payload = "a payload of 24 bytes...";
    for (int stop = 1; stop <= 20; stop++) {
      SimulatedEnvironment environment = environment(stop);
      try (FileJournal journal = open(environment)) {
        JournalContract.lead(journal);
        for (int i = 1; i <= frames; i++) {
          environment.await(journal.append(frame(i, i - 1, payload)));
        }
      }
      int lastFrame = 4096 + (frames - 1) * (72 + payload.length());
      flip(environment, lastFrame + 80);
      recovers(environment, stop);
      try (FileJournal journal = open(environment)) {
        Journal.Tail tail = JournalContract.lead(journal).tail();
        assertThat(tail.cuts()).as("stopped at " + stop).isEqualTo(1);
        assertThat(tail.sequence()).isEqualTo(frames - 1);
        environment.await(journal.append(frame(frames, frames - 1, "new")));
      }
      environment.cutPower();
      try (FileJournal journal = open(environment)) {
        assertThat(JournalContract.lead(journal).tail())
            .usingRecursiveComparison()
            .ignoringFields("epoch") // of which more have begun than have frames
            .isEqualTo(new Journal.Tail(frames, 1, frames, 1_000 + frames, null, 0, 0));
      }
      assertThat(JournalCheck.verify(environment, FOLDER).damages()).isEmpty();
    }
  }

  /** Damages a byte of the first segment durably. */
  private static void flip(SimulatedEnvironment environment, int at) throws IOException {
    try (Folder folder = environment.disk().open(FOLDER);
        DiskFile file = folder.open("0000000000000001.segment")) {
      ByteBuffer one = ByteBuffer.allocate(1);
      file.read(at, one);
      one.put(0, (byte) (one.get(0) ^ 1));
      file.write(at, one.flip());
      file.sync();
    }
  }
}
