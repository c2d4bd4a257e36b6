package io.millrace.cli.store;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.TaskStore.Read;
import io.millrace.wire.Answers;
import io.millrace.wire.DataForm;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands that read an open store. */
final class ReadCommands {
  private ReadCommands() {}

  /** Lists the groups. */
  @Command(name = "groups", description = "Lists the groups with the number of their tasks.")
  static final class ListGroups extends TargetCommand {
    @Override
    int run(TaskStore store) {
      List<GroupSummary> groups = store.groups().value();
      if (json()) {
        printJson(Answers.writeSummaries(groups));
        return ExitCode.OK;
      }
      Table table = new Table("GROUP", "WAITING", "DELAYED", "OWNED", "CLAIMED");
      for (GroupSummary group : groups) {
        table.row(group.name(), group.waiting(), group.delayed(), group.owned(), group.claimed());
      }
      table.print(out());
      return ExitCode.OK;
    }
  }

  /** Lists a group's tasks. */
  @Command(
      name = "list",
      description = "Lists the waiting tasks of a group, those available the longest first.")
  static final class ListTasks extends TargetCommand {
    @Parameters(paramLabel = "GROUP", description = "The group's name.")
    private String group = "";

    @Option(
        names = {"-a", "--all"},
        description = "Lists delayed and owned tasks too.")
    private boolean all;

    @Option(
        names = {"-n", "--limit"},
        paramLabel = "N",
        description = "The most tasks to list; 0 for all. Default: 0")
    private int limit;

    @Override
    int run(TaskStore store) {
      Read<List<Task>> tasks = store.group(new GroupQuery(group, Math.max(0, limit), all));
      print(tasks.value(), tasks.timeMillis());
      return ExitCode.OK;
    }
  }

  /** Shows tasks. */
  @Command(name = "get", description = "Shows tasks; exits with 4 if one of them does not exist.")
  static final class GetTasks extends TargetCommand {
    @Parameters(
        paramLabel = "TASK",
        arity = "1..*",
        description = "A task: its id, for example 14, or ~ and its origin, for example ~10.")
    private List<String> names = List.of();

    @Option(names = "--raw", description = "Writes only the data of the tasks, byte for byte.")
    private boolean raw;

    @Override
    int run(TaskStore store) {
      List<TaskRef> refs = Tasks.refs(names);
      Read<List<Optional<Task>>> found = store.tasks(refs);
      List<Task> tasks = found.value().stream().flatMap(Optional::stream).toList();
      if (raw) {
        tasks.forEach(task -> out().writeBytes(task.data().toArray()));
      } else if (json()) {
        Answers.writeFound(out(), found.value(), found.timeMillis(), DataForm.TEXT);
        out().println();
      } else if (!tasks.isEmpty()) {
        Tasks.print(out(), tasks, found.timeMillis());
      }
      for (int i = 0; i < refs.size(); i++) {
        if (found.value().get(i).isEmpty()) {
          terminal().say(refs.get(i) + " is not there");
        }
      }
      return tasks.size() == refs.size() ? ExitCode.OK : ExitCode.NOTHING;
    }
  }

  /** Lists documents. */
  @Command(name = "documents", description = "Lists the documents of a collection by key.")
  static final class ListDocuments extends TargetCommand {
    @Parameters(paramLabel = "COLLECTION", description = "The collection's name.")
    private String collection = "";

    @Option(names = "--prefix", paramLabel = "TEXT", description = "Only keys with this prefix.")
    private String prefix = "";

    @Option(
        names = {"-n", "--limit"},
        paramLabel = "N",
        description = "The most documents to list; 0 for all. Default: 0")
    private int limit;

    @Override
    int run(TaskStore store) {
      List<Document> documents =
          store.documents(new DocumentQuery(collection, prefix, "", Math.max(0, limit))).value();
      if (json()) {
        Answers.writeDocuments(out(), documents, DataForm.TEXT);
        out().println();
      } else {
        Tasks.Documents.print(out(), documents);
      }
      return ExitCode.OK;
    }
  }

  /** Shows a document. */
  @Command(name = "document", description = "Shows a document; exits with 4 if it does not exist.")
  static final class ShowDocument extends TargetCommand {
    @Parameters(
        index = "0",
        paramLabel = "COLLECTION",
        description = "The collection of the document.")
    private String collection = "";

    @Parameters(index = "1", paramLabel = "KEY", description = "The key of the document.")
    private String key = "";

    @Option(names = "--raw", description = "Writes only the body, byte for byte.")
    private boolean raw;

    @Override
    int run(TaskStore store) {
      DocumentKey name = new DocumentKey(collection, key);
      Optional<Document> found = store.document(name).value();
      if (found.isEmpty()) {
        terminal().say(name + " is not there");
        return ExitCode.NOTHING;
      }
      if (raw) {
        out().writeBytes(found.get().body().toArray());
      } else if (json()) {
        printJson(Answers.write(found.get(), DataForm.TEXT));
      } else {
        Tasks.Documents.print(out(), List.of(found.get()));
      }
      return ExitCode.OK;
    }
  }
}
