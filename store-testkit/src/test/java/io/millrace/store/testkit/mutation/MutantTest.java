package io.millrace.store.testkit.mutation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.classfile.Opcode;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

final class MutantTest {
  private static final String SUM = Sum.class.getName();

  /** The class that the mutants change. */
  static final class Sum {
    private long total;

    private void add(long number) {
      total += number;
    }

    long upTo(int last) {
      for (int i = 1; i <= last; i++) {
        add(i);
      }
      return total;
    }

    boolean isEven() {
      return total % 2 == 0;
    }
  }

  /** A correct test of {@link Sum}. */
  static final class SumRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      Sum sum = new Sum();
      assertThat(sum.upTo((int) seed)).as("the sum").isEqualTo(seed * (seed + 1) / 2);
      assertThat(sum.isEven()).as("even").isEqualTo(seed * (seed + 1) % 4 == 0);
    }
  }

  @Test
  void each_kind_of_change_is_noticed_by_a_test_of_what_it_breaks() {
    assertFails(Mutant.of(SUM, "upTo").withoutCall("add"), 1, "the sum");
    assertFails(Mutant.of(SUM, "add").withoutAssignment("total"), 1, "the sum");
    assertFails(Mutant.of(SUM, "add").returningNothing(), 1, "the sum");
    assertFails(Mutant.of(SUM, "upTo").withConstant(1, 2), 1, "the sum");
    assertFails(Mutant.of(SUM, "upTo").withJump(Opcode.IF_ICMPGT, Opcode.IF_ICMPGE), 1, "the sum");
    assertFails(Mutant.of(SUM, "isEven").returning(1), 1, "even");
    assertFails(Mutant.of(SUM, "isEven").returningNothing(), 3, "even");
    assertFails(
        Mutant.of(SumRun.class.getName(), "accept").withCallReturning("upTo", 3L), 1, "sum");
  }

  @Test
  void a_mutant_that_no_run_notices_is_an_error() {
    Mutant mutant = Mutant.of(SUM, "isEven").returningNothing();
    assertThatThrownBy(() -> mutant.firstFailure(2, SumRun.class))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("isEven was not noticed by 2 runs");
  }

  @Test
  void a_change_that_does_not_apply_is_an_error() {
    assertThatThrownBy(
            () -> Mutant.of(SUM, "upTo").withoutCall("subtract").firstFailure(1, SumRun.class))
        .hasMessageContaining("upTo changes");
    assertThatThrownBy(
            () -> Mutant.of(SUM, "missing").withoutCall("add").firstFailure(1, SumRun.class))
        .hasMessageContaining("missing changes");
    assertThatThrownBy(() ->
            Mutant.of("io.millrace.Missing", "any").returning(0).firstFailure(1, SumRun.class))
        .hasMessageContaining("never used, or not there: [io.millrace.Missing]");
  }

  @Test
  void the_code_of_other_tests_is_left_alone() {
    assertThat(Mutant.of(SUM, "upTo").withoutCall("add").firstFailure(1, SumRun.class).seed())
        .isEqualTo(1);
    new SumRun().accept(10);
  }

  private static void assertFails(Mutant mutant, long seed, String what) {
    Mutant.Failure failure = mutant.firstFailure(5, SumRun.class);
    assertThat(failure.seed()).isEqualTo(seed);
    assertThat(failure.failure()).hasMessageContaining(what);
  }
}
