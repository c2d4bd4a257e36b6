package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.lambda.RefusedLambdaException;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionName;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which lambdas a member accepts: those that are signed, in the partition that they were
 * sealed for, addressed to this member, and not begun before. It remembers the lambdas that it has
 * begun in the newest generation, one bit for each number, and accepts none of older generations.
 * Used by one thread.
 */
public final class LambdaAdmission {
  private static final Logger LOG = LoggerFactory.getLogger(LambdaAdmission.class);

  /**
   * The number of partitions of other members that it remembers, to avoid opening their envelopes
   * again.
   */
  private static final int REMEMBERED = 1000;

  private final String token;
  private final Function<byte[], Address> opener;
  private final BitSet begun = new BitSet();
  private final Map<PartitionName, Integer> foreign =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<PartitionName, Integer> eldest) {
          return size() > REMEMBERED;
        }
      };
  private long generation;

  /**
   * Creates an admission that has accepted nothing yet.
   *
   * @param opener reads the address of a sealed lambda; throws {@link RefusedLambdaException} if it
   *     is unsigned or damaged
   */
  public LambdaAdmission(String token, Function<byte[], Address> opener) {
    this.token = token;
    this.opener = opener;
  }

  /**
   * Whether the member may run the lambda of a partition. A refusal is logged once, unless the
   * lambda is for another member.
   */
  public boolean admits(Partition partition) {
    int task = partition.task().encoded().hashCode();
    Integer known = foreign.get(partition.name());
    if (known != null && known == task) {
      return false;
    }
    boolean ours = check(partition);
    if (!ours) {
      foreign.put(partition.name(), task);
    }
    return ours;
  }

  private boolean check(Partition partition) {
    PartitionName name = partition.name();
    try {
      Address address = opener.apply(partition.taskBytes());
      if (!address.partition().equals(name)) {
        LOG.warn("{} is refused: it was sealed as {}", name.key(), address.partition().key());
        return false;
      }
      if (!address.member().equals(token)) {
        return false;
      }
    } catch (RefusedLambdaException e) {
      LOG.warn("{} is refused: {}", name.key(), e.getMessage());
      return false;
    }
    if (!isNew(name)) {
      LOG.warn("{} is refused: it was begun before", name.key());
      return false;
    }
    return true;
  }

  private boolean isNew(PartitionName name) {
    boolean countable = name.number() < Integer.MAX_VALUE;
    return countable
        && (name.generation() > generation
            || (name.generation() == generation && !begun.get((int) name.number())));
  }

  /**
   * Records that a lambda is begun, so that it is not accepted again.
   *
   * @return whether it was not begun before
   */
  public boolean begin(PartitionName name) {
    if (!isNew(name)) {
      return false;
    }
    if (name.generation() > generation) {
      generation = name.generation();
      begun.clear();
    }
    begun.set((int) name.number());
    return true;
  }
}
