package io.millrace.cli.queues;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.client.JsonCalls;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** The calls about queues that several commands make. */
public final class QueueCalls {
  /** Where queues are. */
  static final String PATH = "/dci/queues";

  private QueueCalls() {}

  /** All queues, with how many tasks they have. */
  public static List<JsonNode> all(JsonCalls calls) {
    List<JsonNode> queues = new ArrayList<>();
    calls.get(PATH).forEach(queues::add);
    return queues;
  }

  /**
   * A queue by id or name.
   *
   * @throws io.millrace.cli.terminal.CommandException when it is not there
   */
  public static JsonNode find(JsonCalls calls, String idOrName) {
    return RemoteCommand.named(() -> calls.get(path(idOrName)));
  }

  /** Where a queue is. */
  static String path(String idOrName) {
    return PATH + "/" + JsonCalls.part(idOrName);
  }
}
