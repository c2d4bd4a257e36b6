package io.millrace.cli.store;

import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands that change tasks of an open store. */
final class ChangeCommands {
  private ChangeCommands() {}

  /** Adds a task. */
  @Command(name = "add", description = "Adds a task and shows it.")
  static final class AddTask extends TargetCommand {
    @Parameters(index = "0", paramLabel = "GROUP", description = "The group of the task.")
    private String group = "";

    @Parameters(
        index = "1",
        arity = "0..1",
        paramLabel = "DATA",
        description = "The data of the task. Default: none")
    private @Nullable String text;

    @Mixin private TaskContent content = new TaskContent();

    @Option(names = "--owned", description = "The client owns the task until then.")
    private boolean owned;

    @Override
    boolean creates() {
      return true;
    }

    @Override
    int run(TaskStore store) throws IOException {
      Bytes data = content.data(text, terminal());
      return print(
          store.commit(
              Transaction.by(content.owner())
                  .add(
                      new Transaction.Add(
                          group, data == null ? Bytes.EMPTY : data, content.when(), owned, null))
                  .build()));
    }
  }

  /** Claims tasks. */
  @Command(
      name = "claim",
      description = "Claims waiting tasks and shows them; exits with 4 if there is none.")
  static final class ClaimTasks extends TargetCommand {
    @Parameters(
        paramLabel = "GROUP",
        arity = "1..*",
        description = "The groups to claim from, tried in this order.")
    private List<String> groups = List.of();

    @Option(
        names = "--lease",
        paramLabel = "TIME",
        defaultValue = "60s",
        converter = Durations.class,
        description = "How long the client owns the tasks. Default: ${DEFAULT-VALUE}")
    private Duration lease = Duration.ZERO;

    @Option(
        names = {"-n", "--count"},
        paramLabel = "N",
        defaultValue = "1",
        description = "The most tasks to claim. Default: ${DEFAULT-VALUE}")
    private int count;

    @Option(
        names = "--order",
        defaultValue = "RANDOM",
        paramLabel = "ORDER",
        description = "Which tasks to claim first: random, oldest or newest. Default: random")
    private Claim.Order order = Claim.Order.RANDOM;

    @Option(
        names = "--while-fewer-than",
        paramLabel = "N",
        description =
            "Claims from a group only while fewer than N of its tasks are claimed; 0 for no limit.")
    private int limit;

    @Option(
        names = "--wait",
        paramLabel = "TIME",
        defaultValue = "0s",
        converter = Durations.class,
        description = "How long to wait if there is no task. Default: ${DEFAULT-VALUE}")
    private Duration wait = Duration.ZERO;

    @Mixin private ClientOption client = new ClientOption();

    @Override
    int run(TaskStore store) {
      Claim claim =
          Claim.of(client.owner(), groups.getFirst(), lease)
              .withGroups(groups)
              .withCount(count)
              .withOrder(order)
              .withLimit(limit)
              .withWait(wait);
      Outcome outcome = store.claim(claim);
      int code = print(outcome);
      return outcome instanceof Outcome.Done done && done.tasks().isEmpty()
          ? ExitCode.NOTHING
          : code;
    }
  }

  /** Changes a task. */
  @Command(
      name = "update",
      description = {
        "Changes a task and shows it. Its data is kept unless new data is given. With --after, the"
            + " client owns the task until then; otherwise the task is available to all clients at"
            + " once, so this is also how to give back a claimed task."
      })
  static final class UpdateTask extends TargetCommand {
    @Parameters(
        index = "0",
        paramLabel = "TASK",
        description = "A task: its id, for example 14, or ~ and its origin, for example ~10.")
    private String task = "";

    @Parameters(
        index = "1",
        arity = "0..1",
        paramLabel = "DATA",
        description = "The new data of the task.")
    private @Nullable String text;

    @Mixin private TaskContent content = new TaskContent();

    @Option(
        names = "--renew",
        paramLabel = "TIME",
        converter = Durations.class,
        description = "Renews the client's claim for this long from now; changes nothing else.")
    private @Nullable Duration renew;

    @Option(
        names = "--take",
        paramLabel = "TIME",
        converter = Durations.class,
        description =
            "Claims the task, which must be waiting, for this long; changes nothing else.")
    private @Nullable Duration take;

    @Override
    int run(TaskStore store) throws IOException {
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
      return print(store.commit(transaction.build()));
    }
  }

  /** Deletes tasks. */
  @Command(name = "delete", description = "Deletes tasks: all of them, or none and exits with 3.")
  static final class DeleteTasks extends TargetCommand {
    @Parameters(
        paramLabel = "TASK",
        arity = "1..*",
        description = "A task: its id, for example 14, or ~ and its origin, for example ~10.")
    private List<String> names = List.of();

    @Option(
        names = "--override",
        description =
            "Deletes also tasks that other clients own. If the server has roles, this needs the"
                + " role of an operator.")
    private boolean override;

    @Mixin private ClientOption client = new ClientOption();

    @Override
    int run(TaskStore store) {
      Transaction.Builder transaction = Transaction.by(client.owner()).override(override);
      Tasks.refs(names).forEach(transaction::delete);
      int code = print(store.commit(transaction.build()));
      if (code == ExitCode.OK && !json()) {
        out().println(names.size() == 1 ? "1 task deleted" : names.size() + " tasks deleted");
      }
      return code;
    }
  }

  /** What is written to a task, and by whom: its data and the time from which it can be claimed. */
  private static final class TaskContent {
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
     * @param text given as an argument; null for none
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

    /** Whether it is to wait. */
    boolean isLater() {
      return after != null;
    }

    /** From when on it can be claimed. */
    When when() {
      return after == null ? When.now() : When.after(after);
    }

    /** Who writes it. */
    Owner owner() {
      return client.owner();
    }
  }

  /** Who changes the store. */
  private static final class ClientOption {
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
