package io.millrace.cluster.work;

import io.millrace.cluster.lock.Guard;

/**
 * Work that cannot be divided, such as listening on a port. One member does it, and another one
 * takes over if that member is gone. The work is finished when {@link #run} returns.
 */
public interface SingleWork {
  /**
   * Does the work. The thread is interrupted when the work must stop.
   *
   * @param guard proof that no other member does it, with the fencing token
   * @throws Exception if the work is not finished: a member starts it again after the lease
   */
  void run(Guard guard) throws Exception;
}
