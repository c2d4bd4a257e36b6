package io.millrace.store.kernel;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.kernel.state.FrozenTree;
import io.millrace.store.kernel.state.Group;
import io.millrace.store.kernel.state.Listings;
import io.millrace.store.kernel.state.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The reads of a store, each of which asks the state one question. Long lists are made afterwards,
 * on the caller's thread, of what the question has frozen.
 */
abstract class StateReads implements TaskStore {
  private final Limits limits;

  StateReads(Limits limits) {
    this.limits = limits;
  }

  /** Asks the state a question, while nobody changes it. */
  abstract <T> Read<T> read(Function<State, T> question);

  @Override
  public final Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
    check(refs, limits);
    return read(state -> find(state, refs));
  }

  /** Throws an exception if a read names too many tasks, or something that names no task. */
  static void check(List<TaskRef> refs, Limits limits) {
    if (refs.size() > limits.operations()) {
      throw new StoreException(
          refs.size() + " tasks in one read, more than " + limits.operations());
    }
    refs.forEach(TaskRef::required);
  }

  static List<Optional<Task>> find(State state, List<TaskRef> refs) {
    List<Optional<Task>> found = new ArrayList<>(refs.size());
    for (TaskRef ref : refs) {
      found.add(Optional.ofNullable(state.find(ref)));
    }
    return found;
  }

  @Override
  public final Read<List<Task>> group(GroupQuery query) {
    Read<Optional<Group.Frozen>> read =
        read(state -> Optional.ofNullable(state.freezeGroup(query.group())));
    return new Read<>(
        read.position(),
        read.timeMillis(),
        read.value()
            .map(group -> Listings.tasks(group, query, read.timeMillis()))
            .orElse(List.of()));
  }

  @Override
  public final Read<List<GroupSummary>> groups() {
    return read(State::freezeSummaries);
  }

  @Override
  public final Read<Optional<Document>> document(DocumentKey key) {
    return read(state -> Optional.ofNullable(state.document(key)));
  }

  @Override
  public final Read<List<Document>> documents(DocumentQuery query) {
    Read<FrozenTree<Document>> read = read(State::freezeDocuments);
    return new Read<>(read.position(), read.timeMillis(), Listings.documents(read.value(), query));
  }
}
