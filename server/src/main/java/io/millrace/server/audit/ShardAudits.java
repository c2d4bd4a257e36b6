package io.millrace.server.audit;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.AuditTrail;
import io.millrace.http.Request;
import io.millrace.http.Request.Change;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * What a server records that does not lead the first shard, of requests that are for no shard
 * alone: entries are kept in any of the shards that it leads. While it leads none, it changes
 * nothing, and records nothing. Thread-safe.
 */
public final class ShardAudits implements AuditTrail {
  private final Map<Integer, AuditPart> led = new ConcurrentSkipListMap<>();

  /** How many entries were lost in shards that it does not lead any more. */
  private final AtomicLong lost = new AtomicLong();

  /** The server leads a shard other than the first one, with this log. */
  public void begin(int shard, AuditPart log) {
    led.put(shard, log);
  }

  /** It does not lead the shard any more. */
  public void end(int shard) {
    AuditPart log = led.remove(shard);
    if (log != null) {
      lost.addAndGet(log.lost());
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
    return led.values().stream().mapToLong(AuditPart::waiting).sum();
  }

  private long lost() {
    return lost.get() + led.values().stream().mapToLong(AuditPart::lost).sum();
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
    led.values().stream().findFirst().ifPresent(log -> entry.accept(log.trail()));
  }
}
