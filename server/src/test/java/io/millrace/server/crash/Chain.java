package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.UnreachableException;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * A client that always has one task, which each of its transactions replaces by the next, together
 * with a document: so what a crash left of its work can be told from the state alone.
 */
final class Chain {
  private final Owner me;
  private final String group;
  private final DocumentKey key;
  private final TreeMap<Long, Task> links = new TreeMap<>();
  private @Nullable Transaction unknown;
  private @Nullable Position last;
  private int sent;

  Chain(int number) {
    this.me = Owner.client(number);
    this.group = "chain " + number;
    this.key = new DocumentKey(Contents.COLLECTION, group);
  }

  /** The last position that it was told since it took up its work; null before the first. */
  @Nullable Position last() {
    return last;
  }

  /** Works until the server is gone; gives a permit for each answer. */
  void work(TaskStore store, Semaphore answers) {
    unknown = null;
    last = null;
    while (true) {
      Transaction transaction = next();
      try {
        note(store.commit(transaction).done());
      } catch (OutcomeUnknownException _) {
        unknown = transaction;
        return;
      } catch (UnreachableException _) {
        return;
      }
      answers.release();
    }
  }

  private void note(Outcome.Done done) {
    last = done.position();
    links.put(last.number(), done.tasks().getFirst());
  }

  private Transaction next() {
    String mark = me.client() + "/" + ++sent;
    Transaction.Builder by = Transaction.by(me).requestId(mark).add(group, mark);
    if (!links.isEmpty()) {
      by.delete(links.lastEntry().getValue().ref());
    }
    return by.put(new Transaction.Put(key, DocumentVersion.ANY, Bytes.of(mark), false)).build();
  }

  /** Checks that what was answered is there up to {@code contents} and gone beyond, and goes on. */
  void checkPrefix(TaskStore store, Contents contents) {
    long end = contents.position().number();
    List<Task> found =
        contents.tasks().values().stream().filter(task -> task.group().equals(group)).toList();
    boolean lost = !links.isEmpty() && links.lastKey() > end;
    links.tailMap(end, false).clear();
    assertThat(found).hasSizeLessThanOrEqualTo(1);
    Bytes body =
        contents.documents().containsKey(key) ? contents.documents().get(key).body() : null;
    assertThat(found.isEmpty() ? null : found.getFirst().data())
        .as("task and document of one transaction")
        .isEqualTo(body);
    Transaction transaction = unknown;
    boolean happened =
        !lost
            && body != null
            && transaction != null
            && transaction.puts().getFirst().body().equals(body);
    if (!happened) {
      assertThat(found)
          .as("the last of %s up to commit %s", group, end)
          .isEqualTo(links.isEmpty() ? List.of() : List.of(links.lastEntry().getValue()));
    }
    if (!lost && transaction != null) {
      Outcome.Done done = store.commit(transaction).done();
      assertThat(done.repeated()).isEqualTo(happened);
      note(done);
    }
  }
}
