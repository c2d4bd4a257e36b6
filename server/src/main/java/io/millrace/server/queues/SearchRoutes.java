package io.millrace.server.queues;

import io.millrace.queues.search.ArchiveSearch;
import io.millrace.queues.search.ArchiveSearch.Found;
import io.millrace.queues.search.Filter;
import io.millrace.queues.search.SearchOptions;
import io.millrace.server.config.EditDistance;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.Reply;
import io.millrace.server.queues.Shapes.Detail;
import java.io.OutputStream;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Search for tasks. */
final class SearchRoutes {
  private static final String NOT_OBJECTS = "filter and options must be name/value objects";

  private static final List<String> PARAMS =
      List.of("filter", "options", "count", "terse", "pretty", "archived");
  private static final Set<String> OPTIONS = Set.of("limit", "skip", "sort", "projection");
  private static final Set<String> FIELDS =
      Set.of(
          "_id",
          "id",
          "queue",
          "status",
          "node",
          "params",
          "ctime",
          "mtime",
          "stdout",
          "stderr",
          "mixedout",
          "reason",
          "orphaned");

  private final ArchiveSearch search;
  private final Shapes shapes;

  SearchRoutes(ArchiveSearch search, Shapes shapes) {
    this.search = search;
    this.shapes = shapes;
  }

  void mount(Mount mount) {
    mount.add(HttpMethod.POST, "/tasks/search", (_, input) -> answer(input));
  }

  /** What is unknown would otherwise widen the search to everything. */
  private static void checkNames(Input input) {
    for (String name : input.all().propertyNames()) {
      if (!PARAMS.contains(name)) {
        throw Refusal.of("unknown param " + name + "; " + advice(name), "param", name);
      }
    }
  }

  private static String advice(String name) {
    if (OPTIONS.contains(name)) {
      return "it belongs into options";
    }
    if (FIELDS.contains(name) || name.startsWith("params.") || name.startsWith("$")) {
      return "it belongs into filter";
    }
    return "did you mean " + EditDistance.nearest(name, PARAMS) + "?";
  }

  private Reply answer(Input input) {
    checkNames(input);
    ObjectNode options = input.object("options", NOT_OBJECTS);
    SearchOptions wanted = SearchOptions.read(options);
    Filter filter = Filter.onTasks(input.object("filter", NOT_OBJECTS));
    boolean pretty = input.truth("pretty", false);
    boolean archived = input.truth("archived", false);
    if (input.truth("count", false)) {
      return Form.ok(Form.object().put("count", search.count(filter, archived)), pretty);
    }
    List<Found> found = search.find(filter, wanted, archived);
    if (input.truth("terse", true)) {
      ArrayNode shown = Form.array();
      found.forEach(task -> shown.add(shapes.of(task, Detail.TERSE, wanted.projection())));
      return Form.ok(shown, pretty);
    }
    // Outputs may be long: they are read one by one while the answer goes out.
    return Reply.streamed(Reply.JSON, target -> write(found, wanted, pretty, target));
  }

  private void write(List<Found> found, SearchOptions wanted, boolean pretty, OutputStream target) {
    var writer = pretty ? Form.JSON.writerWithDefaultPrettyPrinter() : Form.JSON.writer();
    try (JsonGenerator json = writer.createGenerator(target)) {
      json.writeStartArray();
      for (Found task : found) {
        JsonNode shown = shapes.of(task, Detail.FULL, wanted.projection());
        json.writePOJO(shown);
      }
      json.writeEndArray();
    }
  }
}
