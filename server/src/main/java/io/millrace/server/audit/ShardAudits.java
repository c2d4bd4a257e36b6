package io.millrace.server.audit;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.AuditTrail;
import io.millrace.http.Request;
import io.millrace.http.Request.Change;
import io.millrace.server.shards.ShardedStore;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.work.StepLoop;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * What a server records that does not lead the first shard: entries are kept in any of the shards
 * that it leads. While it leads none, it changes nothing, and records nothing. Thread-safe.
 */
public final class ShardAudits implements AuditTrail, AutoCloseable {
  private final ShardedStore shards;
  private final AuditSettings settings;
  private final int maxOperations;
  private final SecureRandom random = new SecureRandom();
  private final Map<Integer, Log> led = new ConcurrentSkipListMap<>();

  /** How many entries were lost in shards that it does not lead any more. */
  private final AtomicLong lost = new AtomicLong();

  /** The log in a shard, and what writes to it once a second. */
  private record Log(AuditPart part, List<StepLoop> loops) {
    void close() {
      loops.forEach(StepLoop::close);
      part.close();
    }
  }

  /**
   * Of a server that leads nothing yet.
   *
   * @param maxOperations the most parts of a transaction
   */
  public ShardAudits(ShardedStore shards, AuditSettings settings, int maxOperations) {
    this.shards = shards;
    this.settings = settings;
    this.maxOperations = maxOperations;
  }

  /** All shards, whoever leads them. */
  public ShardedStore shards() {
    return shards;
  }

  /** The server leads a shard other than the first one. */
  public void begin(int shard, EmbeddedTaskStore store) {
    AuditPart part = AuditPart.open(store, shards, settings, random, maxOperations);
    List<StepLoop> loops =
        part.activities().stream()
            .map(activity ->
                StepLoop.start(
                    activity.name() + "-" + shard, InstantSource.system(), activity.step()))
            .toList();
    led.put(shard, new Log(part, loops));
  }

  /** It does not lead the shard any more. Writes what was counted, if the store still takes it. */
  public void end(int shard) {
    Log log = led.remove(shard);
    if (log != null) {
      log.close();
      lost.addAndGet(log.part().lost());
    }
  }

  /** Shows how many entries wait and are lost in all of them. */
  public void measure(MeterRegistry registry) {
    AuditPart.measure(registry, this, ShardAudits::lost, ShardAudits::waiting);
  }

  /** Warnings for {@code /health}; empty if all is well. */
  public List<String> warnings() {
    return AuditPart.warnings(waiting(), lost());
  }

  private long waiting() {
    return led.values().stream().mapToLong(log -> log.part().waiting()).sum();
  }

  private long lost() {
    return lost.get() + led.values().stream().mapToLong(log -> log.part().lost()).sum();
  }

  @Override
  public void answered(Request request, int status, boolean mayBlock) {
    record(trail -> trail.answered(request, status, mayBlock));
  }

  @Override
  public void changed(Request request, String action, Change change, boolean done) {
    record(trail -> trail.changed(request, action, change, done));
  }

  private void record(Consumer<AuditTrail> entry) {
    led.values().stream().findFirst().ifPresent(log -> entry.accept(log.part().trail()));
  }

  /** Ends all of them. */
  @Override
  public void close() {
    List.copyOf(led.keySet()).forEach(this::end);
  }
}
