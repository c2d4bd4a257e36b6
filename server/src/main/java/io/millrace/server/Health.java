package io.millrace.server;

import io.millrace.http.Request;
import io.millrace.http.Route.Handler;
import io.millrace.http.message.Response;
import io.millrace.server.shards.ShardedStore;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreStatus.DiskState;
import io.millrace.store.TaskStore.Read;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reports whether a server that leads its store can work: 200, with warnings if something is about
 * to run short, or 503 if its store has stopped or waits for room on the disk.
 */
final class Health implements Handler {
  private static final JsonMapper JSON = new JsonMapper();

  private final EmbeddedTaskStore store;
  private final @Nullable ShardedStore shards;
  private final List<Part> parts;
  private final String journaling;

  Health(
      EmbeddedTaskStore store,
      @Nullable ShardedStore shards,
      List<Part> parts,
      Journaling journaling) {
    this.store = store;
    this.shards = shards;
    this.parts = parts;
    this.journaling = journaling.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public Response handle(Request request) {
    DiskState disk = store.disk();
    if (disk.stuck()) {
      // Reads wait as well, so the store is not asked.
      return problem("full", String.valueOf(disk.shortage()));
    }
    try {
      Read<?> read = store.tasks(List.of());
      Map<String, Object> response = response("ok");
      response.put("position", read.position().toString());
      response.put("time", read.timeMillis());
      response.put("timeahead", store.timeAheadMillis());
      List<String> warnings = new ArrayList<>();
      parts.forEach(part -> warnings.addAll(part.warnings()));
      if (shards != null) {
        warnings.addAll(shards.warnings());
      }
      response.put("warnings", warnings);
      return Response.json(JSON.writeValueAsBytes(response));
    } catch (StoreException e) {
      return problem("stopped", String.valueOf(e.getMessage()));
    }
  }

  private Response problem(String status, String error) {
    Map<String, Object> response = response(status);
    response.put("error", error);
    return Response.json(503, JSON.writeValueAsBytes(response));
  }

  private Map<String, Object> response(String status) {
    Map<String, Object> response = new LinkedHashMap<>();
    response.put("status", status);
    response.put("version", Version.text());
    response.put("journaling", journaling);
    response.put("role", "leader");
    if (shards != null) {
      response.put("shards", shards.overview());
    }
    return response;
  }
}
