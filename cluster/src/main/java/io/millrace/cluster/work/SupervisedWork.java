package io.millrace.cluster.work;

import java.util.List;

/**
 * Work that is divided among the members, such as the partitions of a topic. When members join or
 * leave, all of it stops, is divided again and started again. If the work on a part returns, the
 * part is not started again until then.
 */
public interface SupervisedWork extends WorkerCode {
  /**
   * Divides the work; called by the leader.
   *
   * @param workers the total number of workers of all members, at least 1
   * @return the parts, all different; if there are more parts than workers, some wait
   */
  List<byte[]> divide(int workers);
}
