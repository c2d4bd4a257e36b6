package io.millrace.store.kernel.snapshots;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.StoreOptions.Limits;
import org.junit.jupiter.api.Test;

class BackupsTest {
  @Test
  void a_clock_far_ahead_at_a_restore_leaves_half_of_the_ids() {
    assertThat(Backups.minId(0)).isZero();
    assertThat(Backups.minId(Long.MAX_VALUE)).isEqualTo(Limits.LARGEST_NUMBER / 2);
    assertThat(Backups.minId(1_577_836_801_000L)).isEqualTo(1L << 22);
  }
}
