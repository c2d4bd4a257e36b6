package io.millrace.cli.store;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.store.GroupQuery;
import io.millrace.store.Read;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists a group's tasks. */
@Command(
    name = "list",
    description = "Lists the tasks of a group that wait, those that became available first at top.")
final class ListCommand extends TargetCommand {
  @Parameters(paramLabel = "GROUP", description = "The group's name.")
  private String group = "";

  @Option(
      names = {"-a", "--all"},
      description = "Lists delayed and owned tasks too.")
  private boolean all;

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      description = "The most tasks to list; 0, the default, lists all.")
  private int limit;

  ListCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  int run(TaskStore store) {
    Read<List<Task>> tasks = store.group(new GroupQuery(group, Math.max(0, limit), all));
    print(tasks.value(), tasks.timeMillis());
    return ExitCode.OK;
  }
}
