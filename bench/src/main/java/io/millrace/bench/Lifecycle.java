package io.millrace.bench;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Lifecycles one after the other: a task is added, a task is claimed, the claimed task is deleted.
 * For use by one thread.
 */
final class Lifecycle {
  /** The group of the tasks, unless another one is given. */
  static final String GROUP = "bench";

  /** The data of every task. */
  static final Bytes DATA = Bytes.of("0123456789abcdef0123456789abcdef");

  /** Data equal to {@link #DATA} in memory of its own. */
  static Bytes data() {
    return Bytes.copyOf(DATA.toArray());
  }

  private final TaskStore store;
  private final Owner client;
  private final Transaction add;
  private final Claim claim;
  private Step step = Step.ADD;
  private @Nullable CompletableFuture<Outcome> answer;
  private Transaction deletion;
  private long beganNanos;
  private long askedNanos;

  Lifecycle(TaskStore store, Owner client) {
    this(store, client, GROUP);
  }

  /** The same with tasks of another group. */
  Lifecycle(TaskStore store, Owner client, String group) {
    this.store = store;
    this.client = client;
    this.add = Transaction.by(client).add(group, DATA).build();
    this.deletion = add;
    this.claim = Claim.of(client, group, Duration.ofMinutes(10));
  }

  /** Waits for the answer that is due, if any; returns whether it ended a lifecycle. */
  boolean awaitAnswer() {
    if (answer == null) {
      return false;
    }
    Outcome.Done done = answer.join().done();
    answer = null;
    return advance(done);
  }

  /** Sends the next command and waits for its answer; returns whether that ended a lifecycle. */
  boolean call() {
    Outcome outcome =
        switch (step) {
          case ADD -> store.commit(add);
          case CLAIM -> store.claim(claim);
          case DELETE -> store.commit(deletion);
        };
    return advance(outcome.done());
  }

  private boolean advance(Outcome.Done done) {
    if (step == Step.CLAIM) {
      deletion = Transaction.by(client).delete(done.tasks().getFirst().ref()).build();
    }
    boolean ended = step == Step.DELETE;
    step = step.next();
    return ended;
  }

  /** Whether no command is under way. */
  boolean isIdle() {
    return answer == null;
  }

  /** Sends the next command to the store. */
  void ask() {
    askedNanos = System.nanoTime();
    switch (step) {
      case ADD -> {
        beganNanos = askedNanos;
        answer = store.submit(add);
      }
      case CLAIM -> answer = store.submit(claim);
      case DELETE -> answer = store.submit(deletion);
    }
  }

  /** When the lifecycle that ended last began. */
  long beganNanos() {
    return beganNanos;
  }

  /** When the last command was sent. */
  long askedNanos() {
    return askedNanos;
  }

  /** The steps of a lifecycle. */
  enum Step {
    /** A task is added. */
    ADD,
    /** A task is claimed. */
    CLAIM,
    /** The claimed task is deleted. */
    DELETE;

    /** The next step; after the last one, the first. */
    Step next() {
      return switch (this) {
        case ADD -> CLAIM;
        case CLAIM -> DELETE;
        case DELETE -> ADD;
      };
    }
  }
}
