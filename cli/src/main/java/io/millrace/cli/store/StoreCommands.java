package io.millrace.cli.store;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupQuery.Place;
import io.millrace.store.TaskStore.GroupQuery.Selection;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import io.millrace.wire.DataForm;
import io.millrace.wire.Responses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace store}: the commands on a store. */
@Command(
    name = "store",
    description =
        "Reads, changes, backs up, copies and checks a store: that of a server, with --data one in"
            + " a folder, or with --from one in a database.",
    addMethodSubcommands = false)
public final class StoreCommands extends CommandGroup {
  private static final Map<String, String> EXIT_CODES =
      Map.of(
          "0", "done",
          "1",
              "failed: for example the server cannot be reached, the token is wrong, the folder is"
                  + " in use, or the disk fails",
          "2", "the command line is wrong",
          "3", "refused by the store; nothing was changed",
          "4", "something that was named does not exist, or nothing could be claimed",
          "5", "stored files are damaged");

  private static final String TASK =
      "A task: its id, for example 14, or ~ and its origin, for example ~10.";

  /** The group with its commands. */
  public CommandLine group() {
    CommandLine store = with();
    explain(store, EXIT_CODES);
    add(
        store,
        EXIT_CODES,
        "groups",
        "list",
        "get",
        "addTask",
        "claim",
        "update",
        "delete",
        new WatchCommand(),
        "documents",
        "document",
        new BackupCommand(),
        new KeptCommands.Restore(),
        new KeptCommands.Copy(),
        new KeptCommands.Verify(),
        new KeptCommands.Salvage());
    return store;
  }

  @Command(name = "groups", description = "Lists the groups and the number of tasks in each.")
  int groups(@Mixin StoreTarget.Reading target) {
    return target.run(store -> {
      List<GroupSummary> groups = store.groups().value();
      if (target.json()) {
        target.printJson(Responses.writeSummaries(groups));
        return ExitCode.OK;
      }
      Table table = new Table("GROUP", "WAITING", "DELAYED", "OWNED", "CLAIMED");
      for (GroupSummary group : groups) {
        table.row(group.name(), group.waiting(), group.delayed(), group.owned(), group.claimed());
      }
      table.print(out());
      return ExitCode.OK;
    });
  }

  @Command(
      name = "list",
      description =
          "Lists the waiting tasks of a group in the order in which they became available.")
  int list(
      @Mixin StoreTarget.Reading target,
      @Parameters(paramLabel = "GROUP", description = "The group's name.") String group,
      @Option(
              names = {"-a", "--all"},
              description = "Lists delayed and owned tasks too.")
          boolean all,
      @Option(
              names = {"-n", "--limit"},
              paramLabel = "N",
              description = "The most tasks to list; 0 for all. Default: 0")
          int limit,
      @Option(
              names = "--after",
              paramLabel = "PLACE",
              description =
                  "Only tasks that come after this place: the timespec and the origin of a task"
                      + " that --json shows, as in 1388552400000~10, and ~keyed behind them if it"
                      + " has a key or a priority.")
          @Nullable String after) {
    return target.run(store -> {
      Selection selection = all ? Selection.ALL : Selection.WAITING;
      Place place = after == null ? null : Tasks.place(after);
      Read<List<Task>> tasks =
          store.group(new GroupQuery(group, Math.max(0, limit), selection, place));
      target.print(tasks.value(), tasks.timeMillis());
      return ExitCode.OK;
    });
  }

  @Command(name = "get", description = "Shows tasks; exits with 4 if one of them does not exist.")
  int get(
      @Mixin StoreTarget.Reading target,
      @Parameters(paramLabel = "TASK", arity = "1..*", description = TASK) List<String> names,
      @Option(names = "--raw", description = "Writes only the data of the tasks, byte for byte.")
          boolean raw) {
    return target.run(store -> {
      List<TaskRef> refs = Tasks.refs(names);
      Read<List<Optional<Task>>> found = store.tasks(refs);
      List<Task> tasks = found.value().stream().flatMap(Optional::stream).toList();
      if (raw) {
        tasks.forEach(task -> out().writeBytes(task.data().toArray()));
      } else if (target.json()) {
        Responses.writeFound(out(), found.value(), found.timeMillis(), DataForm.TEXT);
        out().println();
      } else if (!tasks.isEmpty()) {
        Tasks.print(out(), tasks, found.timeMillis());
      }
      for (int i = 0; i < refs.size(); i++) {
        if (found.value().get(i).isEmpty()) {
          terminal().say(refs.get(i) + " does not exist");
        }
      }
      return tasks.size() == refs.size() ? ExitCode.OK : ExitCode.NOTHING;
    });
  }

  @Command(name = "documents", description = "Lists the documents of a collection by key.")
  int documents(
      @Mixin StoreTarget.Reading target,
      @Parameters(paramLabel = "COLLECTION", description = "The collection's name.")
          String collection,
      @Option(
              names = "--prefix",
              paramLabel = "TEXT",
              defaultValue = "",
              description = "Only keys with this prefix.")
          String prefix,
      @Option(
              names = {"-n", "--limit"},
              paramLabel = "N",
              description = "The most documents to list; 0 for all. Default: 0")
          int limit,
      @Option(names = "--descending", description = "The greatest key first.") boolean descending) {
    return target.run(store -> {
      Order order = descending ? Order.DESCENDING : Order.ASCENDING;
      List<Document> documents =
          store
              .documents(new DocumentQuery(collection, prefix, "", Math.max(0, limit), order))
              .value();
      if (target.json()) {
        Responses.writeDocuments(out(), documents, DataForm.TEXT);
        out().println();
      } else {
        Tasks.Documents.print(out(), documents);
      }
      return ExitCode.OK;
    });
  }

  @Command(name = "document", description = "Shows a document; exits with 4 if it does not exist.")
  int document(
      @Mixin StoreTarget.Reading target,
      @Parameters(
              index = "0",
              paramLabel = "COLLECTION",
              description = "The collection of the document.")
          String collection,
      @Parameters(index = "1", paramLabel = "KEY", description = "The key of the document.")
          String key,
      @Option(names = "--raw", description = "Writes only the body, byte for byte.") boolean raw) {
    return target.run(store -> {
      DocumentKey name = new DocumentKey(collection, key);
      Optional<Document> found = store.document(name).value();
      if (found.isEmpty()) {
        terminal().say(name + " does not exist");
        return ExitCode.NOTHING;
      }
      if (raw) {
        out().writeBytes(found.get().body().toArray());
      } else if (target.json()) {
        target.printJson(Responses.write(found.get(), DataForm.TEXT));
      } else {
        Tasks.Documents.print(out(), List.of(found.get()));
      }
      return ExitCode.OK;
    });
  }

  @Command(name = "add", description = "Adds a task and shows it.")
  int addTask(
      @Mixin StoreTarget.Open target,
      @Parameters(index = "0", paramLabel = "GROUP", description = "The group of the task.")
          String group,
      @Parameters(
              index = "1",
              arity = "0..1",
              paramLabel = "DATA",
              description = "The data of the task. Default: none")
          @Nullable String text,
      @Mixin TaskContent content,
      @Option(names = "--owned", description = "The client owns the task until it is available.")
          boolean owned) {
    return target.run(
        true,
        store -> {
          Bytes data = content.data(text, terminal());
          Transaction.Add add =
              new Transaction.Add(
                  group, data == null ? Bytes.EMPTY : data, content.when(), owned, null);
          return target.print(store.commit(Transaction.by(content.owner()).add(add).build()));
        });
  }

  @Command(
      name = "claim",
      description = "Claims waiting tasks and shows them; exits with 4 if there is none.")
  int claim(
      @Mixin StoreTarget.Open target,
      @Parameters(
              paramLabel = "GROUP",
              arity = "1..*",
              description = "The groups to claim from, tried in this order.")
          List<String> groups,
      @Option(
              names = "--lease",
              paramLabel = "TIME",
              defaultValue = "60s",
              converter = Durations.class,
              description = "How long the client owns the tasks. Default: ${DEFAULT-VALUE}")
          Duration lease,
      @Option(
              names = {"-n", "--count"},
              paramLabel = "N",
              defaultValue = "1",
              description = "The most tasks to claim. Default: ${DEFAULT-VALUE}")
          int count,
      @Option(
              names = "--order",
              defaultValue = "RANDOM",
              paramLabel = "ORDER",
              description = "Which tasks to claim first: random, oldest or newest. Default: random")
          Claim.Order order,
      @Option(
              names = "--while-fewer-than",
              paramLabel = "N",
              description =
                  "Claims from a group only while fewer than N of its tasks are claimed; 0 for no"
                      + " limit.")
          int limit,
      @Option(
              names = "--wait",
              paramLabel = "TIME",
              defaultValue = "0s",
              converter = Durations.class,
              description = "How long to wait if there is no task. Default: ${DEFAULT-VALUE}")
          Duration wait,
      @Mixin ClientOption client) {
    return target.run(store -> {
      Claim claim =
          Claim.of(client.owner(), groups.getFirst(), lease)
              .withGroups(groups)
              .withCount(count)
              .withOrder(order)
              .withLimit(limit)
              .withWait(wait);
      Outcome outcome = store.claim(claim);
      int code = target.print(outcome);
      return outcome instanceof Outcome.Done done && done.tasks().isEmpty()
          ? ExitCode.NOTHING
          : code;
    });
  }

  @Command(
      name = "update",
      description = {
        "Changes a task and shows it. Its data is kept unless new data is given. With --after, the"
            + " client owns the task until then; otherwise the task is available to all clients at"
            + " once, which also releases a claimed task."
      })
  int update(
      @Mixin StoreTarget.Open target,
      @Parameters(index = "0", paramLabel = "TASK", description = TASK) String task,
      @Parameters(
              index = "1",
              arity = "0..1",
              paramLabel = "DATA",
              description = "The new data of the task.")
          @Nullable String text,
      @Mixin TaskContent content,
      @Option(
              names = "--renew",
              paramLabel = "TIME",
              converter = Durations.class,
              description =
                  "Renews the client's claim for this long from now; changes nothing else.")
          @Nullable Duration renew,
      @Option(
              names = "--take",
              paramLabel = "TIME",
              converter = Durations.class,
              description =
                  "Claims the task, which must be waiting, for this long; changes nothing else.")
          @Nullable Duration take) {
    return target.run(store -> {
      TaskRef ref = Tasks.ref(task);
      Bytes data = content.data(text, terminal());
      Transaction.Builder transaction = Transaction.by(content.owner());
      if (renew == null && take == null) {
        transaction.update(ref, data, content.when());
      } else if (renew != null && take != null) {
        throw new UsageException(
            "--renew is for a claimed task, --take for a waiting one: give one");
      } else if (data != null || content.isLater()) {
        String option = renew == null ? "--take" : "--renew";
        throw new UsageException(option + " changes nothing else: leave out the data and --after");
      } else if (renew != null) {
        transaction.renew(ref, renew);
      } else if (take != null) {
        transaction.take(ref, take);
      }
      return target.print(store.commit(transaction.build()));
    });
  }

  @Command(
      name = "delete",
      description = "Deletes tasks, all or none. Exits with 3 if one of them cannot be deleted.")
  int delete(
      @Mixin StoreTarget.Open target,
      @Parameters(paramLabel = "TASK", arity = "1..*", description = TASK) List<String> names,
      @Option(
              names = "--override",
              description =
                  "Also deletes tasks that other clients own. If the server has roles, this needs"
                      + " the role operator.")
          boolean override,
      @Mixin ClientOption client) {
    return target.run(store -> {
      Transaction.Builder transaction = Transaction.by(client.owner()).override(override);
      Tasks.refs(names).forEach(transaction::delete);
      int code = target.print(store.commit(transaction.build()));
      if (code == ExitCode.OK && !target.json()) {
        out().println(names.size() == 1 ? "1 task deleted" : names.size() + " tasks deleted");
      }
      return code;
    });
  }

  /** Options for the data of a task, the time from which it is available, and its owner. */
  static final class TaskContent {
    @Option(
        names = "--from",
        paramLabel = "FILE",
        description = "Takes the data from this file; - is standard input.")
    private @Nullable Path file;

    @Option(
        names = "--after",
        paramLabel = "TIME",
        converter = Durations.class,
        description =
            "The time until the task is available, for example 500ms, 30s, 5m, 2h or 1d. Default:"
                + " now")
    private @Nullable Duration after;

    @Mixin private ClientOption client = new ClientOption();

    /**
     * The data; null if there is none.
     *
     * @param text the data given as an argument; null for none
     */
    @Nullable Bytes data(@Nullable String text, Terminal terminal) throws IOException {
      if (text != null && file != null) {
        throw new UsageException("give the data as an argument or with --from, not both");
      }
      if (file == null) {
        return text == null ? null : Bytes.of(text);
      }
      byte[] content =
          file.toString().equals("-") ? terminal.in().readAllBytes() : Files.readAllBytes(file);
      return Bytes.copyOf(content);
    }

    /** Whether {@code --after} is given. */
    boolean isLater() {
      return after != null;
    }

    /** The time from which the task is available. */
    When when() {
      return after == null ? When.now() : When.after(after);
    }

    /** The client that changes the task. */
    Owner owner() {
      return client.owner();
    }
  }

  /** The option for the client that changes the store. */
  static final class ClientOption {
    @Option(
        names = "--client",
        paramLabel = "N",
        defaultValue = "${env:MILLRACE_CLIENT:-1}",
        description =
            "The client id that owns claimed tasks; only this client can change them before the"
                + " lease ends. Default: the environment variable MILLRACE_CLIENT, or 1, so that"
                + " one command can finish what another has claimed")
    private long client;

    Owner owner() {
      return Owner.client(client);
    }
  }
}
