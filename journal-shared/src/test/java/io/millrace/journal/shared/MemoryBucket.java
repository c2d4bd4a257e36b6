package io.millrace.journal.shared;

import io.millrace.store.journal.Retention;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/** A bucket in memory. */
class MemoryBucket implements Bucket {
  private final ConcurrentSkipListMap<String, byte[]> objects = new ConcurrentSkipListMap<>();

  @Override
  public void check() {}

  @Override
  public void prepare() {}

  @Override
  public boolean create(String key, byte[] content) throws IOException {
    return objects.putIfAbsent(key, content.clone()) == null;
  }

  @Override
  public void put(String key, byte[] content) {
    objects.put(key, content.clone());
  }

  @Override
  public byte @Nullable [] get(String key) {
    return objects.get(key);
  }

  @Override
  public List<String> list(String prefix, String after, int most) {
    return objects.tailMap(after.isEmpty() ? prefix : after, after.isEmpty()).keySet().stream()
        .takeWhile(key -> key.startsWith(prefix))
        .limit(most)
        .toList();
  }

  @Override
  public void delete(List<String> keys) {
    keys.forEach(objects::remove);
  }

  @Override
  public void close() {}

  /** Journals in it. */
  JournalLocation location() {
    return new Location(this);
  }

  private record Location(MemoryBucket bucket) implements JournalLocation {
    @Override
    public JournalHome connect() {
      return new BucketHome(bucket);
    }

    @Override
    public Retention retention() {
      return Retention.NONE;
    }

    @Override
    public Duration lease() {
      return Duration.ofMillis(1_500);
    }

    @Override
    public Duration deadline() {
      return Duration.ofSeconds(30);
    }

    @Override
    public String toString() {
      return "memory";
    }
  }
}
