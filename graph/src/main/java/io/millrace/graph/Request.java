package io.millrace.graph;

import io.millrace.store.StoreException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An operation that waits, and what came of it. */
final class Request<T> {
  private static final GraphEvent NONE = new GraphEvent(0, List.of(), List.of());

  private final Operation<T> operation;

  /** Of the last attempt. */
  private @Nullable T value;

  private @Nullable RuntimeException refusal;
  private GraphEvent event = NONE;
  private int place;

  private volatile boolean over;
  private @Nullable Throwable failure;

  Request(Operation<T> operation) {
    this.operation = operation;
  }

  /**
   * Carries it out on a draft.
   *
   * @throws StoreException where the store does not answer; the draft is of no use then
   */
  void attempt(Draft draft) {
    value = null;
    refusal = null;
    try {
      value = operation.run(draft);
    } catch (StoreException e) {
      // It could not even look.
      throw e;
    } catch (RuntimeException e) {
      refusal = e;
    }
    event = Objects.requireNonNullElse(draft.event(), NONE);
    if (refusal != null && hasEvent()) {
      throw new GraphException("a change broke off half done", refusal);
    }
  }

  /** Adds what it did, where it did something. */
  void tell(List<GraphEvent> events) {
    place = events.size();
    if (hasEvent()) {
      events.add(event);
    }
  }

  /** Ends it, with all events as they were published. */
  void succeed(List<GraphEvent> published) {
    if (!over) {
      event = !hasEvent() ? NONE : published.get(place);
      failure = refusal;
      over = true;
    }
  }

  void fail(Throwable why) {
    if (!over) {
      failure = why;
      over = true;
    }
  }

  private boolean hasEvent() {
    return event.version() > 0;
  }

  boolean isOver() {
    return over;
  }

  /** What came of it, for the thread that waits for it. */
  Operation.Done<T> result() {
    if (failure instanceof RuntimeException e) {
      throw e;
    }
    if (failure != null) {
      throw new GraphException("a change was not carried out: " + failure, failure);
    }
    return new Operation.Done<>(Objects.requireNonNull(value), event);
  }
}
