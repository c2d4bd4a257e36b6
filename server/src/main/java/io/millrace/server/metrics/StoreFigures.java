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

/** The figures of the embedded store, asked for once for each scrape. Safe for use by threads. */
public final class StoreFigures {
  private static final Logger LOG = LoggerFactory.getLogger(StoreFigures.class);

  private final EmbeddedTaskStore store;
  private volatile @Nullable Sample last;

  private StoreFigures(EmbeddedTaskStore store) {
    this.store = store;
  }

  /** The store at one moment. */
  private record Sample(StoreStatus status, long waiting, long delayed, long owned) {}

  /** Shows the store's figures for as long as the returned object is held. */
  public static StoreFigures show(EmbeddedTaskStore store, MeterRegistry registry) {
    StoreFigures figures = new StoreFigures(store);
    figures.counters(registry);
    figures.tasks(registry);
    figures.durability(registry);
    figures.room(registry);
    figures.disk(registry);
    figures.time(registry);
    return figures;
  }

  private void counters(MeterRegistry registry) {
    counter(registry, "commits", "Transactions that took effect", StoreStatus::committed);
    counter(registry, "claims", "Claims that took tasks", StoreStatus::claimed);
    counter(registry, "claims.empty", "Claims that found nothing", StoreStatus::empty);
    counter(registry, "refusals", "Commands refused", StoreStatus::refused);
    counter(registry, "repeats", "Commands answered again by request id", StoreStatus::repeated);
    counter(registry, "journal.frames", "Groups handed to the journal", StoreStatus::frames);
    counter(registry, "snapshots", "Snapshots published", StoreStatus::snapshots);
  }

  private void tasks(MeterRegistry registry) {
    state(registry, "waiting", Sample::waiting);
    state(registry, "delayed", Sample::delayed);
    state(registry, "claimed", Sample::owned);
    gauge(registry, "groups", "", "Groups that are not empty", StoreStatus::groups);
    gauge(registry, "documents", "", "Documents", StoreStatus::documents);
    gauge(registry, "claims.waiting", "", "Claims that wait", StoreStatus::waitingClaims);
    gauge(registry, "subscribers", "", "Streams of changes open", StoreStatus::subscribers);
    gauge(
        registry,
        "requests.remembered",
        "",
        "Answers kept for their request ids",
        StoreStatus::rememberedRequests);
  }

  private void durability(MeterRegistry registry) {
    gauge(
        registry,
        "durable.lag",
        "commits",
        "Commits that are not known to be on disk",
        status -> status.position().number() - status.durablePosition().number());
    gauge(
        registry,
        "unsynced",
        "bytes",
        "Journal that is not known to be on disk",
        StoreStatus::unsyncedBytes);
    gauge(
        registry,
        "loss.window",
        "seconds",
        "What a crash would cost an opportunistic store now: the age of the oldest commit that is"
            + " not on disk",
        status -> status.unsyncedMillis() / 1000.0);
  }

  private void time(MeterRegistry registry) {
    Gauge.builder("millrace.store.time.ahead", store, it -> it.timeAheadMillis() / 1000.0)
        .baseUnit("seconds")
        .description("By how much store time is ahead of the wall clock; below 0 if it is behind")
        .register(registry);
  }

  private void room(MeterRegistry registry) {
    gauge(registry, "memory", "bytes", "Memory taken, estimated", StoreStatus::memoryBytes);
    gauge(
        registry,
        "memory.limit",
        "bytes",
        "Memory that may be taken before growth is refused",
        StoreStatus::memoryLimitBytes);
  }

  private void disk(MeterRegistry registry) {
    disk(
        registry,
        "disk.free",
        "bytes",
        "Bytes free on the disk of the store",
        disk -> disk.freeBytes() == Long.MAX_VALUE ? Double.NaN : disk.freeBytes());
    disk(
        registry,
        "disk.reserve",
        "bytes",
        "Bytes of the disk that the journal leaves free",
        DiskState::reserveBytes);
    disk(
        registry,
        "disk.shortage",
        "",
        "1 while growth is refused because the journal has no room for its next segment, else 0",
        disk -> disk.shortage() == null ? 0 : 1);
    disk(
        registry,
        "snapshot.failing",
        "",
        "1 while the last snapshot could not be written, else 0",
        disk -> disk.snapshotFailure() == null ? 0 : 1);
  }

  /** Asked for directly: it is known even while commands wait for room. */
  private void disk(
      MeterRegistry registry,
      String name,
      String unit,
      String what,
      ToDoubleFunction<DiskState> figure) {
    Gauge.builder("millrace.store." + name, store, it -> figure.applyAsDouble(it.disk()))
        .baseUnit(unit.isEmpty() ? null : unit)
        .description(what)
        .register(registry);
  }

  private void counter(
      MeterRegistry registry, String name, String what, ToDoubleFunction<StoreStatus> figure) {
    FunctionCounter.builder("millrace.store." + name, this, it -> it.read(figure))
        .description(what)
        .register(registry);
  }

  private void gauge(
      MeterRegistry registry,
      String name,
      String unit,
      String what,
      ToDoubleFunction<StoreStatus> figure) {
    Gauge.builder("millrace.store." + name, this, it -> it.read(figure))
        .baseUnit(unit.isEmpty() ? null : unit)
        .description(what)
        .register(registry);
  }

  private void state(MeterRegistry registry, String state, ToDoubleFunction<Sample> figure) {
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

  /** Asks the store how it is doing. A stopped store goes on showing its last figures. */
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
