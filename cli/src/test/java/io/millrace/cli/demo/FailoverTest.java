package io.millrace.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The demonstration as it runs for a user: three real servers, of which the leader is killed. */
class FailoverTest {
  @Test
  @Timeout(value = 3, unit = TimeUnit.MINUTES)
  void nothing_is_lost_when_the_leader_is_killed() {
    Shell.CommandResult ran =
        Shell.run(
            "demo", "failover", "--for=12s", "--kill-every=4s", "--set=store.lease=1s", "--seed=1");
    assertThat(ran.code()).as(ran.out() + ran.err()).isZero();
    assertThat(ran.out())
        .contains("kill -9 of server")
        .contains("0 lost, 0 finished twice")
        .containsPattern("leader killed [1-9]");
  }

  @Test
  void a_folder_is_refused() {
    assertThat(Shell.run("demo", "failover", "--store=file:x").err())
        .contains("--store must be a database");
    assertThat(Shell.run("demo", "failover", "--for=1s").err()).contains("from 5s to 1h");
  }
}
