package io.millrace.store.kernel;

import io.millrace.store.GroupSummary;
import io.millrace.store.Limits;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreStatus;
import io.millrace.store.kernel.state.State;
import java.util.List;

/** What a store tells of itself. */
final class Census {
  private Census() {}

  /** The store's status now. For the loop's thread. */
  static StoreStatus take(StoreLoop loop, StoreOptions options) {
    Engine engine = loop.engine();
    State state = engine.state();
    JournalFeed feed = loop.outlets().feed();
    Counters counters = engine.counters();
    Limits limits = options.limits();
    long nowNanos = options.environment().nanos();
    List<GroupSummary> groups = state.freezeSummaries();
    return new StoreStatus(
        engine.position(),
        engine.position(feed.durableCommits()),
        loop.clock().millis(),
        options.journaling(),
        state.taskCount(),
        groups.size(),
        state.documentCount(),
        loop.waiting().size(),
        loop.outlets().broadcast().size(),
        state.requests().size(),
        state.memoryBytes(),
        limits.memoryBytes(),
        feed.unsyncedBytes(),
        (nowNanos - feed.unsyncedSinceNanos(nowNanos)) / 1_000_000,
        counters.committed,
        counters.claimed,
        counters.empty,
        counters.refused,
        counters.repeated,
        feed.frames(),
        loop.outlets().snapshots().published());
  }
}
