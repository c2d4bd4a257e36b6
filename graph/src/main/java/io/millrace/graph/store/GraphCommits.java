package io.millrace.graph.store;

import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.graph.GraphException;
import io.millrace.graph.GraphException.GraphFullException;
import io.millrace.graph.store.GraphSession.DocumentWrite;
import io.millrace.graph.store.GraphSession.Head;
import io.millrace.graph.store.GraphSession.TransactionLimits;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreException;
import io.millrace.store.Transaction;
import io.millrace.work.GroupCommit;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits changes of the graph; those that arrive together go into one transaction. After a commit
 * that failed or whose outcome is unknown, the graph is loaded again. Safe for use by threads.
 */
final class GraphCommits {
  private static final Logger LOG = LoggerFactory.getLogger(GraphCommits.class);
  private static final GraphEvent NONE = new GraphEvent(0, List.of(), List.of());
  private static final int ATTEMPTS = 20;

  private final GraphSession session;
  private final InstantSource clock;
  private final ReadModel readModel;
  private final TransactionLimits limits;
  private final Consumer<String> discard;
  private final GroupCommit<Request<?>> group = new GroupCommit<>("graph-commit", this::commitSome);

  private volatile Head head;

  /** Null if the graph has to be loaded again. Used under the lock of {@link #group}, as below. */
  private @Nullable WriteModel model;

  /** Whether the current commit may have reached the store. */
  private boolean submitted;

  /**
   * A change of the graph. It checks everything first and changes the graph only then, so that an
   * operation that throws has changed nothing. It may be run again on the graph as it is then.
   */
  @FunctionalInterface
  interface Operation<T> {
    T run(WriteModel model);
  }

  /**
   * What is committed together with an operation.
   *
   * @param <T> the result of the operation
   */
  @FunctionalInterface
  interface Joint<T> {
    /**
     * Adds to the transaction of the operation, and commits it.
     *
     * @return null if something changed in between, and nothing was committed
     */
    Outcome.@Nullable Done commit(Transaction.Builder transaction, T value);
  }

  /**
   * The result of a durable operation.
   *
   * @param value the operation's own result
   * @param event the changes that it made
   */
  record Done<T>(T value, GraphEvent event) {}

  /** An operation that waits for its commit. */
  private static final class Request<T> extends GroupCommit.Request<Done<T>> {
    private final Operation<T> operation;

    /** What it is committed with, in a transaction without other operations; null for nothing. */
    private final @Nullable Joint<T> joint;

    /** False if something changed in between that the joint part was decided on. */
    private boolean committed = true;

    // The result of the last attempt.
    private @Nullable T value;
    private @Nullable RuntimeException refusal;
    private GraphEvent event = NONE;
    private int place;

    Request(Operation<T> operation, @Nullable Joint<T> joint) {
      this.operation = operation;
      this.joint = joint;
    }

    /** Commits it with its joint part; null if something changed in between. */
    Outcome.@Nullable Done commitJoint(Transaction.Builder transaction) {
      return Objects.requireNonNull(joint).commit(transaction, Objects.requireNonNull(value));
    }

    /** Completes it without a change. */
    void giveUp() {
      committed = false;
      complete(new Done<>(Objects.requireNonNull(value), NONE));
    }

    /**
     * Runs it on a write model.
     *
     * @throws StoreException if the store does not answer; the write model is then useless
     */
    void attempt(WriteModel model) {
      value = null;
      refusal = null;
      try {
        value = operation.run(model);
      } catch (StoreException e) {
        // It could not even check.
        throw e;
      } catch (RuntimeException e) {
        refusal = e;
      }
      event = Objects.requireNonNullElse(model.event(), NONE);
      if (refusal != null && hasEvent()) {
        throw new GraphException("a change broke off half done", refusal);
      }
    }

    void tell(List<GraphEvent> events) {
      place = events.size();
      if (hasEvent()) {
        events.add(event);
      }
    }

    /** Completes it, with all events as they were published. */
    void succeed(List<GraphEvent> published) {
      if (refusal != null) {
        fail(refusal);
      } else {
        complete(
            new Done<>(Objects.requireNonNull(value), hasEvent() ? published.get(place) : NONE));
      }
    }

    private boolean hasEvent() {
      return event.version() > 0;
    }
  }

  /**
   * Loads the graph.
   *
   * @param discard takes the names of blobs that are no longer referred to
   */
  GraphCommits(
      GraphSession session,
      InstantSource clock,
      ReadModel readModel,
      TransactionLimits limits,
      Consumer<String> discard) {
    this.session = session;
    this.clock = clock;
    this.readModel = readModel;
    this.limits = limits;
    this.discard = discard;
    this.head = session.open();
    this.model = load();
  }

  /** A secret of the servers of this graph; it does not change once there is a node. */
  byte[] secret() {
    return head.secret().toArray();
  }

  /**
   * Runs an operation, and returns once it is durable. If the operation throws, the exception is
   * thrown here once all that the operation has read is durable.
   *
   * @throws GraphFullException if the store has no room
   * @throws OutcomeUnknownException if the store stopped before the outcome was certain
   * @throws StoreException if the store is closed; nothing has changed
   */
  <T> Done<T> run(Operation<T> operation) {
    Request<T> request = new Request<>(operation, null);
    group.run(request);
    return request.result();
  }

  /**
   * Runs an operation as {@link #run} does, and commits it together with something else.
   *
   * @param joint called once at most
   * @return null if something changed in between that {@code joint} was decided on; nothing has
   *     changed then
   */
  <T> @Nullable Done<T> runWith(Operation<T> operation, Joint<T> joint) {
    Request<T> request = new Request<>(operation, joint);
    group.run(request);
    Done<T> done = request.result();
    return request.committed ? done : null;
  }

  /** Takes as many requests as fit into one transaction, and commits them. */
  private void commitSome(GroupCommit.Waiting<Request<?>> waiting) {
    List<Request<?>> taken = new ArrayList<>();
    List<Request<?>> joint = new ArrayList<>();
    submitted = false;
    try {
      WriteModel now = current();
      Request<?> request = waiting.take();
      while (request != null) {
        if (request.joint == null) {
          taken.add(request);
          request.attempt(now);
        } else {
          joint.add(request);
        }
        request = now.size() < limits.documents() / 2 ? waiting.take() : null;
      }
      settle(now, taken);
      joint.forEach(this::settleJoint);
    } catch (RuntimeException | Error e) {
      model = null;
      throw failure(e);
    }
  }

  /**
   * The exception for each request of a failed commit. Their threads did not call the store
   * themselves, so it has to say whether the graph may have changed.
   */
  private RuntimeException failure(Throwable cause) {
    if (submitted && !isExpected(cause)) {
      LOG.error("changes of the graph may be stored or not: their commit failed", cause);
      return new OutcomeUnknownException(
          "the commit failed, and it is unknown whether the graph has changed: " + cause, cause);
    }
    return cause instanceof RuntimeException e
        ? e
        : new GraphException("a change was not carried out: " + cause, cause);
  }

  private static boolean isExpected(Throwable failure) {
    return failure instanceof StoreException || failure instanceof GraphException;
  }

  /** The current graph, loaded again if necessary. */
  private WriteModel current() {
    if (model == null) {
      head = session.take();
      model = load();
    }
    return model;
  }

  private WriteModel load() {
    head = session.tidy(head);
    List<StoredNode> nodes = new ArrayList<>();
    session.pages(Keys.NODES).forEach(document -> nodes.add(StoredNode.read(document)));
    WriteModel loaded = new WriteModel(session, clock, head, nodes);
    if (loaded.version() == readModel.version()) {
      loaded.seenAs(readModel);
    } else {
      readModel.replace(loaded);
    }
    return loaded;
  }

  /** Restores the graph as it was before a commit for which there was no room, from memory. */
  private void restore() {
    model = null;
    head = session.tidy(head);
    WriteModel before = new WriteModel(session, clock, head, readModel.stored());
    before.seenAs(readModel);
    model = before;
  }

  private void settle(WriteModel first, List<Request<?>> taken) {
    WriteModel now = first;
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

  /** Commits; false if nothing has happened and it is to be tried again. */
  private boolean isSettled(WriteModel changed, List<Request<?>> taken) {
    if (changed.size() > 0) {
      Head after;
      try {
        after = commit(changed, null);
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
        model = null;
        return false;
      }
      head = after;
      spread();
    }
    publish(changed, taken);
    return true;
  }

  private void publish(WriteModel changed, List<Request<?>> taken) {
    List<GraphEvent> events = new ArrayList<>();
    taken.forEach(request -> request.tell(events));
    List<GraphEvent> told = readModel.publish(events, changed);
    changed.discarded().forEach(discard);
    changed.begin();
    taken.forEach(request -> request.succeed(told));
  }

  /** Settles a request that is committed with something else. */
  private void settleJoint(Request<?> request) {
    WriteModel now = current();
    request.attempt(now);
    try {
      if (now.size() > 0) {
        Head after = commit(now, request);
        if (after == null) {
          // Either the head or the other part has changed; the next commit tells which.
          restore();
          request.giveUp();
          return;
        }
        head = after;
      }
    } catch (StoreException e) {
      throw e;
    } catch (RuntimeException e) {
      // The other part was refused for good, or there is no room.
      restore();
      request.fail(e);
      return;
    }
    publish(now, List.of(request));
  }

  /**
   * The head after the commit; null if nothing has changed.
   *
   * @param joint the request whose joint part is committed too; null for none
   */
  private @Nullable Head commit(WriteModel changed, @Nullable Request<?> joint) {
    submitted = true;
    Head after = head.after(changed.next(), changed.version(), session.writer());
    try {
      Head begun = session.begun(head);
      if (begun == null) {
        return null;
      }
      head = begun;
      if (joint == null) {
        return session.commit(head, after, changed.fresh(), changed.changes());
      }
      List<DocumentWrite> writes = changed.fresh();
      writes.addAll(changed.changes());
      return session.commitWith(head, after, writes, joint::commitJoint);
    } catch (OutcomeUnknownException e) {
      LOG.warn("looking whether a change of the graph has happened: {}", e.toString());
      Head now = session.take();
      boolean happened = now.version() == after.version() && now.writer().equals(session.writer());
      return happened ? now : null;
    }
  }

  /**
   * Settles a request by itself, so that one that has no room does not keep others from being
   * committed.
   */
  private void settleAlone(Request<?> request) {
    WriteModel now = current();
    request.attempt(now);
    settle(now, List.of(request));
  }

  /**
   * Carries out a change. Once it is written down it has happened, whether or not it can be carried
   * out now.
   */
  private void spread() {
    try {
      head = session.finish(head);
    } catch (RuntimeException e) {
      LOG.warn("a large change of the graph will be carried out later: {}", e.toString());
      model = null;
    }
  }
}
