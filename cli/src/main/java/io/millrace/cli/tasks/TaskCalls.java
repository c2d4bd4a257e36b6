package io.millrace.cli.tasks;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.client.JsonCalls;
import tools.jackson.databind.JsonNode;

/** The calls about single tasks that several commands make. */
final class TaskCalls {
  private TaskCalls() {}

  /** Where a task is. */
  static String path(String id) {
    return "/dci/tasks/id/" + JsonCalls.part(id);
  }

  /**
   * A task by id.
   *
   * @throws io.millrace.cli.terminal.CommandException when it is not there
   */
  static JsonNode find(JsonCalls calls, String id) {
    return RemoteCommand.named(() -> calls.get(path(id)));
  }
}
