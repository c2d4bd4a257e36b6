package io.millrace.cli.store;

import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.store.Bytes;
import io.millrace.store.TaskRef;
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

/** Changes a task. */
@Command(
    name = "update",
    description = {
      "Changes a task and shows it. It keeps its data unless other data is given. Without a time it"
          + " is available to everybody at once: that is how a claimed task is given back."
    })
final class UpdateCommand extends TargetCommand {
  @Parameters(
      index = "0",
      paramLabel = "TASK",
      description = "The task's id, as 14, or ~ and its origin, as ~10.")
  private String task = "";

  @Parameters(index = "1", arity = "0..1", paramLabel = "DATA", description = "Its new data.")
  private @Nullable String text;

  @Option(names = "--from", paramLabel = "FILE", description = Content.FROM)
  private @Nullable Path file;

  @Option(
      names = "--after",
      paramLabel = "TIME",
      converter = Durations.class,
      description = "The client owns it for so long from now; then it is available.")
  private @Nullable Duration after;

  @Option(
      names = "--renew",
      paramLabel = "TIME",
      converter = Durations.class,
      description = "Prolongs the client's claim to so long from now, and changes nothing else.")
  private @Nullable Duration renew;

  @Mixin private Client client = new Client();

  UpdateCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  int run(TaskStore store) throws IOException {
    TaskRef ref = Tasks.ref(task);
    Bytes data = Content.of(text, file, terminal());
    Transaction.Builder transaction = Transaction.by(client.owner());
    if (renew == null) {
      transaction.update(ref, data, after == null ? When.now() : When.after(after));
    } else if (data == null && after == null) {
      transaction.renew(ref, renew);
    } else {
      throw new UsageException("--renew changes nothing else: leave out the data and --after");
    }
    return print(store.commit(transaction.build()));
  }
}
