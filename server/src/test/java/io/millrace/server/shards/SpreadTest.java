package io.millrace.server.shards;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.shards.Spread.View;
import io.millrace.server.shards.Spread.Wish;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SpreadTest {
  private static View view(String own, String leaders) {
    List<Optional<String>> byShard =
        leaders
            .chars()
            .mapToObj(leader ->
                leader == '-' ? Optional.<String>empty() : Optional.of(Character.toString(leader)))
            .toList();
    return new View(byShard, own);
  }

  @Test
  void who_leads_two_fewer_than_another_one_asks_it_for_a_shard() {
    assertThat(view("c", "aaaaabbb").wish()).contains(new Wish(1, "a"));
    assertThat(view("b", "aaaaaabb").wish()).contains(new Wish(1, "a"));
    assertThat(view("a", "aaaaabbb").wish()).isEmpty();
  }

  @Test
  void nobody_asks_once_they_are_spread_or_while_a_shard_has_no_leader() {
    for (String own : List.of("a", "b", "c")) {
      assertThat(view(own, "aaabbbcc").wish()).isEmpty();
    }
    assertThat(view("c", "aaaa-bbb").wish()).isEmpty();
  }

  @Test
  void the_first_shard_stays() {
    assertThat(view("b", "aa").wish()).contains(new Wish(1, "a"));
    assertThat(view("c", "abb").wish()).contains(new Wish(1, "b"));
  }

  @Test
  void asking_ends_with_every_server_at_its_share() {
    for (int servers = 1; servers <= 5; servers++) {
      List<Optional<String>> leaders = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        leaders.add(Optional.of("0"));
      }
      for (int round = 0; round < 20; round++) {
        for (int own = 0; own < servers; own++) {
          String name = Integer.toString(own);
          new View(List.copyOf(leaders), name)
              .wish()
              .ifPresent(wish -> leaders.set(wish.shard(), Optional.of(name)));
        }
      }
      for (int own = 0; own < servers; own++) {
        assertThat(leaders.stream().filter(Optional.of(Integer.toString(own))::equals).count())
            .isBetween(8L / servers, (8L + servers - 1) / servers);
      }
    }
  }

  @Test
  void who_has_its_share_lets_others_go_first() {
    assertThat(view("a", "--------").patience()).isZero();
    assertThat(view("a", "aaabbb--").patience()).isZero();
    assertThat(view("a", "aaaabbb-").patience()).isEqualTo(Duration.ofMillis(100));
    assertThat(view("a", "aaaaabb-").patience()).isEqualTo(Duration.ofMillis(200));
    assertThat(view("c", "aaaaabb-").patience()).isZero();
  }
}
