package io.millrace.cli.store;

import io.millrace.cli.terminal.Terminal;
import io.millrace.store.Bytes;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.io.IOException;
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

  @Mixin private TaskContent content = new TaskContent();

  @Option(names = "--owned", description = "Until then the client owns it.")
  private boolean owned;

  AddCommand(Terminal terminal) {
    super(terminal);
  }

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
