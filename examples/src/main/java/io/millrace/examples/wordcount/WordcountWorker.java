package io.millrace.examples.wordcount;

import io.millrace.client.ClaimedTask;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.TaskHandler;
import io.millrace.client.TaskResult;
import io.millrace.client.Worker;
import io.millrace.client.WorkerOptions;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Transaction.DocumentVersion;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/**
 * A worker process of word count: handles the tasks of both groups. Each step is one transaction,
 * so if the process dies at any moment, the task is either as before or completely done:
 *
 * <pre>
 *   map:     delete the chunk of text,  add its counts to group reduce, one task per partition
 *   reduce:  delete the counts,         put the partition's result with the counts added
 * </pre>
 *
 * A result replaces only the version that was read, so no count is added twice or lost.
 */
public final class WordcountWorker implements TaskHandler {
  private static final long LOOK_MILLIS = 50;

  /** The time for which a killed worker still owns its task. */
  private static final Duration LEASE = Duration.ofSeconds(2);

  private static final Duration RETRY = Duration.ofMillis(20);

  private final TaskStore store;

  private WordcountWorker(TaskStore store) {
    this.store = store;
  }

  /** Runs a worker with this client id until the parent process has ended. */
  public static void run(URI server, long client, ProcessHandle parent) {
    WorkerOptions options =
        WorkerOptions.of(WordTasks.REDUCE, WordTasks.MAP)
            .withClient(Owner.client(client))
            .withLease(LEASE)
            .withPoison(new WorkerOptions.Poison(0, ".quarantine", RETRY));
    try (HttpTaskStore store = HttpTaskStore.open(server)) {
      Worker worker = Worker.start(store, options, new WordcountWorker(store));
      parent.onExit().join();
      worker.close();
    }
  }

  @Override
  public TaskResult handle(ClaimedTask work) throws IOException, InterruptedException {
    return work.task().group().equals(WordTasks.MAP) ? map(work) : reduce(work.task());
  }

  private TaskResult map(ClaimedTask work) throws IOException, InterruptedException {
    WordTasks.Chunk chunk = WordTasks.Chunk.parse(work.task().data());
    Counts counts = WordReader.count(chunk);
    while (isHeld()) {
      Thread.sleep(LOOK_MILLIS);
    }
    return TaskResult.with(transaction ->
        counts
            .divide(chunk.partitions())
            .forEach((partition, part) ->
                transaction.add(WordTasks.REDUCE, new WordTasks.Part(partition, part).data())));
  }

  /** Whether this map task must not be finished yet. */
  private boolean isHeld() {
    try {
      Optional<Document> hold = store.document(WordTasks.HOLD).value();
      if (hold.isEmpty()) {
        return false;
      }
      long left = 0;
      for (GroupSummary group : store.groups().value()) {
        if (group.name().equals(WordTasks.MAP)) {
          left = group.waiting() + group.delayed() + group.owned();
        }
      }
      return left <= Long.parseLong(hold.get().body().utf8());
    } catch (StoreException _) {
      // The server is being restarted.
      return true;
    }
  }

  private TaskResult reduce(Task task) {
    WordTasks.Part part = WordTasks.Part.parse(task.data());
    DocumentKey key = WordTasks.result(part.partition());
    Optional<Document> before = store.document(key).value();
    Counts sum = Counts.parse(before.map(Document::body).orElse(Bytes.EMPTY));
    sum.add(part.counts());
    long version = before.map(Document::version).orElse(DocumentVersion.ABSENT);
    Bytes body = sum.data();
    return TaskResult.with(transaction -> transaction.put(key, version, body));
  }
}
