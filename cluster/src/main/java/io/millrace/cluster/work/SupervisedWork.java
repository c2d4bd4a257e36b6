package io.millrace.cluster.work;

import java.util.List;

/**
 * Work that is divided once among the members that there are, such as the partitions of a topic.
 * When members come or go all of it stops, is divided anew and started again. A part whose work
 * returns is not done again before that.
 */
public interface SupervisedWork extends WorkerCode {
  /**
   * Divides the work; called by the leader.
   *
   * @param workers how many workers the members have together, at least 1
   * @return the parts, no two alike; more than there are workers wait for one
   */
  List<byte[]> divide(int workers);
}
