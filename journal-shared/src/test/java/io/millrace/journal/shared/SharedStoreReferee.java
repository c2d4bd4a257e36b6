package io.millrace.journal.shared;

import io.millrace.journal.shared.Head.Row;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Position;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Notes what clients were told, and compares it with the commits that there were. Since each answer
 * names its position among them, the answers are linearizable if each agrees with the commits up to
 * its position, and none has an earlier position than one that was given before it was asked for.
 */
final class SharedStoreReferee {
  /** How long a second of the slowest clock may take. */
  private static final double SLOWEST_CLOCK = 1.05;

  /** A write of a value of its own. */
  static final class Write {
    private final long value;
    private final long beganNanos;
    private long endedNanos;
    private boolean refused;
    private @Nullable Position position;

    private Write(long value, long beganNanos) {
      this.value = value;
      this.beganNanos = beganNanos;
    }

    long value() {
      return value;
    }

    boolean isAnswered() {
      return position != null;
    }

    void answered(Position answer, long nowNanos) {
      position = answer;
      endedNanos = nowNanos;
    }

    void refused() {
      refused = true;
    }

    @Override
    public String toString() {
      return "write " + value + (position == null ? "" : " at " + position);
    }
  }

  /**
   * A read.
   *
   * @param bound how stale it may be; zero for a read of a leader
   */
  private record Seen(
      Duration bound, long beganNanos, long endedNanos, Position position, List<Document> found) {
    /** When the latest answer may have come that it does not know. */
    long knowsFromNanos() {
      return beganNanos - (long) (bound.toNanos() * SLOWEST_CLOCK);
    }

    @Override
    public String toString() {
      return (bound.isZero() ? "read at " : bound + " stale read at ") + position;
    }
  }

  /** What was told about a position, and when. */
  private record Answer(
      long beganNanos, long endedNanos, long number, boolean writes, Object what) {}

  private final List<Write> writes = new ArrayList<>();
  private final List<Seen> reads = new ArrayList<>();

  Write write(long nowNanos) {
    Write write = new Write(writes.size() + 1, nowNanos);
    writes.add(write);
    return write;
  }

  Write last() {
    return writes.getLast();
  }

  void read(long beganNanos, long endedNanos, Position position, List<Document> found) {
    reads.add(new Seen(Duration.ZERO, beganNanos, endedNanos, position, List.copyOf(found)));
  }

  /**
   * Notes a read that a standby has answered: it may lack what was told within the bound before it
   * was asked for, and nothing else, whatever the rate of the clock of its machine.
   */
  void staleRead(
      long beganNanos,
      long endedNanos,
      StaleClient.Wanted wanted,
      Position position,
      List<Document> found) {
    Position after = wanted.after();
    require(
        after == null || position.number() >= after.number(),
        () -> "a stale read at " + position + " came after one at " + after);
    reads.add(new Seen(wanted.bound(), beganNanos, endedNanos, position, List.copyOf(found)));
  }

  /**
   * Compares everything.
   *
   * @param commits all, in order
   * @param end the registers after the last one, as a server tells
   */
  void judge(List<Commit> commits, List<Document> end) {
    Map<Long, Long> committed = new HashMap<>();
    for (Commit commit : commits) {
      int expected = committed.size() + 1;
      require(
          commit.position().number() == expected,
          () -> "commit " + commit.position() + " instead of " + expected);
      Long before = committed.put(commit.client().client(), commit.position().number());
      require(before == null, () -> "write " + commit.client().client() + " was done twice");
    }
    for (Write write : writes) {
      boolean done = committed.containsKey(write.value);
      Position told = write.position;
      if (told != null) {
        require(done, () -> write + " was acknowledged and is lost");
        long number = committed.getOrDefault(write.value, 0L);
        require(number == told.number(), () -> write + " is at " + number);
      }
      require(!write.refused || !done, () -> write + " was refused and done");
    }
    judgeReads(commits, end);
    judgeOrder();
  }

  private void judgeReads(List<Commit> commits, List<Document> end) {
    TreeMap<Long, List<Seen>> byNumber = new TreeMap<>();
    for (Seen seen : reads) {
      byNumber.computeIfAbsent(seen.position.number(), _ -> new ArrayList<>()).add(seen);
    }
    Map<DocumentKey, Document> state = new TreeMap<>();
    for (int number = 0; number <= commits.size(); number++) {
      if (number > 0) {
        commits
            .get(number - 1)
            .forEachDocument((key, document) -> {
              if (document == null) {
                state.remove(key);
              } else {
                state.put(key, document);
              }
            });
      }
      for (Seen seen : byNumber.getOrDefault((long) number, List.of())) {
        require(
            seen.found.equals(List.copyOf(state.values())),
            () -> seen + " found " + seen.found + " instead of " + state.values());
      }
    }
    byNumber.tailMap((long) commits.size(), false).values().stream()
        .findFirst()
        .ifPresent(
            seen -> require(false, () -> seen + " is after the last commit, " + commits.size()));
    require(
        end.equals(List.copyOf(state.values())),
        () -> "a server ends with " + end + " instead of " + state.values());
  }

  /** Nothing is told that was over before it was asked for. */
  private void judgeOrder() {
    List<Answer> answers = new ArrayList<>();
    for (Write write : writes) {
      Position told = write.position;
      if (told != null) {
        answers.add(new Answer(write.beganNanos, write.endedNanos, told.number(), true, write));
      }
    }
    for (Seen seen : reads) {
      answers.add(
          new Answer(seen.knowsFromNanos(), seen.endedNanos, seen.position.number(), false, seen));
    }
    for (Answer later : answers) {
      for (Answer earlier : answers) {
        if (earlier.endedNanos < later.beganNanos) {
          require(
              later.writes ? later.number > earlier.number : later.number >= earlier.number,
              () -> later.what + " came after " + earlier.what + " was answered");
        }
      }
    }
  }

  /** Each epoch has one writer, and a later one has a larger number. */
  void judgeEpochs(List<Row> rows, long journalId) {
    long epoch = 0;
    long writer = 0;
    for (Row row : rows) {
      Frame frame = FrameCodec.decode(row.frame().duplicate(), journalId, "frame", null);
      long last = epoch;
      require(frame.epoch() >= last, () -> "epoch " + frame.epoch() + " follows " + last);
      require(
          frame.epoch() > epoch || frame.writer() == writer,
          () -> "two lead in epoch " + frame.epoch());
      epoch = frame.epoch();
      writer = frame.writer();
    }
  }

  private static void require(boolean so, Supplier<String> otherwise) {
    if (!so) {
      throw new AssertionError(otherwise.get());
    }
  }
}
