package io.millrace.store.kernel.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Spliterator;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OrderedTreeTest {
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void a_tree_holds_what_a_sorted_set_holds_and_frozen_ones_stay(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    CopyGeneration generation =
        seed <= 4 ? new CopyGeneration() : new CopyGeneration(random.nextInt(4, 20));
    OrderedTree<Integer> tree = new OrderedTree<>(Comparator.<Integer>naturalOrder(), generation);
    TreeSet<Integer> model = new TreeSet<>();
    List<FrozenTree<Integer>> frozen = new ArrayList<>();
    List<List<Integer>> kept = new ArrayList<>();
    int range = 1 << random.nextInt(4, 15);
    for (int step = 0; step < 20_000; step++) {
      boolean growing = (step / 5_000) % 2 == 0;
      int element = random.nextInt(range);
      if (random.nextInt(10) < (growing ? 7 : 3)) {
        tree.insert(element);
        model.add(element);
      } else {
        assertThat(tree.remove(element)).isEqualTo(model.remove(element));
      }
      if (random.nextInt(1_000) == 0) {
        frozen.add(tree.freeze());
        kept.add(List.copyOf(model));
        generation.next();
      }
      if (random.nextInt(100) == 0 && !model.isEmpty()) {
        int rank = random.nextInt(model.size());
        int selected = tree.select(rank);
        assertThat(model.headSet(selected)).hasSize(rank);
        assertThat(tree.rank(selected)).isEqualTo(rank);
        assertThat(tree.find(selected)).isEqualTo(selected);
        assertThat(tree.first()).isEqualTo(model.first());
        assertThat(tree.last()).isEqualTo(model.last());
      }
    }
    assertThat(tree.freeze()).containsExactlyElementsOf(model);
    assertThat(tree.size()).isEqualTo(model.size());
    for (int i = 0; i < frozen.size(); i++) {
      assertThat(frozen.get(i)).containsExactlyElementsOf(kept.get(i));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 64, 65, 4_096, 100_000})
  void a_growing_sequence_fills_a_tree_in_order(int count) {
    OrderedTree<Integer> tree =
        new OrderedTree<>(Comparator.<Integer>naturalOrder(), new CopyGeneration());
    for (int i = 0; i < count; i++) {
      tree.insert(i);
    }
    assertThat(tree.size()).isEqualTo(count);
    assertThat(tree.select(count / 2)).isEqualTo(count / 2);
    int bound = count / 3;
    FrozenTree<Integer> frozen = tree.freeze();
    assertThat(frozen.rank(element -> element < bound)).isEqualTo(bound);
    List<Integer> expected = IntStream.range(bound, count).boxed().toList();
    List<Integer> range = frozen.range(bound, count);
    assertThat(range).containsExactlyElementsOf(expected).hasSize(count - bound);
    assertThat(range.parallelStream().toList()).isEqualTo(expected);
    assertThat(range.getLast()).isEqualTo(count - 1);
    Spliterator<Integer> rest = range.spliterator();
    assertThat(rest.tryAdvance(first -> assertThat(first).isEqualTo(bound))).isTrue();
    assertThat(rest.estimateSize()).isEqualTo(count - bound - 1);
    assertThat(frozen.range(bound, bound)).isEmpty();
    assertThatThrownBy(() -> range.get(count - bound))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
