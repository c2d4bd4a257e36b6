package io.millrace.cluster.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.remote.dispatch.HookedDocuments;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How successive leaders give out items. */
final class ItemAssignerTest {
  private final HookedDocuments documents;
  private final BacklogItems items;
  private final Set<Long> over = new HashSet<>();
  private Duration remaining = Duration.ofSeconds(10);

  ItemAssignerTest(@TempDir Path folder) {
    documents = new HookedDocuments(FileDocuments.open(folder));
    items = new BacklogItems(documents, "files");
  }

  @AfterEach
  void close() {
    documents.close();
  }

  private ItemAssigner leader(long fence) {
    Guard guard =
        new Guard() {
          @Override
          public long fence() {
            return fence;
          }

          @Override
          public Duration remaining() {
            return remaining;
          }
        };
    return new ItemAssigner(items, guard, over::contains);
  }

  @Test
  void an_item_is_given_out_again_if_the_answer_to_the_write_was_lost() {
    ItemAssigner assigner = leader(1);
    items.add(List.of("a"));
    documents.loseAnswersOf("backlog/");
    assertThatThrownBy(() -> assigner.take(1)).isInstanceOf(UnclearOutcomeException.class);
    documents.loseAnswersOf("-");
    assertThat(assigner.take(1)).containsExactly("a");
    assertThat(assigner.take(1)).isEmpty();
  }

  @Test
  void items_that_were_given_out_before_a_lost_answer_are_returned() {
    ItemAssigner assigner = leader(1);
    items.add(List.of("a", "b"));
    documents.loseAnswersOf("backlog/files/Yg");
    assertThat(assigner.take(2)).containsExactly("a");
    documents.loseAnswersOf("-");
    assertThat(assigner.take(2)).containsExactly("b");
  }

  @Test
  void items_of_an_earlier_leader_wait_again_when_it_is_over_and_those_of_a_later_one_never() {
    items.add(List.of("a"));
    assertThat(leader(1).take(1)).containsExactly("a");
    ItemAssigner second = leader(2);
    assertThat(second.take(1)).isEmpty();
    over.add(1L);
    assertThat(second.take(1)).containsExactly("a");
    over.add(2L);
    assertThat(leader(1).take(1)).isEmpty();
  }

  @Test
  void an_item_that_is_enqueued_again_comes_after_items_with_fewer_attempts() {
    ItemAssigner assigner = leader(1);
    items.add(List.of("a", "b", "c"));
    assertThat(assigner.take(2)).containsExactly("a", "b");
    assigner.reEnqueue("a");
    assertThat(assigner.take(3)).containsExactly("c", "a");
    items.commit("b");
    assigner.reEnqueue("b");
    assertThat(assigner.take(3)).isEmpty();
    assertThat(items.outstanding()).isEqualTo(2);
  }

  @Test
  void a_former_leader_gives_out_no_items() {
    ItemAssigner assigner = leader(1);
    items.add(List.of("a"));
    remaining = Duration.ZERO;
    assertThatThrownBy(() -> assigner.take(1)).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(() -> assigner.reEnqueue("a")).isInstanceOf(LeaseLostException.class);
  }
}
