package io.millrace.cli.store;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Deletes tasks. */
@Command(name = "delete", description = "Deletes tasks: all of them, or none and exits with 3.")
final class DeleteCommand extends TargetCommand {
  @Parameters(
      paramLabel = "TASK",
      arity = "1..*",
      description = "A task's id, as 14, or ~ and its origin, as ~10.")
  private List<String> names = List.of();

  @Option(
      names = "--override",
      description = "Deletes what others own too; servers with roles want an operator for it.")
  private boolean override;

  @Mixin private Client client = new Client();

  DeleteCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  int run(TaskStore store) {
    Transaction.Builder transaction = Transaction.by(client.owner()).override(override);
    Tasks.refs(names).forEach(transaction::delete);
    int code = print(store.commit(transaction.build()));
    if (code == ExitCode.OK && !json()) {
      terminal()
          .out()
          .println(names.size() == 1 ? "1 task deleted" : names.size() + " tasks deleted");
    }
    return code;
  }
}
