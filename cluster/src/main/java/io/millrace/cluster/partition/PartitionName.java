package io.millrace.cluster.partition;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a partition.
 *
 * @param generation the fence of its leader
 * @param number counts the partitions of a leader
 */
public record PartitionName(long generation, long number) implements Comparable<PartitionName> {
  /** The prefix of the keys of all partitions. */
  public static final String PREFIX = "partition/";

  private static final Pattern KEY = Pattern.compile(PREFIX + "(\\d{1,18})-(\\d{1,18})");
  private static final Comparator<PartitionName> ORDER =
      Comparator.comparingLong(PartitionName::generation).thenComparingLong(PartitionName::number);

  /** The key of its document. */
  public String key() {
    return PREFIX + generation + "-" + number;
  }

  /** The partition with this key; empty if it is not the key of a partition. */
  public static Optional<PartitionName> of(String key) {
    Matcher matcher = KEY.matcher(key);
    return matcher.matches()
        ? Optional.of(
            new PartitionName(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2))))
        : Optional.empty();
  }

  @Override
  public int compareTo(PartitionName other) {
    return ORDER.compare(this, other);
  }
}
