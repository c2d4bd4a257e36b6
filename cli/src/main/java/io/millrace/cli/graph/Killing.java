package io.millrace.cli.graph;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.client.JsonCalls;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Asks a server to end nodes. */
final class Killing {
  /** How many are named in one request: their ids stand in its path. */
  private static final int WINDOW = 200;

  private final JsonCalls calls;
  private final String how;

  /**
   * With a signal and a time, or with the server's own.
   *
   * @param signal null for the usual
   * @param grace null for the usual
   */
  Killing(JsonCalls calls, @Nullable String signal, @Nullable Duration grace) {
    this.calls = calls;
    how =
        (signal == null ? "" : "&signal=" + JsonCalls.part(signal))
            + (grace == null
                ? ""
                : "&grace=" + DataOptions.seconds(grace).decimalValue().toPlainString());
  }

  /**
   * Begins to end them.
   *
   * @param told gets each id with the state that the node is in then
   */
  void kill(List<String> ids, BiConsumer<String, String> told) {
    for (int from = 0; from < ids.size(); from += WINDOW) {
      List<String> some = ids.subList(from, Math.min(from + WINDOW, ids.size()));
      String path = "/v1/scheduler/kill?id=" + String.join(",", some) + how;
      JsonNode states =
          RemoteCommand.thereOrRefused(
              () -> calls.put(path, JsonNodeFactory.instance.objectNode()));
      some.forEach(id -> told.accept(id, states.path(id).asString("ending")));
    }
  }
}
