package io.millrace.cluster.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Peer;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class SharesTest {
  @Test
  void shares_are_in_proportion_to_workers_and_add_up() {
    MemberList members = new MemberList(List.of(new Peer("a", 5), new Peer("b", 3)));
    assertThat(PartitionRunner.Shares.of("a", members, 8)).isEqualTo(5);
    assertThat(PartitionRunner.Shares.of("b", members, 8)).isEqualTo(3);
    assertThat(PartitionRunner.Shares.of("a", members, 1)).isEqualTo(1);
    assertThat(PartitionRunner.Shares.of("b", members, 1)).isZero();
    assertThat(PartitionRunner.Shares.of("a", members, 100)).isEqualTo(5);
    assertThat(PartitionRunner.Shares.of("nobody", members, 8)).isZero();
    assertThat(PartitionRunner.Shares.of("a", MemberList.EMPTY, 8)).isZero();
  }

  @Test
  void each_partition_has_a_member_and_no_share_is_off_by_one_or_exceeds_the_workers() {
    SplittableRandom random = new SplittableRandom(7);
    for (int round = 0; round < 2000; round++) {
      int count = random.nextInt(1, 9);
      MemberList members =
          new MemberList(
              IntStream.range(0, count)
                  .mapToObj(i -> new Peer("m" + i, random.nextInt(1, 9)))
                  .toList());
      int partitions = random.nextInt(0, 60);
      int all = Math.min(partitions, members.workers());
      int sum = 0;
      for (Peer peer : members.nodes()) {
        int share = PartitionRunner.Shares.of(peer.token(), members, partitions);
        sum += share;
        double exact = (double) all * peer.workers() / members.workers();
        assertThat(Math.abs(share - exact)).isLessThan(1);
        assertThat(share).isLessThanOrEqualTo(peer.workers());
      }
      assertThat(sum).isEqualTo(all);
    }
  }
}
