package io.millrace.cluster.member;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.partition.PartitionHandler;
import java.util.function.Predicate;

/** Work on one partition in a virtual thread of its own. Safe for use by any number of threads. */
public final class ThreadAttempt implements PartitionHandler.Attempt {
  private final Guard guard;
  private final Thread thread;
  private volatile PartitionHandler.State state = PartitionHandler.State.RUNNING;
  private volatile boolean stopped;

  private ThreadAttempt(String name, Member member, Guard guard, Predicate<ThreadAttempt> body) {
    this.guard = guard;
    this.thread = Thread.ofVirtual().name(name).unstarted(() -> run(member, body));
  }

  /**
   * Starts the work.
   *
   * @param name the name of the thread
   * @param guard proof that the partition is held
   * @param body does the work and returns whether it succeeded; an exception means failure
   */
  public static ThreadAttempt start(
      String name, Member member, Guard guard, Predicate<ThreadAttempt> body) {
    ThreadAttempt attempt = new ThreadAttempt(name, member, guard, body);
    attempt.thread.start();
    return attempt;
  }

  private void run(Member member, Predicate<ThreadAttempt> body) {
    PartitionHandler.State end = PartitionHandler.State.FAILED;
    try {
      end = body.test(this) ? PartitionHandler.State.SUCCEEDED : PartitionHandler.State.FAILED;
    } finally {
      // A partition whose work has ended must be settled, whatever was thrown.
      state = end;
      member.wake();
    }
  }

  @Override
  public PartitionHandler.State state() {
    return state;
  }

  @Override
  public void stop() {
    stopped = true;
    thread.interrupt();
  }

  /**
   * Whether it was stopped or has lost its partition. If so, exceptions of its code are expected.
   */
  public boolean isToStop() {
    return stopped || !guard.isHeld();
  }
}
