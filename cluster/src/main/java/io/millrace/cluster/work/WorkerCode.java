package io.millrace.cluster.work;

import io.millrace.cluster.lock.Guard;

/** Users' code that works on tasks. Each call runs on a thread of its own, several at a time. */
public interface WorkerCode {
  /**
   * Works on a task until it is done. The thread is interrupted when the work must stop, because
   * the lock is lost or another member is to continue it.
   *
   * @param task the task, as the leader assigned it
   * @param guard proof that this member holds the task, with the fencing token
   * @throws Exception if the task was not done; it is assigned again after the lease
   */
  void run(byte[] task, Guard guard) throws Exception;
}
