package io.millrace.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Ids;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskRef;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.wire.Placement.ShardsDifferException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PlacementTest {
  private static final Owner CLIENT = Owner.client(1);
  private final Placement eight = new Placement(8);

  @Test
  void names_with_the_same_first_part_share_a_shard() {
    int shard = eight.ofName("orders");
    assertThat(List.of("orders/new", "orders.old", "orders/a/b", "orders/"))
        .allMatch(name -> eight.ofName(name) == shard);
    // CRC-32 of "123456789" is the check value of the algorithm.
    assertThat(eight.ofName("123456789/x")).isEqualTo((int) (0xCBF43926L % 8));
    assertThat(IntStream.range(0, 200).map(i -> eight.ofName("team" + i)).distinct().count())
        .isEqualTo(8);
  }

  @Test
  void what_belongs_to_the_systems_is_at_home() {
    assertThat(List.of("queues/definitions", "jobs.jobs", "graph", "access.audit", "cluster/x"))
        .allMatch(name -> eight.ofName(name) == Placement.HOME);
    assertThat(eight.ofCollection("access.principals")).hasValue(Placement.HOME);
    assertThat(eight.ofCollection("access.audit"))
        .as("each server writes where it leads")
        .isEmpty();
  }

  @Test
  void every_id_of_a_shard_tells_it() {
    for (int shard = 0; shard < 8; shard++) {
      Ids ids = eight.ids(shard);
      long[] given = LongStream.iterate(ids.after(0), ids::after).limit(50).toArray();
      assertThat(given).isSorted().doesNotHaveDuplicates();
      for (long id : given) {
        assertThat(eight.ofTask(TaskRef.id(id))).isEqualTo(shard);
        assertThat(eight.ofTask(TaskRef.origin(id))).isEqualTo(shard);
      }
      // After a restore, ids go on from anywhere.
      assertThat(ids.after(1_000_003)).isGreaterThan(1_000_003).isLessThanOrEqualTo(1_000_011);
    }
    assertThat(Ids.ALL.after(41)).isEqualTo(42);
    assertThatThrownBy(() -> new Ids(8, 8)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Placement(33)).hasMessage("shards must be from 1 to 32, not 33");
  }

  @Test
  void a_command_is_for_the_shard_of_everything_that_it_names() {
    DocumentKey document = new DocumentKey("orders.totals", "june");
    Transaction.Builder together =
        Transaction.by(CLIENT)
            .add("orders/new", Bytes.of("x"))
            .put(document, 0, Bytes.of("1"))
            .put(Throttling.ofGroup("orders/new"), 0, Bytes.of("running 2\nshared orders.all"));
    int shard = eight.ofName("orders");
    assertThat(eight.of(together.build())).isEqualTo(shard);
    assertThat(eight.of(Claim.of(CLIENT, "orders/new", Duration.ofSeconds(1)))).isEqualTo(shard);
    assertThat(eight.of(Transaction.by(CLIENT).build())).isEqualTo(Placement.HOME);

    long elsewhere = eight.ids((shard + 1) % 8).after(100);
    assertThatThrownBy(() -> eight.of(together.delete(TaskRef.id(elsewhere)).build()))
        .isInstanceOf(ShardsDifferException.class)
        .hasMessageContaining("a transaction changes one shard: ")
        .hasMessageContaining("task " + elsewhere + " in shard " + (shard + 1) % 8);
    Claim claim =
        Claim.of(CLIENT, "orders/new", Duration.ofSeconds(1))
            .withGroups(List.of("orders/new", "queues/one"));
    assertThatThrownBy(() -> eight.of(claim)).hasMessageContaining("group queues/one in shard 0");
  }

  @Test
  void limits_are_where_their_groups_are() {
    int shard = eight.ofName("orders");
    assertThat(eight.ofDocument(Throttling.ofGroup("orders/new"))).isEqualTo(shard);
    assertThat(eight.ofDocument(Throttling.ofPrefix("orders/"))).isEqualTo(shard);
    assertThat(eight.ofDocument(Throttling.shared("orders.all"))).isEqualTo(shard);
    assertThatThrownBy(() -> eight.ofDocument(Throttling.ofPrefix("ord")))
        .isInstanceOf(ShardsDifferException.class)
        .hasMessageContaining("must go on to a slash or a dot");
    assertThat(new Placement(1).ofDocument(Throttling.ofPrefix("ord"))).isZero();
    Transaction foreign =
        Transaction.by(CLIENT)
            .put(Throttling.ofGroup("queues/a"), 0, Bytes.of("shared orders.all"))
            .build();
    assertThatThrownBy(() -> eight.of(foreign))
        .isInstanceOf(ShardsDifferException.class)
        .hasMessageContaining("shared limit orders.all");
    assertThat(eight.ofCollection(Throttling.GROUPS)).isEmpty();
  }

  @Test
  void a_subscription_is_to_one_shard() {
    assertThat(eight.of(new Interest(null, Set.of("orders/a", "orders/b"), Set.of("orders.c"))))
        .isEqualTo(eight.ofName("orders"));
    assertThatThrownBy(() -> eight.of(Interest.everything()))
        .isInstanceOf(ShardsDifferException.class)
        .hasMessageContaining("from 0 to 7");
    assertThatThrownBy(() -> eight.of(new Interest(null, Set.of(), Set.of(Throttling.GROUPS))))
        .isInstanceOf(ShardsDifferException.class);
    assertThat(new Placement(1).of(Interest.everything())).isZero();
  }
}
