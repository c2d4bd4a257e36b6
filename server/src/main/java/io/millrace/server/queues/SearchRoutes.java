package io.millrace.server.queues;

import io.millrace.queues.QueueTask;
import io.millrace.queues.search.Filter;
import io.millrace.queues.search.SearchOptions;
import io.millrace.queues.search.TaskSearch;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.Reply;
import io.millrace.server.queues.Shapes.Detail;
import java.io.OutputStream;
import java.util.List;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Search for tasks. */
final class SearchRoutes {
  private static final String NOT_OBJECTS = "filter and options must be name/value objects";

  private final TaskSearch search;
  private final Shapes shapes;

  SearchRoutes(TaskSearch search, Shapes shapes) {
    this.search = search;
    this.shapes = shapes;
  }

  void mount(Mount mount) {
    mount.add(HttpMethod.POST, "/tasks/search", (_, input) -> answer(input));
  }

  private Reply answer(Input input) {
    ObjectNode options = input.object("options", NOT_OBJECTS);
    SearchOptions wanted = SearchOptions.read(options);
    Filter filter = Filter.onTasks(input.object("filter", NOT_OBJECTS));
    boolean pretty = input.truth("pretty", false);
    if (input.truth("count", false)) {
      return Form.ok(Form.object().put("count", search.count(filter)), pretty);
    }
    List<QueueTask> found = search.find(filter, wanted);
    if (input.truth("terse", true)) {
      ArrayNode shown = Form.array();
      found.forEach(task -> shown.add(shapes.of(task, Detail.TERSE, wanted.projection())));
      return Form.ok(shown, pretty);
    }
    // Outputs may be long: they are read one by one while the answer goes out.
    return Reply.streamed(Reply.JSON, target -> write(found, wanted, pretty, target));
  }

  private void write(
      List<QueueTask> found, SearchOptions wanted, boolean pretty, OutputStream target) {
    var writer = pretty ? Form.JSON.writerWithDefaultPrettyPrinter() : Form.JSON.writer();
    try (JsonGenerator json = writer.createGenerator(target)) {
      json.writeStartArray();
      for (QueueTask task : found) {
        JsonNode shown = shapes.of(task, Detail.FULL, wanted.projection());
        json.writePOJO(shown);
      }
      json.writeEndArray();
    }
  }
}
