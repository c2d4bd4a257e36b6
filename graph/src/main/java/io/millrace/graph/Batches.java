package io.millrace.graph;

import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one place where the graph changes. Operations that arrive together share a transaction:
 * whoever holds the lock carries out those of all that wait. After a commit that failed or whose
 * outcome is not known the graph is loaded again. Safe for use by any number of threads.
 */
final class Batches {
  private static final Logger LOG = LoggerFactory.getLogger(Batches.class);
  private static final int ATTEMPTS = 20;

  private final Ledger ledger;
  private final InstantSource clock;
  private final Published published;
  private final Portion portion;
  private final Consumer<String> discard;
  private final Queue<Request<?>> queue = new ConcurrentLinkedQueue<>();
  private final ReentrantLock lock = new ReentrantLock();

  private volatile Head head;

  /** Null where the graph has to be loaded again. */
  private @Nullable Draft draft;

  /** Whether the commit under way may have reached the store; guarded by the lock. */
  private boolean submitted;

  /**
   * Loads the graph.
   *
   * @param discard takes the names of blobs that nothing names any more
   */
  Batches(
      Ledger ledger,
      InstantSource clock,
      Published published,
      Portion portion,
      Consumer<String> discard) {
    this.ledger = ledger;
    this.clock = clock;
    this.published = published;
    this.portion = portion;
    this.discard = discard;
    this.head = ledger.open();
    this.draft = load();
  }

  /** What only the servers of this graph know, for good once there is a node. */
  byte[] secret() {
    return head.secret().toArray();
  }

  /**
   * Carries out an operation, and returns once it is durable; throws what it throws, once what it
   * has seen is durable.
   *
   * @throws GraphFullException where the store has no room
   * @throws OutcomeUnknownException where the store went before the answer was certain
   * @throws StoreException where the store is closed; nothing has changed
   */
  <T> Operation.Done<T> run(Operation<T> operation) {
    Request<T> request = new Request<>(operation);
    queue.add(request);
    while (!request.isOver()) {
      if (lock.tryLock()) {
        try {
          if (!request.isOver()) {
            commitSome();
          }
        } finally {
          lock.unlock();
        }
        wakeNext();
      } else {
        request.await();
      }
    }
    return request.result();
  }

  /**
   * Has one of those go on that came too late for the last commit. Whoever finds the lock taken has
   * joined the queue before, so whoever releases it sees that.
   */
  private void wakeNext() {
    Request<?> next = queue.peek();
    if (next != null) {
      next.wake();
    }
  }

  /** Takes what is in the queue, as much as goes into one transaction, and commits it. */
  private void commitSome() {
    List<Request<?>> taken = new ArrayList<>();
    submitted = false;
    try {
      Draft now = current();
      Request<?> request = queue.poll();
      while (request != null) {
        taken.add(request);
        request.attempt(now);
        request = now.size() < portion.documents() / 2 ? queue.poll() : null;
      }
      settle(now, taken);
    } catch (RuntimeException | Error e) {
      draft = null;
      if (taken.isEmpty()) {
        queue.forEach(taken::add);
        queue.removeAll(taken);
      }
      Throwable why = submitted && !isForeseen(e) ? unforeseen(e) : e;
      taken.forEach(request -> request.fail(why));
    }
  }

  private static boolean isForeseen(Throwable failure) {
    return failure instanceof StoreException
        || failure instanceof GraphException
        || failure instanceof GraphFullException
        || failure instanceof InvalidGraphException;
  }

  /**
   * A failure of a commit as each of its operations hears it. Their threads did not call the store
   * themselves, so the exception has to say that the graph may have changed.
   */
  private static OutcomeUnknownException unforeseen(Throwable failure) {
    LOG.error("changes of the graph may be stored or not: their commit failed", failure);
    return new OutcomeUnknownException(
        "the commit failed, and nobody knows whether the graph has changed: " + failure, failure);
  }

  /** The graph to go on with. */
  private Draft current() {
    if (draft == null) {
      head = ledger.take();
      draft = load();
    }
    return draft;
  }

  private Draft load() {
    head = ledger.tidy(head);
    List<StoredNode> nodes = new ArrayList<>();
    ledger.each(Keys.NODES, "", document -> nodes.add(StoredNode.read(document)));
    Draft loaded = new Draft(ledger, clock, head, nodes);
    if (loaded.version() == published.version()) {
      loaded.seenAs(published);
    } else {
      published.replace(loaded);
    }
    return loaded;
  }

  /** The graph as it was before what had no room; all of it is in memory. */
  private void restore() {
    draft = null;
    head = ledger.tidy(head);
    Draft before = new Draft(ledger, clock, head, published.stored());
    before.seenAs(published);
    draft = before;
  }

  private void settle(Draft first, List<Request<?>> taken) {
    Draft now = first;
    for (int i = 0; i < ATTEMPTS; i++) {
      if (isSettled(now, taken)) {
        return;
      }
      now = current();
      for (Request<?> request : taken) {
        request.attempt(now);
      }
    }
    throw new GraphException("the graph changes too fast; it was tried " + ATTEMPTS + " times");
  }

  /** Commits; false where nothing has happened and it is to be tried again. */
  private boolean isSettled(Draft changed, List<Request<?>> taken) {
    if (changed.size() > 0) {
      Head after;
      try {
        after = commit(changed);
      } catch (GraphFullException e) {
        restore();
        if (taken.size() == 1) {
          taken.getFirst().fail(e);
        } else {
          taken.forEach(this::settleAlone);
        }
        return true;
      }
      if (after == null) {
        draft = null;
        return false;
      }
      head = after;
      spread();
    }
    List<GraphEvent> events = new ArrayList<>();
    taken.forEach(request -> request.tell(events));
    List<GraphEvent> told = published.publish(events, changed);
    changed.discarded().forEach(discard);
    changed.begin();
    taken.forEach(request -> request.succeed(told));
    return true;
  }

  /** The head after it; null where nothing has changed. */
  private @Nullable Head commit(Draft changed) {
    submitted = true;
    Head after = head.after(changed.next(), changed.version(), ledger.writer(), 0);
    try {
      Head begun = ledger.begun(head);
      if (begun == null) {
        return null;
      }
      head = begun;
      return ledger.commit(head, after, changed.fresh(), changed.changes());
    } catch (OutcomeUnknownException e) {
      LOG.warn("looking whether a change of the graph has happened: {}", e.toString());
      Head now = ledger.take();
      boolean happened = now.version() == after.version() && now.writer().equals(ledger.writer());
      return happened ? now : null;
    }
  }

  /** One that has no room does not keep others from theirs. */
  private void settleAlone(Request<?> request) {
    Draft now = current();
    request.attempt(now);
    settle(now, List.of(request));
  }

  /** A change that is written down has happened, whether or not it can be spread now. */
  private void spread() {
    try {
      head = ledger.finish(head);
    } catch (RuntimeException e) {
      LOG.warn("a large change of the graph will be carried out later: {}", e.toString());
      draft = null;
    }
  }
}
