package io.millrace.store.kernel.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Task;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TaskIndexTest {
  private static Task task(long id) {
    return new Task(id, id, "g", 0, null, 0, 0, Bytes.EMPTY);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void an_index_finds_what_a_map_finds(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    TaskIndex.Table index = new TaskIndex.Table(Task::id);
    Map<Long, Task> model = new HashMap<>();
    List<Long> ids = new ArrayList<>();
    long stride = 1L << random.nextInt(0, 40);
    for (int step = 0; step < 200_000; step++) {
      if (ids.isEmpty() || random.nextInt(100) < 55) {
        Task task = task(1 + step * stride);
        index.put(task);
        model.put(task.id(), task);
        ids.add(task.id());
      } else {
        int at = random.nextInt(ids.size());
        long id = ids.get(at);
        ids.set(at, ids.getLast());
        ids.removeLast();
        index.remove(id);
        model.remove(id);
        assertThat(index.get(id)).isNull();
      }
    }
    assertThat(index.size()).isEqualTo(model.size());
    model.forEach((id, task) -> assertThat(index.get(id)).isSameAs(task));
  }
}
