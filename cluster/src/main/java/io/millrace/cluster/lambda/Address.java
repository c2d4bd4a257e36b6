package io.millrace.cluster.lambda;

import io.millrace.cluster.partition.PartitionName;
import java.nio.charset.StandardCharsets;

/**
 * The partition and the member that a lambda is for, or that a result is from.
 *
 * @param partition the partition whose document holds it
 * @param member the token of the member, 1 to {@value #MAX_MEMBER_BYTES} bytes of UTF-8
 */
public record Address(PartitionName partition, String member) {
  /** The maximum bytes of a member's token. */
  public static final int MAX_MEMBER_BYTES = 400;

  /** Checks the token. */
  public Address {
    int bytes = member.getBytes(StandardCharsets.UTF_8).length;
    if (bytes < 1 || bytes > MAX_MEMBER_BYTES) {
      throw new IllegalArgumentException(
          "the token of a member has 1 to %d bytes, not %d".formatted(MAX_MEMBER_BYTES, bytes));
    }
  }
}
