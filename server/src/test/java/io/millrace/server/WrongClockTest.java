package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** A server over a journal that was written while the clock was days ahead. */
final class WrongClockTest {
  private static final Duration AHEAD = Duration.ofDays(3);

  @TempDir private Path folder;

  /** This machine with a wall clock that is ahead. */
  private static final class FastClock implements Environment {
    private final Environment machine = Environment.system();

    @Override
    public long wallMillis() {
      return machine.wallMillis() + AHEAD.toMillis();
    }

    @Override
    public long nanos() {
      return machine.nanos();
    }

    @Override
    public RandomGenerator newRandom() {
      return machine.newRandom();
    }

    @Override
    public Disk disk() {
      return machine.disk();
    }

    @Override
    public Driver drive(String name, Activity activity) {
      return machine.drive(name, activity);
    }
  }

  @Test
  void the_difference_is_in_health_and_metrics() throws Exception {
    TaskStore.open(StoreOptions.in(folder.resolve("store")).withEnvironment(new FastClock()))
        .close();
    try (TestServer server = TestServer.in(folder)) {
      long ahead =
          new JsonMapper().readTree(server.get("/health").body()).at("/timeahead").asLong();
      assertThat(ahead).isBetween(AHEAD.minusHours(1).toMillis(), AHEAD.plusHours(1).toMillis());
      assertThat(server.get("/health").body())
          .containsPattern("store time is (71h|72h|3d) ")
          .contains("ahead of the wall clock: absolute times come that much too early");
      String line =
          server
              .get("/metrics")
              .body()
              .lines()
              .filter(it -> it.startsWith("millrace_store_time_ahead_seconds "))
              .findFirst()
              .orElseThrow();
      assertThat(Double.parseDouble(line.substring(line.indexOf(' '))))
          .isBetween(
              (double) AHEAD.minusHours(1).toSeconds(), AHEAD.plusHours(1).toSeconds() + 0.0);
    }
  }
}
