package io.millrace.cli.store;

import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.store.Bytes;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.io.IOException;
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
      "Changes a task and shows it. It keeps its data unless other data is given. With a time the"
          + " client owns it until then; without one it is available to everybody at once: that is"
          + " how a claimed task is given back."
    })
final class UpdateCommand extends TargetCommand {
  @Parameters(
      index = "0",
      paramLabel = "TASK",
      description = "The task's id, as 14, or ~ and its origin, as ~10.")
  private String task = "";

  @Parameters(index = "1", arity = "0..1", paramLabel = "DATA", description = "Its new data.")
  private @Nullable String text;

  @Mixin private TaskContent content = new TaskContent();

  @Option(
      names = "--renew",
      paramLabel = "TIME",
      converter = Durations.class,
      description = "Prolongs the client's claim to so long from now, and changes nothing else.")
  private @Nullable Duration renew;

  @Option(
      names = "--take",
      paramLabel = "TIME",
      converter = Durations.class,
      description =
          "Claims the task, which must be waiting, for so long, and changes nothing else.")
  private @Nullable Duration take;

  UpdateCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  int run(TaskStore store) throws IOException {
    TaskRef ref = Tasks.ref(task);
    Bytes data = content.data(text, terminal());
    Transaction.Builder transaction = Transaction.by(content.owner());
    if (renew == null && take == null) {
      transaction.update(ref, data, content.when());
    } else if (renew != null && take != null) {
      throw new UsageException("--renew is for a claimed task, --take for a waiting one: give one");
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
