package io.millrace.journal.shared;

import io.millrace.journal.shared.Head.FrameMark;
import io.millrace.journal.shared.Head.Row;
import io.millrace.journal.shared.Head.Snapshot;
import io.millrace.journal.shared.SimulatedWorld.Machine;
import io.millrace.store.journal.Chain;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** A database at the end of a {@link SimulatedNetwork}. */
final class SimulatedDatabase implements SimulatedPlace {
  /** A chunk of a snapshot. */
  private record Chunk(Snapshot snapshot, long number) {}

  private final SimulatedWorld world;
  private final SimulatedNetwork network;
  private final TreeMap<Long, Row> frames = new TreeMap<>();
  private final TreeMap<Long, Row> appended = new TreeMap<>();
  private final Map<Chunk, byte[]> chunks = new LinkedHashMap<>();
  private Head head;

  SimulatedDatabase(SimulatedWorld world) {
    this.world = world;
    this.network = new SimulatedNetwork(world);
    this.head = Head.first(world.newRandom().nextLong()).withSigns(0, false, null);
  }

  /** One that has these frames, and no snapshot. */
  SimulatedDatabase(SimulatedWorld world, Head end, List<Row> rows) {
    this(world);
    rows.forEach(row -> frames.put(row.sequence(), row));
    head =
        Head.first(end.journalId())
            .withEnd(end.chain(), end.writer(), end.totalBytes())
            .withSigns(0, true, null);
  }

  @Override
  public SimulatedDatabase unabridged() {
    return new SimulatedDatabase(world, head, appended());
  }

  @Override
  public List<Row> appended() {
    return List.copyOf(appended.values());
  }

  @Override
  public long journalId() {
    return head.journalId();
  }

  @Override
  public SimulatedNetwork network() {
    return network;
  }

  @Override
  public JournalHome connect(Machine machine) {
    return new Connection(machine);
  }

  /** The transactions, and what can happen to them. */
  private final class Connection implements JournalHome {
    private final Machine machine;
    private boolean closed;

    Connection(Machine machine) {
      this.machine = machine;
    }

    private <T extends @Nullable Object> T call(Supplier<T> work) throws IOException {
      if (closed) {
        throw new IOException("the connection is closed");
      }
      return network.call(machine, work);
    }

    @Override
    public Head head() throws IOException {
      return call(() -> head);
    }

    @Override
    public boolean append(Chain before, long renewals, Chain after, long writer, List<Row> rows)
        throws IOException {
      return call(() -> {
        if (!isEnd(before) || (renewals != ANY && renewals != head.renewals())) {
          return false;
        }
        for (Row row : rows) {
          frames.put(row.sequence(), row);
          appended.put(row.sequence(), row);
        }
        head = head.withEnd(after, writer, rows.getLast().totalBytes());
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
    public List<Row> frames(long from, int maxBytes) throws IOException {
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
    public @Nullable FrameMark mark(long sequence) throws IOException {
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
    public boolean renew(long epoch, long writer) throws IOException {
      return call(() -> {
        boolean leads = leads(epoch, writer);
        if (leads) {
          head = head.withSigns(head.renewals() + 1, head.resigned(), null);
        }
        return leads;
      });
    }

    @Override
    public void challenge(Head silent) {
      // A renewal and the first append of a new leader change the same row.
    }

    @Override
    public void resign(long epoch, long writer) throws IOException {
      call(() -> {
        if (leads(epoch, writer)) {
          head = head.withSigns(head.renewals(), true, null);
        }
        return true;
      });
    }

    @Override
    public void announce(long epoch, String address) throws IOException {
      call(() -> true);
    }

    @Override
    public void putChunk(Snapshot snapshot, long number, byte[] bytes) throws IOException {
      call(() -> chunks.putIfAbsent(new Chunk(snapshot, number), bytes.clone()) == null);
    }

    @Override
    public byte @Nullable [] chunk(Snapshot snapshot, long number) throws IOException {
      return this.<byte @Nullable []>call(() -> chunks.get(new Chunk(snapshot, number)));
    }

    @Override
    public boolean publish(Snapshot snapshot, long epoch, long writer) throws IOException {
      return call(() -> {
        boolean newer = leads(epoch, writer) && head.snapshot().sequence() < snapshot.sequence();
        if (newer) {
          head = head.withSnapshot(snapshot);
        }
        return newer;
      });
    }

    @Override
    public void deleteSnapshot(Snapshot snapshot) throws IOException {
      call(() -> chunks.keySet().removeIf(chunk -> chunk.snapshot().equals(snapshot)));
    }

    @Override
    public List<Snapshot> snapshots() throws IOException {
      return call(() -> {
        LinkedHashSet<Snapshot> found = new LinkedHashSet<>();
        chunks.keySet().forEach(chunk -> found.add(chunk.snapshot()));
        return List.copyOf(found);
      });
    }

    @Override
    public boolean keepFrom(long first, long firstPosition, long epoch, long writer)
        throws IOException {
      return call(() -> {
        boolean moves = leads(epoch, writer) && head.first() < first;
        if (moves) {
          head = head.withFirst(first, firstPosition);
        }
        return moves;
      });
    }

    @Override
    public void deleteFrames(long from, long to) throws IOException {
      call(() -> {
        frames.subMap(from, to).clear();
        return true;
      });
    }

    @Override
    public void prepare(RandomGenerator unused) {
      // The head is there.
    }

    @Override
    public void check() {
      // It loses nothing.
    }

    @Override
    public void clear() {
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
