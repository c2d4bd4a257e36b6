package io.millrace.cli.wordcount;

import io.millrace.client.Finish;
import io.millrace.client.TaskHandler;
import io.millrace.client.Work;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.GroupSummary;
import io.millrace.store.StoreException;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction.DocumentVersion;
import java.io.IOException;
import java.util.Optional;

/**
 * What a worker does with the tasks of both groups. Each step is one transaction, so that a death
 * at any moment leaves the task as it was or wholly done:
 *
 * <pre>
 *   map:     delete the piece of text,  add its counts to group reduce, one task for a partition
 *   reduce:  delete the counts,         put the partition's result with the counts added
 * </pre>
 *
 * A result is only put over the version that was read, so that no count is added twice or lost.
 */
final class WordWorker implements TaskHandler {
  private static final long LOOK_MILLIS = 50;

  private final TaskStore store;

  WordWorker(TaskStore store) {
    this.store = store;
  }

  @Override
  public Finish handle(Work work) throws IOException, InterruptedException {
    return work.task().group().equals(Names.MAP) ? map(work) : reduce(work.task());
  }

  private Finish map(Work work) throws IOException, InterruptedException {
    Chunk chunk = Chunk.parse(work.task().data());
    Counts counts = WordReader.count(chunk);
    while (isHeld()) {
      Thread.sleep(LOOK_MILLIS);
    }
    return Finish.with(transaction ->
        counts
            .divide(chunk.partitions())
            .forEach((partition, part) ->
                transaction.add(Names.REDUCE, new Part(partition, part).data())));
  }

  /** Whether so few map tasks are left that this one must not end yet. */
  private boolean isHeld() {
    try {
      Optional<Document> hold = store.document(Names.HOLD).value();
      if (hold.isEmpty()) {
        return false;
      }
      long left = 0;
      for (GroupSummary group : store.groups().value()) {
        if (group.name().equals(Names.MAP)) {
          left = group.waiting() + group.delayed() + group.owned();
        }
      }
      return left <= Long.parseLong(hold.get().body().utf8());
    } catch (StoreException _) {
      // The server is being started again.
      return true;
    }
  }

  private Finish reduce(Task task) {
    Part part = Part.parse(task.data());
    DocumentKey key = Names.result(part.partition());
    Optional<Document> before = store.document(key).value();
    Counts sum = Counts.parse(before.map(Document::body).orElse(Bytes.EMPTY));
    sum.add(part.counts());
    long version = before.map(Document::version).orElse(DocumentVersion.ABSENT);
    Bytes body = sum.data();
    return Finish.with(transaction -> transaction.put(key, version, body));
  }
}
