package io.millrace.cli.store;

import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.Terminal;
import io.millrace.store.Bytes;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.When;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Adds a task. */
@Command(name = "add", description = "Adds a task and shows it.")
final class AddCommand extends TargetCommand {
  @Parameters(index = "0", paramLabel = "GROUP", description = "The group to add it to.")
  private String group = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "DATA",
      description = "The task's data; none by default.")
  private @Nullable String text;

  @Option(names = "--from", paramLabel = "FILE", description = Content.FROM)
  private @Nullable Path file;

  @Option(
      names = "--after",
      paramLabel = "TIME",
      converter = Durations.class,
      description = "How long until it can be claimed, as 500ms, 30s, 5m, 2h or 1d. Default: now")
  private @Nullable Duration after;

  @Option(names = "--owned", description = "Until then the client owns it.")
  private boolean owned;

  @Mixin private Client client = new Client();

  AddCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  boolean creates() {
    return true;
  }

  @Override
  int run(TaskStore store) throws IOException {
    Bytes data = Content.of(text, file, terminal());
    return print(
        store.commit(
            Transaction.by(client.owner())
                .add(
                    new Transaction.Add(
                        group,
                        data == null ? Bytes.EMPTY : data,
                        after == null ? When.now() : When.after(after),
                        owned,
                        null))
                .build()));
  }
}
