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
    private volatile boolean stopped;

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
      stopped = true;
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
      } catch (Throwable e) {
        // Users' code may throw anything, and only a state other than RUNNING ends the attempt.
        if (e instanceof InterruptedException) {
          Thread.currentThread().interrupt();
        }
        log(e, guard);
        return State.FAILED;
      }
    }

    /** Code that is interrupted, or has lost its partition, throws exceptions of any kind. */
    private void log(Throwable thrown, Guard guard) {
      if (thrown instanceof Error) {
        LOG.error("Work with fence {} failed", guard.fence(), thrown);
      } else if (stopped || !guard.isHeld()) {
        String why = thrown instanceof ClusterException ? thrown.getMessage() : thrown.toString();
        LOG.info("Work with fence {} was stopped: {}", guard.fence(), why);
      } else if (thrown instanceof ClusterException) {
        LOG.warn("Work with fence {} failed: {}", guard.fence(), thrown.getMessage());
      } else {
        LOG.warn("Work with fence {} failed", guard.fence(), thrown);
      }
    }
  }
}
