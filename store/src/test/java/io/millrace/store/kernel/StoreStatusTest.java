package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a store counts for metrics. */
class StoreStatusTest {
  private static final Owner CLIENT = Owner.client(1);

  private final FixedEnvironment environment = new FixedEnvironment(1);
  @TempDir private Path folder;
  private EmbeddedTaskStore store;

  @BeforeEach
  void open() {
    store = TaskStore.open(StoreOptions.in(folder).withEnvironment(environment));
  }

  @AfterEach
  void close() {
    store.close();
  }

  private void add(String group) {
    store.commit(Transaction.by(CLIENT).add(group, "x").build()).done();
  }

  private static Claim claim(String group) {
    return Claim.of(CLIENT, group, Duration.ofSeconds(10));
  }

  @Test
  void claims_whose_lease_has_ended_are_counted_and_others_are_not() {
    for (int i = 0; i < 3; i++) {
      add("a");
    }
    store.claim(claim("a").withCount(2)).done();
    store.claim(claim("a").withCount(1)).done();
    var kept = store.claim(claim("none")).done();
    assertThat(kept.tasks()).isEmpty();
    assertThat(store.status().lapsed()).isZero();
    environment.advance(Duration.ofSeconds(11).toMillis());
    add("b");
    assertThat(store.status().lapsed()).isEqualTo(3);
    close();
    open();
    assertThat(store.status().lapsed()).isZero();
  }

  @Test
  void claims_that_meet_a_limit_are_counted_apart_from_those_that_find_nothing() {
    add("a");
    add("a");
    store.claim(claim("a").withLimit(1)).done();
    assertThat(store.claim(claim("a").withLimit(1)).done().tasks()).isEmpty();
    assertThat(store.claim(claim("none")).done().tasks()).isEmpty();
    assertThat(store.status().limited()).isEqualTo(1);
    assertThat(store.status().empty()).isEqualTo(2);
  }

  @Test
  void the_oldest_waiting_task_of_each_group_is_known() {
    long first = store.status().timeMillis();
    add("a");
    environment.advance(1_000);
    add("a");
    add("b");
    store
        .commit(
            Transaction.by(CLIENT)
                .add(
                    new Transaction.Add(
                        "later", Bytes.of("x"), When.after(Duration.ofHours(1)), false, null))
                .build())
        .done();
    assertThat(store.oldestWaiting()).isEqualTo(Map.of("a", first, "b", first + 1_000));
    store.claim(claim("a")).done();
    store.claim(claim("a")).done();
    assertThat(store.oldestWaiting()).isEqualTo(Map.of("b", first + 1_000));
  }
}
