package io.millrace.store.kernel.subscriptions;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Commit.Change;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.kernel.records.Event;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class BroadcastTest {
  private static final long HOUR = Duration.ofHours(1).toNanos();

  private final Broadcast broadcast = new Broadcast(0, Limits.defaults());
  private long published;

  /** Wants the commits in one group. */
  private static final class OfGroup implements Broadcast.Walker {
    private final String group;
    private final AtomicInteger passed = new AtomicInteger();
    private volatile long passedNumber;

    OfGroup(String group) {
      this.group = group;
    }

    @Override
    public boolean wakesFor(List<Event> events) {
      return events.stream()
          .anyMatch(event ->
              event.changes().getFirst() instanceof Change.Deleted(long _, long _, String in)
                  && in.equals(group));
    }

    @Override
    public void published(Broadcast.Link last) {}

    @Override
    public void passed(Broadcast.Link last) {
      passed.incrementAndGet();
      passedNumber = last.number();
    }
  }

  private void publish(String... groups) {
    broadcast.publish(
        List.of(groups).stream()
            .map(group -> {
              published++;
              List<Change> changes = List.of(new Change.Deleted(published, 1, group));
              return new Event(published, 1, Owner.client(1), false, changes, null);
            })
            .toList());
  }

  @Test
  void who_waits_sleeps_through_commits_that_it_does_not_want() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      OfGroup walker = new OfGroup("mine");
      Broadcast.Registration registration = broadcast.register(walker);
      registration.join();
      Future<Long> woken =
          threads.submit(() -> {
            // A commit may come before the wait, which then ends at once.
            while (walker.passed.get() == 0) {
              registration.await(broadcast.last(), HOUR);
            }
            return walker.passedNumber;
          });
      while (walker.passed.get() == 0) {
        publish("other");
        Thread.onSpinWait();
      }
      publish("other", "another");
      publish("another");
      assertThat(walker.passed).hasValue(3);
      long before = published;
      publish("another", "mine", "other");
      assertThat(woken.get()).isEqualTo(before);
      assertThat(walker.passed).hasValue(3);
    }
  }

  @Test
  void it_does_not_wait_if_there_are_commits_after_its_link_already() throws InterruptedException {
    Broadcast.Registration registration = broadcast.register(new OfGroup("mine"));
    Broadcast.Link start = registration.join();
    publish("other");
    registration.await(start, HOUR);
    assertThat(start.next()).isSameAs(broadcast.last());
  }

  private static boolean await(Broadcast.Registration registration, Broadcast.Link link)
      throws InterruptedException {
    registration.await(link, HOUR);
    return true;
  }

  @Test
  void leaving_and_closing_end_a_wait() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Broadcast.Registration first = broadcast.register(new OfGroup("mine"));
      Broadcast.Registration second = broadcast.register(new OfGroup("mine"));
      Broadcast.Link start = first.join();
      assertThat(second.join()).isSameAs(start);
      Future<?> one = threads.submit(() -> await(first, start));
      Future<?> two = threads.submit(() -> await(second, start));
      first.leave();
      one.get();
      assertThat(broadcast.size()).isEqualTo(1);
      broadcast.close();
      two.get();
      assertThat(start.next()).isNull();
    }
  }
}
