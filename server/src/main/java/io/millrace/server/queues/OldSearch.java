package io.millrace.server.queues;

import io.millrace.http.json.Json;
import io.millrace.http.message.Reply;
import io.millrace.queues.search.ArchiveSearch;
import io.millrace.queues.search.Filter;
import io.millrace.queues.search.SearchOptions;
import io.millrace.server.queues.Shapes.OutputForm;
import io.millrace.server.queues.Shapes.Times;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Search as version 3 has it: errors are 200, times whole seconds with their text beside them. */
final class OldSearch {
  private final ArchiveSearch search;
  private final Shapes shapes;

  OldSearch(ArchiveSearch search, Shapes shapes) {
    this.search = search;
    this.shapes = shapes;
  }

  void addTo(DciRoutes api) {
    api.errors(Refusal.PAIR_AS_SUCCESS).post("/search-tasks-json", (_, input) -> answer(input));
  }

  private Reply answer(Input input) {
    ObjectNode given = input.object("filter", "JSON object required for filter").deepCopy();
    if (input.has("queue")) {
      given.set("queue", input.get("queue"));
    }
    JsonNode id = given.remove("id");
    if (id != null) {
      given.set("_id", id);
    }
    if (given.path("status").isString() && given.path("status").asString().matches("-?\\d{1,9}")) {
      given.put("status", Integer.parseInt(given.path("status").asString()));
    }
    Filter filter = Filter.onTasks(given);
    ObjectNode options = Json.object();
    for (String name : new String[] {"limit", "skip"}) {
      Integer number = input.count(name, name + " must be a non-negative integer");
      options.put(name, number);
    }
    SearchOptions wanted = SearchOptions.read(options);
    if (input.truth("count", false)) {
      return Json.reply(Json.array().add(1).add(search.count(filter, false)));
    }
    OutputForm form = input.truth("terse", false) ? Shapes.terseBefore4() : shapes.content();
    return Shapes.tasks(
        search.find(filter, wanted, false),
        task -> Shapes.of(task, form, Times.WHOLE_SECONDS, wanted.projection()),
        false);
  }
}
