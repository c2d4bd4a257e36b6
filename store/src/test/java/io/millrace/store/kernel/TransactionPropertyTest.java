package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Outcome.Reason.Kind;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Random transactions on random states, each judged by rules that are written apart from the
 * kernel. {@code -Dmillrace.transactions.seeds=N} runs more than 40 seeds, {@code
 * -Dmillrace.transactions.seed=N} replays the one that a failure names.
 */
class TransactionPropertyTest {
  private static final long SEEDS = Long.getLong("millrace.transactions.seeds", 40);

  @Test
  void a_transaction_does_all_that_it_says_or_is_refused_for_every_reason_and_no_other() {
    Long one = Long.getLong("millrace.transactions.seed");
    if (one != null) {
      new TransactionRun(one).go();
      return;
    }
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    int accepted = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      TransactionRun run = new TransactionRun(seed);
      run.go();
      kinds.addAll(run.kinds());
      accepted += run.accepted();
    }
    assertThat(kinds).as("the kinds of reasons that were met").containsExactly(Kind.values());
    assertThat(accepted).as("transactions that were done").isGreaterThan((int) SEEDS * 50);
  }
}
