package io.millrace.server.shards;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.wire.Placement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Who leads which shard, under {@code /shards}. */
public final class ShardRoutes {
  private static final JsonMapper JSON = new JsonMapper();

  /** Null if the store has no shards. */
  private final @Nullable ShardedStore store;

  private ShardRoutes(@Nullable ShardedStore store) {
    this.store = store;
  }

  /**
   * The routes.
   *
   * @param store all shards; null if the store has none
   */
  public static List<Route> of(@Nullable ShardedStore store) {
    ShardRoutes routes = new ShardRoutes(store);
    ApiRoutes api = ApiRoutes.below("/shards").errors(ErrorForm.PROBLEM_DETAILS);
    api.strictQuery(Set.of()).limitable().get("", routes::list);
    return api.strictQuery(Set.of("to"))
        .role(Role.ADMIN)
        .action("shard.release")
        .post("/{shard}/hand-over", routes::handOver)
        .routes();
  }

  private Response list(Request request) {
    return Response.json(JSON.writeValueAsBytes(store == null ? List.of() : store.overview()));
  }

  private Response handOver(Request request) {
    String to = request.query().text("to").orElse("any server");
    String text = request.parameter("shard");
    if (store == null) {
      throw HttpProblem.notFound("this store has no shards");
    }
    if (!text.matches("\\d{1,9}") || Integer.parseInt(text) >= store.placement().shards()) {
      throw HttpProblem.notFound(
          "shards are numbered from 0 to %d, so there is none %s"
              .formatted(store.placement().shards() - 1, text));
    }
    int number = Integer.parseInt(text);
    if (number == Placement.HOME) {
      throw HttpProblem.malformed(
          "shard 0 moves when its server stops, since queues, jobs and all else run with it");
    }
    EmbeddedTaskStore _ = store.led(number);
    if (!store.at(number).handOver(to)) {
      throw new HttpProblem(
          409, "shard %d is handed over already, or its lead is only beginning".formatted(number));
    }
    return Response.json(202, JSON.writeValueAsBytes(Map.of("shard", number, "to", to)));
  }
}
