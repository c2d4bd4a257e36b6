package io.millrace.cluster.member;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.partition.Work;
import io.millrace.cluster.work.WorkerCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Works on each partition in a thread of its own. */
final class ThreadedWork implements Work {
  private static final Logger LOG = LoggerFactory.getLogger(ThreadedWork.class);

  private final WorkerCode code;
  private final Seat seat;

  /** Work that is done by users' code. */
  ThreadedWork(WorkerCode code, Seat seat) {
    this.code = code;
    this.seat = seat;
  }

  @Override
  public Attempt begin(PartitionName name, byte[] task, Guard guard) {
    return new ThreadAttempt(task, guard);
  }

  private final class ThreadAttempt implements Attempt {
    private final Thread thread;
    private volatile State state = State.RUNNING;

    ThreadAttempt(byte[] task, Guard guard) {
      thread =
          Thread.ofVirtual()
              .name("partition-" + guard.fence())
              .start(() -> {
                State end = State.FAILED;
                try {
                  end = run(task, guard);
                } finally {
                  // Whatever was thrown: a partition whose work is over must not stay taken.
                  state = end;
                  seat.callMember();
                }
              });
    }

    @Override
    public State state() {
      return state;
    }

    @Override
    public void stop() {
      thread.interrupt();
    }

    private State run(byte[] task, Guard guard) {
      try {
        seat.carry(
            guard,
            () -> {
              code.run(task, guard);
              return State.SUCCEEDED;
            });
        return State.SUCCEEDED;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        LOG.info("Work with fence {} was stopped", guard.fence());
      } catch (ClusterException e) {
        LOG.warn("Work with fence {} failed: {}", guard.fence(), e.getMessage());
      } catch (Exception e) {
        LOG.warn("Work with fence {} failed", guard.fence(), e);
      } catch (LinkageError | StackOverflowError | AssertionError e) {
        LOG.error("Work with fence {} failed", guard.fence(), e);
      }
      return State.FAILED;
    }
  }
}
