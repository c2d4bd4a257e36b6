package io.millrace.server.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreException;
import io.millrace.store.StoreStatus;
import io.millrace.store.StoreStatus.DiskState;
import io.millrace.store.TaskStore.GroupSummary;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The figures of the embedded store, read once for each scrape. Safe for use by threads. */
public final class StoreFigures {
  private static final Logger LOG = LoggerFactory.getLogger(StoreFigures.class);

  private final EmbeddedTaskStore store;
  private final MeterRegistry registry;
  private volatile @Nullable Sample last;

  private StoreFigures(EmbeddedTaskStore store, MeterRegistry registry) {
    this.store = store;
    this.registry = registry;
  }

  /** The store at one moment. */
  private record Sample(StoreStatus status, long waiting, long delayed, long owned) {}

  /** Shows the store's figures for as long as the returned object is held. */
  public static StoreFigures show(EmbeddedTaskStore store, MeterRegistry registry) {
    StoreFigures figures = new StoreFigures(store, registry);
    figures.counters();
    figures.tasks();
    figures.durability();
    figures.room();
    figures.disk();
    figures.time();
    return figures;
  }

  private void counters() {
    counter("commits", "Transactions that took effect", StoreStatus::committed);
    counter("claims", "Claims that took tasks", StoreStatus::claimed);
    counter("claims.empty", "Claims that found nothing", StoreStatus::empty);
    counter("refusals", "Commands refused", StoreStatus::refused);
    counter("repeats", "Commands answered again by request id", StoreStatus::repeated);
    counter(
        "claims.limited",
        "Claims that found tasks but no room within a limit",
        StoreStatus::limited);
    counter("leases.lost", "Claims that ended because their lease did", StoreStatus::lapsed);
    counter("journal.frames", "Groups handed to the journal", StoreStatus::frames);
    counter("snapshots", "Snapshots published", StoreStatus::snapshots);
  }

  private void tasks() {
    state("waiting", Sample::waiting);
    state("delayed", Sample::delayed);
    state("claimed", Sample::owned);
    gauge("groups", "", "Groups that are not empty", StoreStatus::groups);
    gauge("documents", "", "Documents", StoreStatus::documents);
    gauge("claims.waiting", "", "Claims that wait", StoreStatus::waitingClaims);
    gauge("subscribers", "", "Streams of changes open", StoreStatus::subscribers);
    gauge(
        "requests.remembered",
        "",
        "Answers kept for their request ids",
        StoreStatus::rememberedRequests);
  }

  private void durability() {
    gauge(
        "durable.lag",
        "commits",
        "Commits that are not known to be on disk",
        status -> status.position().number() - status.durablePosition().number());
    gauge(
        "unsynced", "bytes", "Journal that is not known to be on disk", StoreStatus::unsyncedBytes);
    gauge(
        "loss.window",
        "seconds",
        "What a crash would cost an opportunistic store now: the age of the oldest commit that is"
            + " not on disk",
        status -> status.unsyncedMillis() / 1000.0);
  }

  private void time() {
    gauge(
        "time.ahead",
        "seconds",
        "By how much store time is ahead of the wall clock; below 0 if it is behind",
        store,
        it -> it.timeAheadMillis() / 1000.0);
  }

  private void room() {
    gauge("memory", "bytes", "Memory taken, estimated", StoreStatus::memoryBytes);
    gauge(
        "memory.limit",
        "bytes",
        "Memory that may be taken before growth is refused",
        StoreStatus::memoryLimitBytes);
  }

  private void disk() {
    disk(
        "disk.free",
        "bytes",
        "Bytes free on the disk of the store",
        disk -> disk.freeBytes() == Long.MAX_VALUE ? Double.NaN : disk.freeBytes());
    disk(
        "disk.reserve",
        "bytes",
        "Bytes of the disk that the journal leaves free",
        DiskState::reserveBytes);
    disk(
        "disk.shortage",
        "",
        "1 while growth is refused because the journal has no room for its next segment, else 0",
        disk -> disk.shortage() == null ? 0 : 1);
    disk(
        "snapshot.failing",
        "",
        "1 while the last snapshot could not be written, else 0",
        disk -> disk.snapshotFailure() == null ? 0 : 1);
  }

  private void counter(String name, String what, ToDoubleFunction<StoreStatus> figure) {
    FunctionCounter.builder("millrace.store." + name, this, it -> it.read(figure))
        .description(what)
        .register(registry);
  }

  private void gauge(String name, String unit, String what, ToDoubleFunction<StoreStatus> figure) {
    gauge(name, unit, what, this, it -> it.read(figure));
  }

  /** Read at each use, since it is known even while commands wait for room. */
  private void disk(String name, String unit, String what, ToDoubleFunction<DiskState> figure) {
    gauge(name, unit, what, store, it -> figure.applyAsDouble(it.disk()));
  }

  private <T> void gauge(
      String name, String unit, String what, T source, ToDoubleFunction<T> figure) {
    Gauge.builder("millrace.store." + name, source, figure)
        .baseUnit(unit.isEmpty() ? null : unit)
        .description(what)
        .register(registry);
  }

  private void state(String state, ToDoubleFunction<Sample> figure) {
    Gauge.builder(
            "millrace.store.tasks",
            this,
            it -> {
              Sample sample = it.last;
              return sample == null ? Double.NaN : figure.applyAsDouble(sample);
            })
        .tag("state", state)
        .description("Tasks in the store")
        .register(registry);
  }

  private double read(ToDoubleFunction<StoreStatus> figure) {
    Sample sample = last;
    return sample == null ? Double.NaN : figure.applyAsDouble(sample.status());
  }

  /** Reads the status of the store. If the store has stopped, the last figures stay. */
  public void refresh() {
    try {
      long waiting = 0;
      long delayed = 0;
      long owned = 0;
      for (GroupSummary group : store.groups().value()) {
        waiting += group.waiting();
        delayed += group.delayed();
        owned += group.owned();
      }
      last = new Sample(store.status(), waiting, delayed, owned);
    } catch (StoreException e) {
      LOG.debug("no figures of the store", e);
    }
  }
}
