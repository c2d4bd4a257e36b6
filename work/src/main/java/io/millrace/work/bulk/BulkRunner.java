package io.millrace.work.bulk;

import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.StoreException;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.Backoff;
import io.millrace.work.Step;
import io.millrace.work.bulk.BulkAction.State;
import io.millrace.work.bulk.BulkActions.BulkSession;
import io.millrace.work.bulk.BulkException.BatchTooLargeException;
import io.millrace.work.bulk.BulkException.BulkFullException;
import io.millrace.work.bulk.BulkException.InvalidBulkException;
import io.millrace.work.bulk.BulkProgress.Skip;
import io.millrace.work.bulk.BulkTarget.Item;
import io.millrace.work.bulk.BulkTarget.Page;
import io.millrace.work.bulk.BulkTarget.Selection;
import io.millrace.work.filter.FilterException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out bulk actions, a batch of each in turn. Everything that counts is in the store; what
 * it keeps in memory only says how large the next batch is. Step-driven; for use by one thread.
 */
public final class BulkRunner implements Step {
  private static final Logger LOG = LoggerFactory.getLogger(BulkRunner.class);

  /** How many items one transaction changes: few enough not to hold up other commits. */
  static final int BATCH = 200;

  /** After so many conflicts in a row, the next batch is half as large. */
  private static final int CONFLICTS = 3;

  /** After so many conflicts in a row, a single item is left alone. */
  private static final int MAX_CONFLICTS = 20;

  /** After so many failures in a row, an action cannot go on. */
  private static final int MAX_FAILURES = 10;

  private static final Duration PRUNE_EVERY = Duration.ofHours(1);
  static final String GONE = "it changed meanwhile, and does not match any more";
  static final String TOO_FAST = "it changes too fast";

  private final BulkSession session;
  private final Map<String, BulkTarget<?>> targets;
  private final Listener listener;
  private final Map<String, Pace> paces = new HashMap<>();
  private Instant pruneDue = Instant.EPOCH;

  BulkRunner(BulkSession session, List<BulkTarget<?>> targets, Listener listener) {
    this.session = session;
    this.targets = targets.stream().collect(Collectors.toMap(BulkTarget::kind, each -> each));
    this.listener = listener;
  }

  /** Hears of changes. */
  @FunctionalInterface
  public interface Listener {
    /** Some items were changed, in a transaction that is durable now. */
    void changed(BulkAction action, List<? extends Item> items);
  }

  /** When the next batch of an action is due, and what it has been made of so far. */
  private static final class Pace {
    private final Backoff backoff = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(30));
    private Instant due = Instant.EPOCH;
    private int failures;
    private @Nullable Execution<?> execution;
  }

  @Override
  public Instant step(Instant now) {
    List<BulkAction> running = session.running();
    paces.keySet().retainAll(running.stream().map(BulkAction::id).collect(Collectors.toSet()));
    Instant next = prune(now);
    for (BulkAction action : running) {
      Pace pace = paces.computeIfAbsent(action.id(), _ -> new Pace());
      if (!pace.due.isAfter(now)) {
        advance(action, pace, now);
      }
      next = pace.due.isBefore(next) ? pace.due : next;
    }
    return next;
  }

  private void advance(BulkAction action, Pace pace, Instant now) {
    try {
      Execution<?> execution = pace.execution;
      if (execution == null) {
        execution = begin(action);
        pace.execution = execution;
      }
      if (execution.advance(action, now)) {
        pace.failures = 0;
        var _ = pace.backoff.succeeded();
      }
    } catch (StoreException e) {
      throw e;
    } catch (BulkFullException e) {
      pace.due = now.plus(pace.backoff.next());
      LOG.warn("bulk action {} waits, since the store is full: {}", action.id(), e.getMessage());
    } catch (InvalidBulkException e) {
      fail(action, now, String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      pace.failures++;
      pace.due = now.plus(pace.backoff.next());
      LOG.warn("bulk action {} failed {} times in a row", action.id(), pace.failures, e);
      if (pace.failures == MAX_FAILURES) {
        fail(action, now, String.valueOf(e.getMessage()));
      }
    }
  }

  private Execution<?> begin(BulkAction action) {
    BulkTarget<?> target = targets.get(action.order().kind());
    if (target == null) {
      throw new InvalidBulkException("there are no " + action.order().kind());
    }
    return begin(target, action);
  }

  private <I extends Item> Execution<I> begin(BulkTarget<I> target, BulkAction action) {
    try {
      return new Execution<>(target.select(action.order(), action.createdMillis()));
    } catch (FilterException e) {
      throw new InvalidBulkException(String.valueOf(e.getMessage()));
    }
  }

  private void fail(BulkAction action, Instant now, String problem) {
    Transaction.Builder transaction = session.begin();
    BulkSession.put(transaction, action.ended(State.FAILED, now.toEpochMilli(), problem));
    if (session.tryCommit(transaction.build()) != null) {
      LOG.warn("bulk action {} has failed: {}", action.id(), problem);
    }
  }

  /** The batches of one action. */
  private final class Execution<I extends Item> {
    private final Selection<I> selection;
    private int size = BATCH;
    private int conflicts;

    /** The items that were read and not visited yet, in order. */
    private List<String> expected = List.of();

    Execution(Selection<I> selection) {
      this.selection = selection;
    }

    /** Visits the next items; false if something has changed in between. */
    boolean advance(BulkAction action, Instant now) {
      Page<I> page = selection.page(action.progress().after(), size);
      if (expected.isEmpty()) {
        expected = page.items().stream().map(Item::id).toList();
      }
      Batch<I> batch = new Batch<>(action, page, expected, now);
      if (!commit(batch) && !leavesAlone(batch)) {
        return false;
      }
      conflicts = 0;
      size = Math.min(BATCH, 2 * size);
      expected = batch.left();
      List<I> changed = batch.changed();
      if (!changed.isEmpty()) {
        listener.changed(action, changed);
      }
      return true;
    }

    private boolean commit(Batch<I> batch) {
      List<I> items = batch.page.items();
      try {
        return items.isEmpty()
            ? batch.commit(session.begin(), List.of()) != null
            : selection.apply(items, batch::commit);
      } catch (BatchTooLargeException e) {
        if (items.size() == 1) {
          return batch.skip(String.valueOf(e.getMessage())) != null;
        }
        size = items.size() / 2;
        return false;
      }
    }

    /** Makes batches smaller after conflicts, until a single item is left alone. */
    private boolean leavesAlone(Batch<I> batch) {
      conflicts++;
      if (conflicts % CONFLICTS == 0) {
        size = Math.max(1, Math.min(size, batch.page.items().size()) / 2);
      }
      return conflicts >= MAX_CONFLICTS
          && batch.page.items().size() == 1
          && batch.skip(TOO_FAST) != null;
    }
  }

  /** The items of one transaction. */
  private final class Batch<I extends Item> {
    private final BulkAction action;
    private final Page<I> page;
    private final List<String> expected;
    private final Instant now;
    private Set<String> skipped = Set.of();

    Batch(BulkAction action, Page<I> page, List<String> expected, Instant now) {
      this.action = action;
      this.page = page;
      this.expected = expected;
      this.now = now;
    }

    Outcome.@Nullable Done commit(Transaction.Builder transaction, List<Skip> skips) {
      skipped = skips.stream().map(Skip::id).collect(Collectors.toUnmodifiableSet());
      List<Skip> all = new ArrayList<>(skips);
      gone().forEach(id -> all.add(new Skip(id, GONE)));
      BulkAction next =
          action.at(action.progress().plus(page.after(), page.items().size() - skips.size(), all));
      BulkSession.put(
          transaction, page.isLast() ? next.ended(State.DONE, now.toEpochMilli(), null) : next);
      return session.tryCommit(transaction.build());
    }

    /** Leaves all items of the page alone. */
    Outcome.@Nullable Done skip(String reason) {
      return commit(
          session.begin(), page.items().stream().map(item -> new Skip(item.id(), reason)).toList());
    }

    /** Up to where the expected items have been visited with this page. */
    private int visited() {
      if (page.isLast()) {
        return expected.size();
      }
      int visited = 0;
      for (I item : page.items()) {
        visited = Math.max(visited, expected.indexOf(item.id()) + 1);
      }
      return visited;
    }

    /** Those that were read before and are not among the items any more. */
    private List<String> gone() {
      Set<String> there = new HashSet<>();
      page.items().forEach(item -> there.add(item.id()));
      return expected.subList(0, visited()).stream().filter(id -> !there.contains(id)).toList();
    }

    List<String> left() {
      return List.copyOf(expected.subList(visited(), expected.size()));
    }

    List<I> changed() {
      return page.items().stream().filter(item -> !skipped.contains(item.id())).toList();
    }
  }

  private Instant prune(Instant now) {
    if (pruneDue.isAfter(now)) {
      return pruneDue;
    }
    List<Document> ended = session.ended();
    long limitMillis = now.minus(BulkActions.KEEP).toEpochMilli();
    int excess = ended.size() - BulkActions.MAX_ENDED;
    for (Document document : ended) {
      if (excess-- > 0 || BulkAction.read(document).endedMillis() < limitMillis) {
        session.commit(session.begin().delete(document.key(), DocumentVersion.ANY).build());
      }
    }
    pruneDue = now.plus(PRUNE_EVERY);
    return pruneDue;
  }
}
