package io.millrace.journal.sql;

import io.millrace.journal.sql.Head.FrameMark;
import io.millrace.journal.sql.Head.Row;
import io.millrace.journal.sql.Head.Snapshot;
import io.millrace.journal.sql.SimulatedWorld.Machine;
import io.millrace.store.journal.Chain;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A database that never loses what it has committed, at the end of a network that loses, delays and
 * repeats requests and loses answers, of machines that stand still or die between the two.
 */
final class SimulatedDatabase {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;

  /** A chunk of a snapshot. */
  private record Chunk(Snapshot snapshot, long number) {}

  private final SimulatedWorld world;
  private final SplittableRandom random;
  private final TreeMap<Long, Row> frames = new TreeMap<>();
  private final TreeMap<Long, Row> appended = new TreeMap<>();
  private final Map<Chunk, byte[]> chunks = new LinkedHashMap<>();
  private Head head;
  private long downUntil;
  private double faults;

  SimulatedDatabase(SimulatedWorld world) {
    this.world = world;
    this.random = world.newRandom();
    this.head =
        new Head(
            random.nextLong(),
            Chain.START,
            0,
            0,
            1,
            0,
            Snapshot.NONE,
            Snapshot.NONE,
            0,
            false,
            null);
  }

  /** One that has every frame that was ever committed, and no snapshot. */
  SimulatedDatabase unabridged() {
    SimulatedDatabase copy = new SimulatedDatabase(world);
    copy.frames.putAll(appended);
    copy.head =
        new Head(
            head.journalId(),
            head.chain(),
            head.writer(),
            head.totalBytes(),
            1,
            0,
            Snapshot.NONE,
            Snapshot.NONE,
            0,
            true,
            null);
    return copy;
  }

  /** All frames that were ever committed, in order. */
  List<Row> appended() {
    return List.copyOf(appended.values());
  }

  long journalId() {
    return head.journalId();
  }

  /** Sets how many of 100 requests meet a fault, about. */
  void faults(double percent) {
    faults = percent / 100;
  }

  /** Ends it for a while. */
  void shutDown(long nanos) {
    downUntil = world.nanos() + nanos;
  }

  JournalDatabase connect(Machine machine) {
    return new Connection(machine);
  }

  /** The transactions, and what can happen to them. */
  private final class Connection implements JournalDatabase {
    private final Machine machine;
    private boolean closed;

    Connection(Machine machine) {
      this.machine = machine;
    }

    private <T extends @Nullable Object> T call(Supplier<T> work) throws SQLException {
      if (closed) {
        throw new SQLException("the connection is closed");
      }
      world.pause(random.nextLong(5 * MILLI));
      if (isAway()) {
        world.pause(random.nextLong(100 * MILLI));
        throw new SQLException("no connection");
      }
      int fault = random.nextDouble() < faults ? random.nextInt(9) : -1;
      switch (fault) {
        case 0 -> silence("the request was lost");
        case 1 -> {
          later(work);
          silence("the request is late");
        }
        case 2 -> machine.stop(random.nextLong(6 * SECOND));
        case 3 -> machine.suspend(random.nextLong(6 * SECOND));
        case 4 -> machine.kill();
        default -> {}
      }
      if (fault >= 2 && fault <= 4) {
        world.pause(1); // before the request
      }
      T result = work.get();
      switch (fault) {
        case 5 -> later(work);
        case 6 -> silence("the answer was lost");
        case 7 -> machine.stop(random.nextLong(6 * SECOND));
        case 8 -> machine.kill();
        default -> {}
      }
      if (fault >= 7 || random.nextInt(3) == 0) {
        world.pause(random.nextLong(3 * MILLI)); // before the answer
      }
      if (isAway()) {
        throw new SQLException("the connection was lost");
      }
      return result;
    }

    /** A request arrives after its caller has given up, or for the second time. */
    private void later(Supplier<?> work) {
      world.after(
          random.nextLong(10 * SECOND),
          () -> {
            Object _ = work.get();
          });
    }

    private boolean isAway() {
      return downUntil > world.nanos() || machine.isCutOff();
    }

    private void silence(String what) throws SQLException {
      world.pause(random.nextLong(3 * SECOND));
      throw new SQLException(what);
    }

    @Override
    public Head head() throws SQLException {
      return call(() -> head);
    }

    @Override
    public boolean append(Chain before, long renewals, Chain after, long writer, List<Row> rows)
        throws SQLException {
      return call(() -> {
        if (!isEnd(before) || (renewals != ANY && renewals != head.renewals())) {
          return false;
        }
        for (Row row : rows) {
          frames.put(row.sequence(), row);
          appended.put(row.sequence(), row);
        }
        head =
            new Head(
                head.journalId(),
                after,
                writer,
                rows.getLast().totalBytes(),
                head.first(),
                head.firstPosition(),
                head.snapshot(),
                head.older(),
                head.renewals(),
                false,
                null);
        return true;
      });
    }

    /** What the statement that moves the head compares. */
    private boolean isEnd(Chain before) {
      Chain end = head.chain();
      return end.sequence() == before.sequence()
          && end.checksum() == before.checksum()
          && end.epoch() == before.epoch();
    }

    @Override
    public List<Row> frames(long from, int maxBytes) throws SQLException {
      return call(() -> {
        List<Row> rows = new ArrayList<>();
        for (Row row : frames.tailMap(from).values()) {
          if (!frames.containsKey(from) || rows.size() == 20) {
            break;
          }
          rows.add(row);
        }
        return rows;
      });
    }

    @Override
    public @Nullable FrameMark mark(long sequence) throws SQLException {
      return this.<@Nullable FrameMark>call(() -> {
        Row row = frames.get(sequence);
        return row == null
            ? null
            : new FrameMark(row.position(), row.timeMillis(), row.totalBytes());
      });
    }

    private boolean leads(long epoch, long writer) {
      return head.chain().epoch() == epoch && head.writer() == writer;
    }

    @Override
    public boolean renew(long epoch, long writer) throws SQLException {
      return call(() -> {
        boolean leads = leads(epoch, writer);
        if (leads) {
          change(head.first(), head.firstPosition(), head.snapshot(), head.older(), true, false);
        }
        return leads;
      });
    }

    @Override
    public void resign(long epoch, long writer) throws SQLException {
      call(() -> {
        if (leads(epoch, writer)) {
          change(head.first(), head.firstPosition(), head.snapshot(), head.older(), false, true);
        }
        return true;
      });
    }

    @Override
    public void announce(long epoch, String address) throws SQLException {
      call(() -> true);
    }

    private void change(
        long first,
        long firstPosition,
        Snapshot snapshot,
        Snapshot older,
        boolean renewed,
        boolean resigned) {
      head =
          new Head(
              head.journalId(),
              head.chain(),
              head.writer(),
              head.totalBytes(),
              first,
              firstPosition,
              snapshot,
              older,
              head.renewals() + (renewed ? 1 : 0),
              resigned || head.resigned(),
              null);
    }

    @Override
    public void putChunk(Snapshot snapshot, long number, byte[] bytes) throws SQLException {
      call(() -> chunks.putIfAbsent(new Chunk(snapshot, number), bytes.clone()) == null);
    }

    @Override
    public byte @Nullable [] chunk(Snapshot snapshot, long number) throws SQLException {
      return this.<byte @Nullable []>call(() -> chunks.get(new Chunk(snapshot, number)));
    }

    @Override
    public boolean publish(Snapshot snapshot, long epoch, long writer) throws SQLException {
      return call(() -> {
        boolean newer = leads(epoch, writer) && head.snapshot().sequence() < snapshot.sequence();
        if (newer) {
          change(head.first(), head.firstPosition(), snapshot, head.snapshot(), false, false);
        }
        return newer;
      });
    }

    @Override
    public void deleteSnapshot(Snapshot snapshot) throws SQLException {
      call(() -> chunks.keySet().removeIf(chunk -> chunk.snapshot().equals(snapshot)));
    }

    @Override
    public List<Snapshot> snapshots() throws SQLException {
      return call(() -> {
        LinkedHashSet<Snapshot> found = new LinkedHashSet<>();
        chunks.keySet().forEach(chunk -> found.add(chunk.snapshot()));
        return List.copyOf(found);
      });
    }

    @Override
    public boolean keepFrom(long first, long firstPosition, long epoch, long writer)
        throws SQLException {
      return call(() -> {
        boolean moves = leads(epoch, writer) && head.first() < first;
        if (moves) {
          change(first, firstPosition, head.snapshot(), head.older(), false, false);
        }
        return moves;
      });
    }

    @Override
    public void deleteFrames(long from, long to) throws SQLException {
      call(() -> {
        frames.subMap(from, to).clear();
        return true;
      });
    }

    @Override
    public long oldestFrame() {
      throw new UnsupportedOperationException("a restore is not simulated");
    }

    @Override
    public boolean beginRestore(Head before, long upload, long journalId) {
      throw new UnsupportedOperationException("a restore is not simulated");
    }

    @Override
    public boolean endRestore(long upload, Snapshot snapshot, Chain chain) {
      throw new UnsupportedOperationException("a restore is not simulated");
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
