package io.millrace.cli.store;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.store.GroupSummary;
import io.millrace.store.TaskStore;
import io.millrace.wire.Answers;
import java.util.List;
import picocli.CommandLine.Command;

/** Lists the groups. */
@Command(name = "groups", description = "Lists the groups and how many tasks each has.")
final class GroupsCommand extends TargetCommand {
  GroupsCommand(Terminal terminal) {
    super(terminal);
  }

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
    table.print(terminal().out());
    return ExitCode.OK;
  }
}
