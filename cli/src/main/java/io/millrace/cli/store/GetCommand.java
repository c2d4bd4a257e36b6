package io.millrace.cli.store;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.store.Read;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.wire.Answers;
import io.millrace.wire.DataForm;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows tasks. */
@Command(name = "get", description = "Shows tasks; exits with 4 when one of them is not there.")
final class GetCommand extends TargetCommand {
  @Parameters(
      paramLabel = "TASK",
      arity = "1..*",
      description = "A task's id, as 14, or ~ and its origin, as ~10.")
  private List<String> names = List.of();

  @Option(names = "--raw", description = "Writes only the tasks' data, byte for byte.")
  private boolean raw;

  GetCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  int run(TaskStore store) {
    List<TaskRef> refs = Tasks.refs(names);
    Read<List<Optional<Task>>> found = store.tasks(refs);
    List<Task> tasks = found.value().stream().flatMap(Optional::stream).toList();
    if (raw) {
      tasks.forEach(task -> terminal().out().writeBytes(task.data().toArray()));
    } else if (json()) {
      Answers.writeFound(terminal().out(), found.value(), found.timeMillis(), DataForm.TEXT);
      terminal().out().println();
    } else if (!tasks.isEmpty()) {
      Tasks.print(terminal().out(), tasks, found.timeMillis());
    }
    for (int i = 0; i < refs.size(); i++) {
      if (found.value().get(i).isEmpty()) {
        terminal().err().println("millrace: " + refs.get(i) + " is not there");
      }
    }
    return tasks.size() == refs.size() ? ExitCode.OK : ExitCode.NOTHING;
  }
}
