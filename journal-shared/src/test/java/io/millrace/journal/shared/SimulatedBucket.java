package io.millrace.journal.shared;

import io.millrace.journal.shared.Head.Row;
import io.millrace.journal.shared.SimulatedWorld.Machine;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A bucket at the end of a {@link SimulatedNetwork}. */
final class SimulatedBucket implements SimulatedPlace {
  private final SimulatedNetwork network;
  private final SimulatedWorld world;
  private final TreeMap<String, byte[]> objects = new TreeMap<>();

  /** The entries of the log as they were created first, deleted or not. */
  private final Map<String, byte[]> log = new LinkedHashMap<>();

  SimulatedBucket(SimulatedWorld world) {
    this.world = world;
    this.network = new SimulatedNetwork(world);
  }

  @Override
  public SimulatedNetwork network() {
    return network;
  }

  @Override
  public JournalHome connect(Machine machine) {
    return new BucketHome(new Connection(machine));
  }

  private List<BucketEntry> entries() {
    List<BucketEntry> entries = new ArrayList<>();
    new TreeMap<>(log)
        .forEach((key, content) -> entries.add(BucketEntry.read(key, entries.size() + 1, content)));
    return entries;
  }

  @Override
  public long journalId() {
    return entries().getLast().head().journalId();
  }

  @Override
  public List<Row> appended() {
    List<Row> rows = new ArrayList<>();
    entries().forEach(entry -> rows.addAll(entry.rows("an entry")));
    return rows;
  }

  @Override
  public SimulatedDatabase unabridged() {
    return new SimulatedDatabase(world, entries().getLast().head(), appended());
  }

  /** The requests of a machine. */
  private final class Connection implements Bucket {
    private final Machine machine;
    private boolean closed;

    Connection(Machine machine) {
      this.machine = machine;
    }

    private void requireOpen() throws IOException {
      if (closed) {
        throw new IOException("the connection is closed");
      }
    }

    @Override
    public void check() {
      // It loses nothing.
    }

    @Override
    public void prepare() {
      // It loses nothing.
    }

    @Override
    public boolean create(String key, byte[] content) throws IOException {
      requireOpen();
      byte[] own = content.clone();
      return network.call(
          machine,
          () -> {
            boolean created = objects.putIfAbsent(key, own) == null;
            if (created && key.startsWith("log/")) {
              log.putIfAbsent(key, own);
            }
            return created;
          });
    }

    @Override
    public void put(String key, byte[] content) throws IOException {
      requireOpen();
      byte[] own = content.clone();
      network.call(
          machine,
          () -> {
            objects.put(key, own);
            return true;
          });
    }

    @Override
    public byte @Nullable [] get(String key) throws IOException {
      requireOpen();
      return network.<byte @Nullable []>call(machine, () -> objects.get(key));
    }

    @Override
    public List<String> list(String prefix, String after, int most) throws IOException {
      requireOpen();
      return network.call(
          machine,
          () ->
              objects
                  .tailMap(after.compareTo(prefix) < 0 ? prefix : after, after.isEmpty())
                  .keySet()
                  .stream()
                  .takeWhile(key -> key.startsWith(prefix))
                  .limit(most)
                  .toList());
    }

    @Override
    public void delete(List<String> keys) throws IOException {
      requireOpen();
      network.call(machine, () -> objects.keySet().removeAll(List.copyOf(keys)));
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
