package io.millrace.cli.store;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Position;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.wire.ChangeStream;
import io.millrace.wire.DataForm;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Prints commits as they happen. */
@Command(name = "watch", description = "Prints each change as it happens, until it is stopped.")
final class WatchCommand implements Callable<Integer> {
  private static final Duration ROUND = Duration.ofSeconds(30);

  @Mixin private StoreTarget.Open target = new StoreTarget.Open();

  @Option(names = "--group", paramLabel = "GROUP", description = "Only tasks of this group.")
  private Set<String> groups = Set.of();

  @Option(
      names = "--collection",
      paramLabel = "NAME",
      description = "Only documents of this collection.")
  private Set<String> collections = Set.of();

  @Option(
      names = "--after",
      paramLabel = "POSITION",
      description = "Starts after this position. Default: now")
  private @Nullable String after;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      description = "Ends after this number of commits; 0 for no end. Default: 0")
  private long count;

  @Override
  public Integer call() {
    return target.run(this::watch);
  }

  private int watch(TaskStore store) throws InterruptedException {
    Interest interest = new Interest(position(), groups, collections);
    try (Subscription subscription = store.subscribe(interest)) {
      for (long seen = 0; count == 0 || seen < count; ) {
        Commit commit = subscription.next(ROUND);
        if (commit != null) {
          seen++;
          print(commit);
          target.out().flush();
        }
      }
    }
    return ExitCode.OK;
  }

  private @Nullable Position position() {
    try {
      return after == null ? null : Position.parse(after);
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  private void print(Commit commit) {
    if (target.json()) {
      target.printJson(ChangeStream.write(commit, DataForm.TEXT));
      return;
    }
    String head = commit.position() + "  " + Instant.ofEpochMilli(commit.timeMillis()) + "  ";
    for (Change change : commit.changes()) {
      target.out().println(head + line(change, commit.timeMillis()));
    }
  }

  private static String line(Change change, long nowMillis) {
    return switch (change) {
      case Change.Added(Task task) ->
          "added    %d in %s: %s".formatted(task.id(), task.group(), Tasks.shown(task.data()));
      case Change.Changed(long oldId, Task task, boolean kept) ->
          "changed  %d to %d in %s, %s%s"
              .formatted(
                  oldId,
                  task.id(),
                  task.group(),
                  task.stateAt(nowMillis).name().toLowerCase(Locale.ROOT),
                  kept ? "" : ": " + Tasks.shown(task.data()));
      case Change.Deleted(long id, long origin, String group) ->
          "deleted  %d of origin %d in %s".formatted(id, origin, group);
      case Change.DocumentPut(long _, Document document) ->
          "put      %s version %d: %s"
              .formatted(document.key(), document.version(), Tasks.shown(document.body()));
      case Change.DocumentDeleted(DocumentKey key, long oldVersion) ->
          "deleted  %s version %d".formatted(key, oldVersion);
    };
  }
}
