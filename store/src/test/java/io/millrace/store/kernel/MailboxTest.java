package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Claim;
import io.millrace.store.Owner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many threads push while one takes and then closes. */
@Timeout(60)
class MailboxTest {
  private static final int PUSHERS = 4;
  private static final int MOST = 5_000;
  private static final Claim CLAIM = Claim.of(Owner.client(1), "a", Duration.ZERO);

  private static final class Letter extends Mailbox.Message {
    private final int pusher;
    private final int number;

    Letter(int pusher, int number) {
      this.pusher = pusher;
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

  @Test
  void every_message_is_taken_once_in_order_or_refused() throws Exception {
    for (int round = 0; round < 30; round++) {
      Mailbox mailbox = new Mailbox(1_000_000, 1L << 40);
      CountDownLatch busy = new CountDownLatch(100);
      List<Future<Integer>> pushers = new ArrayList<>();
      List<List<Integer>> taken = new ArrayList<>();
      try (ExecutorService threads = Executors.newFixedThreadPool(PUSHERS)) {
        for (int i = 0; i < PUSHERS; i++) {
          int pusher = i;
          taken.add(new ArrayList<>());
          pushers.add(
              threads.submit(() -> {
                int number = 0;
                while (number < MOST
                    && mailbox.push(new Letter(pusher, number)) != Mailbox.Receipt.REFUSED) {
                  number++;
                  busy.countDown();
                }
                return number;
              }));
        }
        while (busy.getCount() > 0) {
          sort(mailbox.take(), taken);
        }
        sort(mailbox.close(), taken);
        assertThat(mailbox.take()).isNull();
        assertThat(mailbox.close()).isNull();
        for (int i = 0; i < PUSHERS; i++) {
          int accepted = pushers.get(i).get();
          assertThat(taken.get(i)).isSorted().doesNotHaveDuplicates().hasSize(accepted);
        }
      }
    }
  }

  private static void sort(Mailbox.@Nullable Message first, List<List<Integer>> taken) {
    for (Mailbox.Message message = first; message != null; message = message.next()) {
      Letter letter = (Letter) message;
      taken.get(letter.pusher).add(letter.number);
    }
  }

  @Test
  void only_the_first_of_several_messages_wakes_the_loop() {
    Mailbox mailbox = new Mailbox(1_000_000, 1L << 40);
    assertThat(mailbox.push(new Letter(0, 0))).isEqualTo(Mailbox.Receipt.TAKEN);
    assertThat(mailbox.push(new Letter(0, 1))).isEqualTo(Mailbox.Receipt.TAKEN);
    assertThat(mailbox.take()).isNotNull();
    assertThat(mailbox.push(new Letter(0, 2))).isEqualTo(Mailbox.Receipt.TAKEN);
    assertThat(mailbox.close()).isNotNull();
    assertThat(mailbox.push(new Letter(0, 3))).isEqualTo(Mailbox.Receipt.REFUSED);
    assertThat(mailbox.isEmpty()).isTrue();
  }

  @Test
  void more_messages_or_bytes_than_the_limit_find_no_room_until_the_loop_has_taken() {
    Mailbox mailbox = new Mailbox(3, 35);
    for (int i = 0; i < 3; i++) {
      assertThat(mailbox.push(new Letter(0, i))).isNotEqualTo(Mailbox.Receipt.FULL);
    }
    assertThat(mailbox.push(new Letter(0, 3))).isEqualTo(Mailbox.Receipt.FULL);
    assertThat(mailbox.push(new Submission(CLAIM, new LoopThread(), _ -> {}).cancellation()))
        .isEqualTo(Mailbox.Receipt.TAKEN);
    CompletableFuture<Void> room = mailbox.room();
    assertThat(room).isNotDone().isSameAs(mailbox.room());
    assertThat(mailbox.take()).isNotNull();
    assertThat(room).isDone();
    Mailbox narrow = new Mailbox(3, 15);
    assertThat(narrow.push(new Letter(0, 0))).isEqualTo(Mailbox.Receipt.TAKEN);
    assertThat(narrow.push(new Letter(0, 1))).isEqualTo(Mailbox.Receipt.FULL);
    assertThat(new Mailbox(3, 5).push(new Letter(0, 0)))
        .as("one alone may be larger")
        .isEqualTo(Mailbox.Receipt.TAKEN);
    CompletableFuture<Void> end = narrow.room();
    assertThat(narrow.close()).isNotNull();
    assertThat(end).isDone();
  }
}
