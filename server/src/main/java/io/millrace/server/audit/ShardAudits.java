package io.millrace.server.audit;

import io.millrace.http.AuditTrail;
import io.millrace.http.Request;
import io.millrace.http.Request.Change;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;

/**
 * What a server records that does not lead the first shard, of requests that are for no shard
 * alone: entries are kept in any of the shards that it leads. While it leads none, it changes
 * nothing, and records nothing. Thread-safe.
 */
public final class ShardAudits implements AuditTrail {
  private final Map<Integer, AuditTrail> led = new ConcurrentSkipListMap<>();

  /** The server leads a shard other than the first one, with this log. */
  public void begin(int shard, AuditTrail log) {
    led.put(shard, log);
  }

  /** It does not lead the shard any more. */
  public void end(int shard) {
    led.remove(shard);
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
    led.values().stream().findFirst().ifPresent(entry);
  }
}
