package io.millrace.cluster.remote;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.lock.LeaseLostException;
import java.io.Serializable;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * Items to be worked on, such as names of files. Each is a document of its own, in state waiting,
 * given out, or done. Items that an earlier leader gave out wait again as soon as none of its
 * lambdas is left. Safe for use by any number of threads.
 *
 * <p>The leader's program gets it from {@link RemoteExecutor#backlog}. A lambda may capture it, or
 * get it from {@link #named}. Failed writes are retried as long as the caller leads, or holds its
 * partition. A thread that is interrupted meanwhile gets a {@link ClusterException} and stays
 * interrupted.
 *
 * <p>Every method throws {@link LeaseLostException} if the caller no longer leads, or no longer
 * holds its partition, and {@link IllegalArgumentException} for an item that is empty or longer
 * than 10,000 characters.
 */
public interface Backlog extends Serializable {
  /**
   * A backlog in which a lambda can commit and add items. It is serializable, and uses the
   * documents of the member that runs the lambda.
   *
   * @param name 1 to 64 letters of {@code a} to {@code z}, digits, {@code -} and {@code _}
   */
  static Backlog named(String name) {
    return new NamedBacklog(name);
  }

  /** Adds items as waiting. Items that exist already are not changed. */
  void add(Collection<String> items);

  /**
   * Gives out waiting items, those given out least often first. Waits until there is one.
   *
   * @param max the maximum number of items, at least 1
   * @return at least one
   * @throws IllegalStateException if this is not the leader's program
   */
  List<String> take(int max) throws InterruptedException;

  /**
   * The same as {@link #take(int)}, with a maximum wait.
   *
   * @return the items; empty if there was none in that time
   */
  List<String> take(int max, Duration wait) throws InterruptedException;

  /**
   * Makes an item wait again. Does nothing if it is done or unknown.
   *
   * @throws IllegalStateException if this is not the leader's program
   */
  void reEnqueue(String item);

  /** Records permanently that an item is done, even if it was unknown. Idempotent. */
  void commit(String item);

  /** The number of items that are not done, from one listing. */
  int outstanding();
}
