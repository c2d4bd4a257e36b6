package io.millrace.server.audit;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.access.audit.AuditLog;
import io.millrace.http.AuditTrail;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.server.Part;
import io.millrace.server.shards.ShardedStore;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import java.time.InstantSource;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.ToDoubleFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The audit log of a server, with its routes under {@code /audit}. */
public final class AuditPart implements Part {
  private static final Logger LOG = LoggerFactory.getLogger(AuditPart.class);

  private final AuditLog log;
  private final @Nullable RequestAudit requests;
  private BiPredicate<Request, String> reachesNode = (_, _) -> false;

  private AuditPart(AuditLog log, @Nullable RequestAudit requests) {
    this.log = log;
    this.requests = requests;
  }

  /**
   * The log in a store.
   *
   * @param shards all shards, if the store is one of them; null if it has none
   * @param maxOperations the most parts of a transaction of the store
   */
  public static AuditPart open(
      TaskStore store,
      @Nullable ShardedStore shards,
      AuditSettings settings,
      RandomGenerator random,
      int maxOperations) {
    AuditSettings its = shards == null ? settings : settings.ofShard(shards.placement().shards());
    AuditLog log =
        new AuditLog(
            store, shards == null ? store : shards, InstantSource.system(), random, its.log());
    return new AuditPart(log, settings.enabled() ? new RequestAudit(log, maxOperations) : null);
  }

  /** Records requests. */
  public AuditTrail trail() {
    return requests == null ? AuditTrail.NONE : requests;
  }

  /** The log, for changes that are made after their requests; null if nothing is recorded. */
  public @Nullable AuditLog log() {
    return requests == null ? null : log;
  }

  /** Adds entries to the transactions of requests; null if nothing is recorded. */
  public @Nullable RequestAudit requests() {
    return requests;
  }

  /** Sets how it is decided whether the reach of a caller includes a graph node. */
  public void reachesNodeBy(BiPredicate<Request, String> decision) {
    reachesNode = decision;
  }

  @Override
  public List<Route> routes() {
    return new AuditRoutes(log, (request, node) -> reachesNode.test(request, node)).routes();
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    measure(registry, log, AuditLog::dropped, AuditLog::waiting);
    return () -> {};
  }

  /** Shows how many entries are lost and how many wait. */
  static <T> void measure(
      MeterRegistry registry, T log, ToDoubleFunction<T> lost, ToDoubleFunction<T> waiting) {
    FunctionCounter.builder("millrace.audit.lost", log, lost)
        .description("Entries of the audit log that the store did not take for too long")
        .register(registry);
    Gauge.builder("millrace.audit.waiting", log, waiting)
        .description("Entries of the audit log that wait for the store")
        .register(registry);
  }

  @Override
  public List<String> warnings() {
    return warnings(log.waiting(), log.dropped());
  }

  static List<String> warnings(long waiting, long lost) {
    return waiting == 0
        ? List.of()
        : List.of(
            "%d entries of the audit log wait for the store, and %d are lost"
                .formatted(waiting, lost));
  }

  int waiting() {
    return log.waiting();
  }

  long lost() {
    return log.dropped();
  }

  @Override
  public List<Activity> activities() {
    return List.of(new Activity("audit", log::step));
  }

  /** Writes what was counted in the last second. */
  @Override
  public void close() {
    try {
      log.flush();
    } catch (StoreException e) {
      LOG.debug("the last entries of the audit log are lost", e);
    }
  }
}
