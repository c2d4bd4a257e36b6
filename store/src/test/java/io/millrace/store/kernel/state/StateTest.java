package io.millrace.store.kernel.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Commit.Change;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.RequestDigest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What time does to a state. */
class StateTest {
  private static final Owner ME = Owner.client(1);

  private static Event event(long number, long timeMillis, List<Change> changes) {
    RequestDigest digest = new RequestDigest("same", number, number);
    return new Event(number, timeMillis, ME, false, changes, digest);
  }

  @Test
  void many_tasks_whose_time_comes_at_once_move_slice_by_slice() {
    State state = new State();
    int count = 2 * State.MOVES + 500;
    for (int id = 1; id <= count; id++) {
      state.put(new Task(id, id, "group " + id % 2, 1_000, null, 0, 0, Bytes.EMPTY));
    }
    assertThat(state.advance(999)).isFalse();
    assertThat(state.nextDueMillis()).isEqualTo(1_000);

    List<Long> waiting = new ArrayList<>();
    boolean more = true;
    while (more) {
      more = state.advance(1_000);
      waiting.add(state.freezeSummaries().stream().mapToLong(GroupSummary::waiting).sum());
    }
    assertThat(waiting).containsExactly((long) State.MOVES, 2L * State.MOVES, (long) count);
    assertThat(state.nextDueMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void an_answer_that_takes_the_place_of_a_forgotten_one_takes_its_memory_too() {
    State state = new State();
    Task task = new Task(1, 1, "group", 0, null, 0, 0, Bytes.EMPTY);
    state.apply(event(1, 0, List.of(new Change.Added(task))));
    long once = state.memoryBytes();
    state.apply(event(2, RecentRequests.KEPT_MILLIS, List.of(new Change.Deleted(1, 1, "group"))));
    assertThat(state.memoryBytes()).isLessThan(once);

    state.advance(2 * RecentRequests.KEPT_MILLIS);
    assertThat(state.memoryBytes()).isZero();
    assertThat(state.requests().size()).isZero();
  }
}
