package io.millrace.work;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** A claim of five minutes in virtual time, whose renewals each take what a test says. */
class LeaseKeeperTest {
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final String NO_ANSWER = "no answer";

  private final Time time = new Time();
  private final List<String> events = new ArrayList<>();
  private BooleanSupplier renewal = () -> true;
  private Duration answerTakes = Duration.ZERO;
  private final LeaseKeeper keeper =
      new LeaseKeeper(
          new LeaseKeeper.Timers(() -> time.nanos, time::set, time::set),
          LEASE,
          this::renew,
          new Heard());

  /** Virtual time with alarms. */
  private static final class Time {
    private record Alarm(long atNanos, Runnable call) {}

    private final List<Alarm> alarms = new ArrayList<>();
    private long nanos = 7_000_000_000L;

    Runnable set(long after, Runnable call) {
      Alarm alarm = new Alarm(nanos + Math.max(0, after), call);
      alarms.add(alarm);
      return () -> alarms.remove(alarm);
    }

    void pass(Duration duration) {
      long until = nanos + duration.toNanos();
      for (Optional<Alarm> next = next(until); next.isPresent(); next = next(until)) {
        alarms.remove(next.get());
        nanos = Math.max(nanos, next.get().atNanos());
        next.get().call().run();
      }
      nanos = Math.max(nanos, until);
    }

    private Optional<Alarm> next(long until) {
      return alarms.stream()
          .filter(it -> it.atNanos() <= until)
          .min(Comparator.comparingLong(Alarm::atNanos));
    }
  }

  private class Heard implements LeaseKeeper.Listener {
    @Override
    public void renewed(Duration left) {
      events.add(at() + " renewed for " + left.toSeconds());
    }

    @Override
    public void endsIn(Duration left) {
      events.add(at() + " ends in " + left.toSeconds());
    }

    @Override
    public void lost() {
      events.add(at() + " lost");
    }
  }

  private long at() {
    return Duration.ofNanos(time.nanos).toSeconds() - 7;
  }

  private boolean renew() {
    events.add(at() + " asked");
    time.nanos += answerTakes.toNanos();
    return renewal.getAsBoolean();
  }

  private void begin() {
    keeper.begin(time.nanos);
  }

  @Test
  void a_claim_is_renewed_at_a_third_of_its_lease() {
    begin();
    time.pass(Duration.ofSeconds(250));

    assertThat(events)
        .containsExactly("100 asked", "100 renewed for 300", "200 asked", "200 renewed for 300");
  }

  @Test
  void work_is_to_end_before_the_lease_does_where_no_renewal_is_answered() {
    renewal =
        () -> {
          throw new IllegalStateException(NO_ANSWER);
        };
    begin();
    time.pass(LEASE.multipliedBy(2));

    assertThat(events).contains("100 asked", "102 asked", "104 asked", "288 asked");
    assertThat(events).endsWith("290 ends in 10");
  }

  @Test
  void the_lease_counts_from_before_the_request_was_sent() {
    answerTakes = Duration.ofSeconds(30);
    begin();
    time.pass(Duration.ofSeconds(100));
    renewal =
        () -> {
          throw new IllegalStateException(NO_ANSWER);
        };
    answerTakes = Duration.ZERO;
    time.pass(LEASE.multipliedBy(2));

    assertThat(events).startsWith("100 asked", "130 renewed for 270", "230 asked");
    assertThat(events).endsWith("390 ends in 10");
  }

  @Test
  void work_that_began_late_has_only_what_is_left() {
    long sent = time.nanos;
    time.pass(Duration.ofSeconds(295));
    keeper.begin(sent);
    time.pass(Duration.ZERO);

    assertThat(events).containsExactly("295 ends in 10");
  }

  @Test
  void of_a_short_lease_a_fifth_is_kept_for_ending_work() {
    List<Long> ended = new ArrayList<>();
    LeaseKeeper shorter =
        new LeaseKeeper(
            new LeaseKeeper.Timers(() -> time.nanos, time::set, (_, _) -> () -> {}),
            Duration.ofSeconds(5),
            () -> true,
            new Heard() {
              @Override
              public void endsIn(Duration left) {
                ended.add(at());
                assertThat(left).isEqualTo(Duration.ofSeconds(1));
              }
            });
    shorter.begin(time.nanos);
    time.pass(LEASE);

    assertThat(ended).containsExactly(4L);
  }

  @Test
  void a_lost_claim_is_told_once_and_nothing_after_it() {
    renewal = () -> false;
    begin();
    time.pass(LEASE.multipliedBy(2));

    assertThat(events).containsExactly("100 asked", "100 lost");
  }

  @Test
  void a_closed_one_says_nothing() {
    begin();
    keeper.close();
    time.pass(LEASE.multipliedBy(2));

    assertThat(events).isEmpty();
    assertThat(time.alarms).isEmpty();
  }
}
