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
 * Decides which partitions are for a member: signed, in the document that they were sealed for,
 * addressed to it, and not begun before. It remembers what it has begun in the newest generation, a
 * bit for each number, and accepts nothing of older ones. Used by one thread.
 */
public final class LambdaAdmission {
  private static final Logger LOG = LoggerFactory.getLogger(LambdaAdmission.class);

  /** How many partitions of others it remembers; it opens the envelopes of all others again. */
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
   * A filter that has accepted nothing yet.
   *
   * @param opener the address of a sealed lambda; throws {@link RefusedLambdaException} if it is
   *     not signed or damaged
   */
  public LambdaAdmission(String token, Function<byte[], Address> opener) {
    this.token = token;
    this.opener = opener;
  }

  /**
   * Whether the member should work on a partition. A refusal is logged once, unless the partition
   * is for another member.
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
   * Records that a partition is begun; it is not accepted again.
   *
   * @return whether it had not been begun before
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
