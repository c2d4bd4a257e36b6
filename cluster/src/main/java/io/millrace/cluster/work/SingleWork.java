package io.millrace.cluster.work;

import io.millrace.cluster.lock.Guard;

/**
 * Work that cannot be divided, such as listening on a port. One member does it, and if that is gone
 * another one takes over. The work is over when {@link #run} returns.
 */
public interface SingleWork {
  /**
   * Does the work. The thread is interrupted when it is to stop.
   *
   * @param guard proof that no other member does it, with the fencing token
   * @throws Exception if it is not over: a member does it again after the lease
   */
  void run(Guard guard) throws Exception;
}
