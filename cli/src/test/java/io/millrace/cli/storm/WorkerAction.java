package io.millrace.cli.storm;

import java.util.SplittableRandom;

/** What a worker does with a job. */
enum WorkerAction {
  RESULT(62),
  /** Progress first. */
  RESULT_AFTER_PROGRESS(8),
  /** It takes longer than a silent job is left alone, and says that it is busy when asked. */
  RESULT_AFTER_LONG_WORK(1),
  FAILURE(6),
  /** Not a word until the job was taken back, then its result. */
  LATE_RESULT(3),
  /** Not a word until the job was taken back, then "ready". */
  FORGET(2),
  /** Not a word, then it is gone. */
  STALL_AND_LEAVE(2),
  LEAVE(4),
  RESULT_AND_LEAVE(4),
  HALF_A_RESULT_AND_LEAVE(4),
  GARBAGE(4);

  private final int weight;

  WorkerAction(int weight) {
    this.weight = weight;
  }

  /** One of them. */
  static WorkerAction any(SplittableRandom random) {
    int sum = 0;
    for (WorkerAction deed : values()) {
      sum += deed.weight;
    }
    int dice = random.nextInt(sum);
    for (WorkerAction deed : values()) {
      dice -= deed.weight;
      if (dice < 0) {
        return deed;
      }
    }
    throw new IllegalStateException();
  }
}
