package io.millrace.store.kernel;

import java.util.ArrayList;
import java.util.List;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whatever threads do to a mailbox at once looks as if they had done it one after the other. */
public class MailboxLincheckTest {
  /** How many scenarios are drawn; more with {@code -Pfull}. */
  private static final int SCENARIOS = Integer.getInteger("millrace.lincheck.scenarios", 4);

  private static final class Note extends Mailbox.Message {
    private final int number;

    Note(int number) {
      this.number = number;
    }

    @Override
    long sizeBytes() {
      return 10;
    }

    @Override
    void reject(RuntimeException why) {
      throw why;
    }
  }

  private final Mailbox mailbox = new Mailbox(2, 1_000);

  /**
   * The receipt tells whether the mailbox was empty, full or closed, which only one order explains.
   */
  @Operation
  public String push(@Param(gen = IntGen.class) int number) {
    return mailbox.push(new Note(number)).name();
  }

  /** Only the loop takes and closes. */
  @Operation(nonParallelGroup = "loop")
  public List<Integer> take() {
    return numbers(mailbox.take());
  }

  /** What had come before the end, in order. */
  @Operation(nonParallelGroup = "loop")
  public List<Integer> close() {
    return numbers(mailbox.close());
  }

  private static List<Integer> numbers(Mailbox.@Nullable Message first) {
    List<Integer> numbers = new ArrayList<>();
    for (Mailbox.Message message = first; message != null; message = message.next()) {
      numbers.add(((Note) message).number);
    }
    return numbers;
  }

  @Test
  void every_interleaving_of_a_few_steps_is_linear() {
    new ModelCheckingOptions()
        .iterations(SCENARIOS)
        .invocationsPerIteration(300)
        .threads(3)
        .actorsPerThread(3)
        .check(MailboxLincheckTest.class);
  }

  @Test
  void threads_at_full_speed_are_linear() {
    // Threads wait for each other by spinning: more of them than processors only take turns.
    new StressOptions()
        .iterations(SCENARIOS)
        .invocationsPerIteration(500)
        .threads(2)
        .actorsPerThread(3)
        .check(MailboxLincheckTest.class);
  }
}
