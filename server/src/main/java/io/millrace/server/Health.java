package io.millrace.server;

import io.millrace.server.http.Handler;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Journaling;
import io.millrace.store.Read;
import io.millrace.store.StoreException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/** Tells whether the server can work: 200, or 503 when its store has stopped. */
final class Health implements Handler {
  private static final JsonMapper JSON = new JsonMapper();

  private final EmbeddedTaskStore store;
  private final String journaling;

  Health(EmbeddedTaskStore store, Journaling journaling) {
    this.store = store;
    this.journaling = journaling.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public Reply handle(Request request) {
    try {
      Read<?> read = store.tasks(List.of());
      return Reply.json(
          JSON.writeValueAsBytes(
              Map.of(
                  "status", "ok",
                  "version", Version.text(),
                  "position", read.position().toString(),
                  "time", read.timeMillis(),
                  "timeahead", store.timeAheadMillis(),
                  "journaling", journaling)));
    } catch (StoreException e) {
      return Reply.json(
          503,
          JSON.writeValueAsBytes(
              Map.of(
                  "status",
                  "stopped",
                  "version",
                  Version.text(),
                  "journaling",
                  journaling,
                  "error",
                  String.valueOf(e.getMessage()))));
    }
  }
}
