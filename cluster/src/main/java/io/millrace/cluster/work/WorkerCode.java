package io.millrace.cluster.work;

import io.millrace.cluster.lock.Guard;

/** The code that works on a task. Called on a thread of its own, several at a time. */
public interface WorkerCode {
  /**
   * Works on a task until it is done. The thread is interrupted when the work is to stop: the lock
   * is lost, or another member is to go on with it.
   *
   * @param task what the leader gave out
   * @param guard proof that this member holds the task, with the fencing token
   * @throws Exception if it was not done; it is given out again after the lease
   */
  void run(byte[] task, Guard guard) throws Exception;
}
